#include "harness/evidence/evidence.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "harness/errors.hpp"
#include "harness/evidence/cubins.hpp"
#include "harness/evidence/ptx.hpp"
#include "harness/machine_code.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

// Machine instructions that tell how data moves, what waits, and what computes (CUDA Binary
// Utilities, "Instruction Set Reference"). For the cluster by compiling probes for sm_90: mapa
// becomes plain arithmetic, ld/st.shared::cluster generic LD/ST, st.async STAS, remote atomics
// ATOM.
constexpr std::string_view sass_groups =
    // global, shared, local, generic memory
    " LDG STG LDS STS LDL STL LD ST LDSM STSM"
    // asynchronous copies: cp.async, its groups; bulk and tensor copies, stores, reductions,
    // prefetches
    " LDGSTS LDGDEPBAR DEPBAR ARRIVES UBLKCP UBLKRED UBLKPF UTMALDG UTMASTG UTMAREDG UTMAPF"
    " UTMACMDFLUSH STAS REDAS"
    // barriers: block, mbarrier, cluster; fences
    " BAR SYNCS UCGABAR_ARV UCGABAR_WAIT MEMBAR FENCE CCTL"
    // programmatic dependent launch: dependents may start, wait for what this one depends on
    " PREEXIT ACQBULK"
    // atomics and warp exchange
    " ATOM ATOMG ATOMS RED REDG SHFL REDUX MATCH"
    // arithmetic
    " FFMA FADD FMUL FMNMX DFMA DADD DMUL IADD3 VIADD IMAD IMNMX VIMNMX VIMNMX3 VIADDMNMX"
    " VIMNMX16 MUFU POPC FLO HMMA IMMA DMMA HGMMA IGMMA QGMMA BGMMA BMMA QMMA MOVM"
    // conversions, and calls of what the compiler emulates
    " F2FP CALL ";

// Qualifiers counted beside their group: a copy by 4 bytes where 16 were meant must be visible.
constexpr std::string_view sass_qualifiers = " 64 128 MULTICAST ";
constexpr std::string_view qualified_groups = " LDG STG LDS STS LDGSTS UBLKCP UTMALDG ";

/// The text up to the separator, which both are taken off `text`.
std::string_view next_field(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view field = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return field;
}

bool contains(std::string_view words, std::string_view word) {
  return words.find(" " + std::string(word) + " ") != std::string_view::npos;
}

void count_sass(std::string_view opcode, std::map<std::string, int>& instructions) {
  std::string_view rest = opcode;
  const std::string_view group = next_field(rest, '.');
  if (group == "NOP") return;  // padding behind the code
  ++instructions["total"];
  if (!contains(sass_groups, group)) return;
  ++instructions[std::string(group)];
  if (!contains(qualified_groups, group)) return;
  while (!rest.empty()) {
    const std::string_view qualifier = next_field(rest, '.');
    if (contains(sass_qualifiers, qualifier)) {
      ++instructions[std::string(group) + "." + std::string(qualifier)];
    }
  }
}

std::optional<std::size_t> hexadecimal(std::string_view digits) {
  std::size_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

/// A backward branch: the first address, its target, and the last, itself.
using Loop = std::pair<std::size_t, std::size_t>;

bool is_in(const Loop& loop, std::size_t address) {
  return loop.first <= address && address <= loop.second;
}

bool is_in_any(const std::vector<Loop>& loops, std::size_t address) {
  return std::ranges::any_of(loops, [&](const Loop& loop) { return is_in(loop, address); });
}

/// Takes the listing line by line: "Function : <name>", then instructions
/// "/*0120*/  @!P0 LDG.E.128 R4, ... ;  /* encoding */" and lines that hold an encoding only. A
/// kernel that several object files define is listed once for each, and counted once.
class SassReader {
 public:
  explicit SassReader(KernelCodes& kernels) : kernels_(kernels) {}

  void line(std::string_view text) {
    constexpr std::string_view heading = "Function : ";
    if (const std::size_t at = text.find(heading); at != std::string_view::npos) {
      std::string_view name = text.substr(at + heading.size());
      while (!name.empty() && (name.back() == '\r' || name.back() == ' ')) name.remove_suffix(1);
      finish();
      current_ = &kernels_[std::string(name)];
      *current_ = {"sass", {}, {}, {}};  // several objects may define it
      return;
    }
    if (current_ == nullptr) return;
    skip_blanks(text);
    if (text.substr(0, 2) != "/*") return;
    const std::size_t close = text.find("*/");
    if (close == std::string_view::npos) return;
    const std::optional<std::size_t> address = hexadecimal(text.substr(2, close - 2));
    text.remove_prefix(close + 2);
    skip_blanks(text);
    if (!text.empty() && text.front() == '{') {  // dual issue, older machines
      text.remove_prefix(1);
      skip_blanks(text);
    }
    bool never = false;
    if (!text.empty() && text.front() == '@') {
      // ptxas puts loads that never execute ("@!PT LDS RZ, [RZ]") before some copies.
      never = next_field(text, ' ') == "@!PT";
      skip_blanks(text);
    }
    std::size_t length = 0;
    while (length < text.size() && text[length] != ' ' && text[length] != ';') ++length;
    const std::string_view opcode = text.substr(0, length);
    // An encoding alone ("/* 0x... */") leaves nothing here.
    if (opcode.empty() || opcode.front() < 'A' || opcode.front() > 'Z' || never) return;
    count_sass(opcode, current_->instructions);
    if (!address) return;
    listing_.emplace_back(*address, std::string(opcode));
    if (text.find("SR_GLOBALTIMER") != std::string_view::npos) timer_reads_.push_back(*address);
    if (opcode.substr(0, 3) != "BRA") return;
    const std::size_t target = text.find("0x", length);
    if (target == std::string_view::npos || target > text.find(';')) return;
    const auto to =
        hexadecimal(text.substr(target + 2, text.find_first_of(" ;,)", target) - target - 2));
    if (to && *to < *address) loops_.emplace_back(*to, *address);
  }

  /// Counts what lies in loops. After the last line, and before the next kernel.
  void finish() {
    for (const auto& [address, opcode] : listing_) {
      if (is_in_any(loops_, address)) {
        count_sass(opcode, current_->in_loops);
        if (opcode == "NOP") ++current_->in_loops["NOP"];  // no padding here: what bar.warp is
      }
    }
    if (current_ != nullptr) count_timed();
    listing_.clear();
    loops_.clear();
    timer_reads_.clear();
  }

 private:
  void count_timed() {
    Loop timed{0, 0};
    for (const Loop& loop : loops_) {
      const bool timer = std::ranges::any_of(
          timer_reads_, [&](std::size_t address) { return is_in(loop, address); });
      if (!timer && loop.second - loop.first > timed.second - timed.first) timed = loop;
    }
    for (const auto& [address, opcode] : listing_) {
      if (timed.second > 0 && is_in(timed, address)) ++current_->timed[opcode];
    }
  }

  KernelCodes& kernels_;
  KernelCode* current_ = nullptr;
  std::vector<std::pair<std::size_t, std::string>> listing_{};  // address, opcode
  std::vector<Loop> loops_{};
  std::vector<std::size_t> timer_reads_{};  // addresses
};

/// Whether `work` succeeds for each of `count` parts, as many at a time as there are cores.
bool in_parallel(std::size_t count, const std::function<bool(std::size_t part)>& work) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next = 0;
  std::vector<std::future<bool>> workers;
  for (std::size_t i = std::min(count, cores); i > 0; --i) {
    workers.push_back(std::async(std::launch::async, [&] {
      bool all = true;
      for (std::size_t part = next++; part < count; part = next++) all = work(part) && all;
      return all;
    }));
  }
  bool all = true;
  for (auto& worker : workers) all = worker.get() && all;
  return all;
}

/// The SASS that a command lists; false when it fails or lists nothing.
bool list_kernels(const std::vector<std::string>& command, KernelCodes& found) {
  const auto close = [](FILE* pipe) { return pclose(pipe); };
  std::unique_ptr<FILE, int (*)(FILE*)> output(
      popen(("exec " + in_shell(command) + " 2>/dev/null").c_str(), "re"), close);
  if (!output) return false;
  SassReader reader(found);
  char* line = nullptr;
  std::size_t capacity = 0;
  for (ssize_t n = 0; (n = getline(&line, &capacity, output.get())) >= 0;) {
    std::string_view text(line, static_cast<std::size_t>(n));
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    reader.line(text);
  }
  std::free(line);
  reader.finish();
  // One that was killed may have listed half a kernel.
  return pclose(output.release()) == 0 && !found.empty();
}

/// Adds all kernels of some modules, as many at a time as there are cores; false when one cannot be
/// listed.
bool list_modules(const std::string& cuobjdump, const Cubins& cubins,
                  const std::vector<std::size_t>& modules, KernelCodes& found) {
  const ScratchFolder folder;
  if (folder.path().empty()) return false;
  // The largest first, so that no core is left with one of them at the end.
  std::vector<std::size_t> order = modules;
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return cubins.bytes(i).size(); });
  std::vector<KernelCodes> listed(order.size());
  const bool all = in_parallel(order.size(), [&](std::size_t i) {
    const fs::path path = folder.path() / (std::to_string(order[i]) + ".cubin");
    std::ofstream(path, std::ios::binary) << cubins.bytes(order[i]);
    return list_kernels({cuobjdump, "-sass", path.string()}, listed[i]);
  });
  for (auto& kernels : listed) found.merge(kernels);
  return all;
}

/// Adds the kernels of a module, replacing those of the same name.
void count_module(const ptx::Module& module, KernelCodes& kernels) {
  for (const ptx::Function& function : module.functions) {
    if (!function.entry) continue;
    KernelCode& kernel = kernels[function.name];
    kernel.source = "ptx";
    kernel.instructions.clear();
    kernel.in_loops.clear();
    std::map<std::string, std::size_t> labels;
    std::vector<Loop> loops;  // by places of statements
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const ptx::Statement& statement = function.body[i];
      if (statement.is_label()) labels[statement.label] = i;
      if (statement.opcode.substr(0, 3) == "bra" && !statement.operands.empty()) {
        const auto label = labels.find(statement.operands.front());
        if (label != labels.end()) loops.emplace_back(label->second, i);
      }
    }
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const ptx::Statement& statement = function.body[i];
      if (statement.is_label()) continue;
      const bool in_loop = is_in_any(loops, i);
      for (const std::string& name : {ptx::operation_of(statement.opcode), std::string("total")}) {
        ++kernel.instructions[name];
        if (in_loop) ++kernel.in_loops[name];
      }
    }
  }
}

}  // namespace

std::string find_cuobjdump() { return find_tool("cuobjdump", "CUOBJDUMP"); }

CodeEvidence CodeEvidence::from_sass(std::string_view text) {
  CodeEvidence evidence;
  SassReader reader(evidence.kernels_);
  while (!text.empty()) reader.line(next_field(text, '\n'));
  reader.finish();
  return evidence;
}

CodeEvidence CodeEvidence::from_ptx(std::string_view text) {
  CodeEvidence evidence;
  count_module(ptx::parse(text), evidence.kernels_);
  return evidence;
}

CodeEvidence CodeEvidence::of_file(const std::string& file) {
  CodeEvidence evidence;
  const std::string bytes = bytes_of_file(file);
  try {
    const CodeFile code = read_code_file(bytes);
    // What the driver makes of PTX is not in the file.
    return code.kind == CodeFile::Kind::ptx ? from_ptx(bytes)
                                            : CodeEvidence(file, code.architecture);
  } catch (const UsageError& error) {
    evidence.reason_ = file + " " + error.what();
    return evidence;
  }
}

void CodeEvidence::read(const std::vector<std::string>& mangled_names) {
  if (mangled_names.empty()) return;
  std::set<std::size_t> modules;
  for (const std::string& name : mangled_names) {
    for (const std::size_t module : cubins().of(name)) modules.insert(module);
  }
  if (cubins().empty() || !list(modules)) read_all();
}

void CodeEvidence::read_ahead(const std::vector<std::string>& namespaces) {
  std::vector<std::string> mangled;
  for (const std::string& name : namespaces) {
    mangled.push_back("6amasia" + std::to_string(name.size()) + name);
  }
  const std::vector<std::size_t> modules = cubins().with_any_of(mangled);
  list({modules.begin(), modules.end()});
}

void CodeEvidence::read_all() {
  if (read_whole_ || executable_.empty()) return;
  read_whole_ = true;
  const std::string cuobjdump = find_cuobjdump();
  if (cuobjdump.empty()) {
    reason_ = "cuobjdump was not found (set CUOBJDUMP, or install the CUDA binary utilities)";
  } else {
    // Code for sm_90a is listed under that name only.
    for (const char* suffix : {"", "a"}) {
      KernelCodes found;
      const std::string architecture = "sm_" + std::to_string(binary_version_) + suffix;
      const std::vector<std::string> listing{cuobjdump, "-sass", "-arch", architecture,
                                             executable_};
      if (list_kernels(listing, found)) return kernels_.merge(found);
    }
    // It fails alike for an architecture that is not there and for want of its helper.
    reason_ = cuobjdump + " lists no machine code for sm_" + std::to_string(binary_version_) +
              " (it needs nvdisasm beside it or on PATH)";
  }
}

const Cubins& CodeEvidence::cubins() {
  if (!cubins_) cubins_.emplace(executable_, binary_version_);
  return *cubins_;
}

bool CodeEvidence::list(const std::set<std::size_t>& modules) {
  std::vector<std::size_t> fresh;
  std::ranges::set_difference(modules, listed_, std::back_inserter(fresh));
  if (fresh.empty()) return true;
  const std::string cuobjdump = find_cuobjdump();
  KernelCodes found;
  if (cuobjdump.empty() || !list_modules(cuobjdump, cubins(), fresh, found)) return false;
  kernels_.merge(found);
  listed_.insert(fresh.begin(), fresh.end());
  return true;
}

KernelCode CodeEvidence::of(const std::string& mangled_name) const {
  const auto found = kernels_.find(mangled_name);
  if (found != kernels_.end()) return found->second;
  return {
      "none: " + (reason_.empty() ? "the machine code has no such kernel" : reason_), {}, {}, {}};
}

int instructions_in_loops(const std::string& mangled_name, const Device& device) {
  CodeEvidence code(executable_path(), device.compute_capability);
  code.read({mangled_name});
  const KernelCode kernel = code.of(mangled_name);
  const auto total = kernel.in_loops.find("total");
  if (total == kernel.in_loops.end()) throw std::runtime_error("no machine code: " + kernel.source);
  return total->second;
}

}  // namespace amasia
