#include "harness/evidence/evidence.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "harness/evidence/ptx.hpp"

extern char** environ;

namespace amasia {
namespace {

namespace fs = std::filesystem;

// Machine instructions that tell how data moves, who waits, and what computes (CUDA Binary
// Utilities, "Instruction Set Reference"; for the cluster, by compiling probes for sm_90: mapa
// becomes plain arithmetic, ld/st.shared::cluster become generic LD/ST, st.async becomes STAS,
// remote atomics become ATOM).
constexpr std::array sass_groups = std::to_array<std::string_view>({
    // global, shared, local, generic memory
    "LDG",
    "STG",
    "LDS",
    "STS",
    "LDL",
    "STL",
    "LD",
    "ST",
    "LDSM",
    "STSM",
    // asynchronous copies: cp.async, its groups; bulk and tensor copies, stores, reductions,
    // prefetches
    "LDGSTS",
    "LDGDEPBAR",
    "DEPBAR",
    "ARRIVES",
    "UBLKCP",
    "UBLKRED",
    "UBLKPF",
    "UTMALDG",
    "UTMASTG",
    "UTMAREDG",
    "UTMAPF",
    "UTMACMDFLUSH",
    "STAS",
    "REDAS",
    // barriers: block, mbarrier, cluster; fences
    "BAR",
    "SYNCS",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "MEMBAR",
    "FENCE",
    "CCTL",
    // programmatic dependent launch: dependents may start, wait for what this one depends on
    "PREEXIT",
    "ACQBULK",
    // atomics and warp exchange
    "ATOM",
    "ATOMG",
    "ATOMS",
    "RED",
    "REDG",
    "SHFL",
    "REDUX",
    "MATCH",
    // arithmetic
    "FFMA",
    "FADD",
    "FMUL",
    "FMNMX",
    "DFMA",
    "DADD",
    "DMUL",
    "IADD3",
    "VIADD",
    "IMAD",
    "IMNMX",
    "VIMNMX",
    "VIMNMX3",
    "VIADDMNMX",
    "VIMNMX16",
    "MUFU",
    "POPC",
    "FLO",
    "HMMA",
    "IMMA",
    "DMMA",
    "HGMMA",
    "IGMMA",
    "QGMMA",
    "BGMMA",
    "BMMA",
    "QMMA",
    "MOVM",
    // conversions, and calls of what the compiler emulates
    "F2FP",
    "CALL",
});

// Qualifiers counted beside their group: a copy by 4 bytes where 16 were meant must be visible.
constexpr std::array sass_qualifiers = std::to_array<std::string_view>({"64", "128", "MULTICAST"});
constexpr std::array qualified_groups =
    std::to_array<std::string_view>({"LDG", "STG", "LDS", "STS", "LDGSTS", "UBLKCP", "UTMALDG"});

template <class Table>
bool contains(const Table& table, std::string_view word) {
  return std::find(table.begin(), table.end(), word) != table.end();
}

std::string_view next_field(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view field = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return field;
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

/// Takes the listing of `cuobjdump -sass` line by line: "Function : <name>", then instructions
/// "/*0120*/  @!P0 LDG.E.128 R4, ... ;  /* encoding */" and lines that hold an encoding only.
class SassReader {
 public:
  explicit SassReader(std::map<std::string, CodeEvidence::Kernel>& kernels) : kernels_(kernels) {}

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
    const std::optional<unsigned long> address = hexadecimal(text.substr(2, close - 2));
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
    listing_.push_back({*address, std::string(opcode)});
    if (text.find("SR_GLOBALTIMER") != std::string_view::npos) timer_reads_.push_back(*address);
    if (opcode.substr(0, 3) != "BRA") return;
    const std::size_t target = text.find("0x", length);
    if (target == std::string_view::npos || target > text.find(';')) return;
    const auto to =
        hexadecimal(text.substr(target + 2, text.find_first_of(" ;,)", target) - target - 2));
    if (to && *to < *address) loops_.push_back({*to, *address});
  }

  /// Counts what lies in loops. After the last line, and before the next kernel.
  void finish() {
    for (const auto& [address, opcode] : listing_) {
      const unsigned long at = address;
      if (std::any_of(loops_.begin(), loops_.end(),
                      [at](const auto& l) { return l.first <= at && at <= l.second; })) {
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
    std::pair<unsigned long, unsigned long> timed{0, 0};
    for (const auto& loop : loops_) {
      const bool timer =
          std::any_of(timer_reads_.begin(), timer_reads_.end(),
                      [&loop](unsigned long at) { return loop.first <= at && at <= loop.second; });
      if (!timer && loop.second - loop.first > timed.second - timed.first) timed = loop;
    }
    for (const auto& [address, opcode] : listing_) {
      const bool inside = timed.first <= address && address <= timed.second;
      if (timed.second > 0 && inside) ++current_->timed[opcode];
    }
  }
  static std::optional<unsigned long> hexadecimal(std::string_view digits) {
    unsigned long value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  }
  static void skip_blanks(std::string_view& text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  }
  std::map<std::string, CodeEvidence::Kernel>& kernels_;
  CodeEvidence::Kernel* current_ = nullptr;
  std::vector<std::pair<unsigned long, std::string>> listing_{};  // address, opcode
  std::vector<std::pair<unsigned long, unsigned long>> loops_{};  // first and last address
  std::vector<unsigned long> timer_reads_{};                      // addresses
};

bool executable_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string on_path(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? std::string_view{} : path;
  while (!rest.empty()) {
    const fs::path folder(next_field(rest, ':'));
    if (!folder.empty() && executable_file(folder / program)) return folder / program;
  }
  return "";
}

/// Runs a program without a shell and hands its output over line by line. False when it cannot be
/// started or fails.
template <class OnLine>
bool run_program(const std::vector<std::string>& arguments, OnLine on_line) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return false;
  }
  std::unique_ptr<FILE, int (*)(FILE*)> output(fdopen(ends[0], "r"), fclose);
  char* line = nullptr;
  std::size_t capacity = 0;
  for (ssize_t n = 0; (n = getline(&line, &capacity, output.get())) >= 0;) {
    std::string_view text(line, static_cast<std::size_t>(n));
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    on_line(text);
  }
  std::free(line);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void count_module(const ptx::Module& module, std::map<std::string, CodeEvidence::Kernel>& kernels) {
  for (const ptx::Function& function : module.functions) {
    if (!function.entry) continue;
    CodeEvidence::Kernel& kernel = kernels[function.name];
    kernel.source = "ptx";
    kernel.instructions.clear();
    kernel.in_loops.clear();
    std::map<std::string, std::size_t> labels;
    std::vector<std::pair<std::size_t, std::size_t>> loops;  // a label and a branch back to it
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
      const bool in_loop = std::any_of(
          loops.begin(), loops.end(), [i](const auto& l) { return l.first <= i && i <= l.second; });
      for (const std::string& name : {ptx::operation_of(statement.opcode), std::string("total")}) {
        ++kernel.instructions[name];
        if (in_loop) ++kernel.in_loops[name];
      }
    }
  }
}

/// The PTX that nvcc --keep left under `folder`, of the newest architecture up to `binary_version`:
/// machine code for sm_86 may come from PTX for compute_80.
std::map<std::string, CodeEvidence::Kernel> kept_ptx(const fs::path& folder, int binary_version) {
  struct Kept {
    int target;
    fs::file_time_type written;
    ptx::Module module;
  };
  std::vector<Kept> modules;
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension() != ".ptx") continue;
    const auto text = read_text(file->path());
    if (!text) continue;
    Kept kept{0, file->last_write_time(error), ptx::parse(*text)};
    kept.target = kept.module.target;
    if (kept.target <= binary_version) modules.push_back(std::move(kept));
  }
  // Later ones overwrite: the closest architecture, of equals the file written last.
  std::sort(modules.begin(), modules.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.target, a.written) < std::pair(b.target, b.written);
  });
  std::map<std::string, CodeEvidence::Kernel> kernels;
  for (const Kept& kept : modules) count_module(kept.module, kernels);
  return kernels;
}

}  // namespace

std::string find_cuobjdump() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  std::vector<fs::path> candidates{variable("CUOBJDUMP"), on_path("cuobjdump")};
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"}) {
    if (!variable(home).empty()) candidates.push_back(variable(home) / "bin" / "cuobjdump");
  }
  if (const std::string nvcc = on_path("nvcc"); !nvcc.empty()) {
    std::error_code ignored;
    candidates.push_back(fs::canonical(nvcc, ignored).parent_path() / "cuobjdump");
  }
  candidates.emplace_back("/usr/local/cuda/bin/cuobjdump");
  const auto found = std::find_if(candidates.begin(), candidates.end(), executable_file);
  return found == candidates.end() ? "" : found->string();
}

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

void CodeEvidence::read(const std::vector<std::string>& mangled_names) {
  std::vector<std::string> fresh;
  for (const std::string& name : mangled_names) {
    if (asked_.insert(name).second) fresh.push_back(name);
  }
  // Where one kernel had no SASS the others have none either: the kept PTX is read once, whole.
  if (!fresh.empty() && reason_.empty()) disassemble(fresh);
}

void CodeEvidence::read_all() {
  if (reason_.empty()) disassemble({});
}

namespace {

/// The SASS of some kernels (none: all) that `command` lists; false when it fails or lists nothing.
bool list_kernels(std::vector<std::string> command, const std::string& executable,
                  const std::vector<std::string>& kernels,
                  std::map<std::string, CodeEvidence::Kernel>& found) {
  if (!kernels.empty()) {
    std::string names;
    for (const std::string& kernel : kernels) names += (names.empty() ? "" : ",") + kernel;
    command.insert(command.end(), {"-fun", names});
  }
  command.push_back(executable);
  SassReader reader(found);
  const bool ran = run_program(command, [&reader](std::string_view line) { reader.line(line); });
  reader.finish();
  return ran && !found.empty();  // one that was killed may have listed half a kernel
}

/// A disassembler takes a third of a second for each kernel, whatever its length, because it looks
/// for each name in every module of the executable; so as many run at a time as there are cores.
bool list_kernels_in_parallel(const std::vector<std::string>& command,
                              const std::string& executable,
                              const std::vector<std::string>& kernels,
                              std::map<std::string, CodeEvidence::Kernel>& found) {
  const std::size_t count =
      std::min<std::size_t>(kernels.size(), std::max(1U, std::thread::hardware_concurrency()));
  if (count <= 1) return list_kernels(command, executable, kernels, found);
  std::vector<std::future<std::pair<bool, std::map<std::string, CodeEvidence::Kernel>>>> parts;
  for (std::size_t part = 0; part < count; ++part) {
    std::vector<std::string> share;
    for (std::size_t i = part; i < kernels.size(); i += count) share.push_back(kernels[i]);
    parts.push_back(std::async(std::launch::async, [&command, &executable, share] {
      std::map<std::string, CodeEvidence::Kernel> listed;
      const bool ran = list_kernels(command, executable, share, listed);
      return std::pair(ran, std::move(listed));
    }));
  }
  bool all = true;
  for (auto& part : parts) {
    auto [ran, listed] = part.get();
    all = all && ran;
    found.merge(listed);
  }
  return all;
}

/// A folder for a while.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "amasia-XXXXXX").string();
    if (!error && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }  // empty when there is none

 private:
  fs::path path_;
};

/// All kernels of some modules; false when one cannot be listed.
bool list_modules(const std::string& cuobjdump, const Cubins& cubins,
                  const std::vector<std::size_t>& modules,
                  std::map<std::string, CodeEvidence::Kernel>& found) {
  const TemporaryFolder folder;
  if (folder.path().empty()) return false;
  std::vector<std::map<std::string, CodeEvidence::Kernel>> listed(modules.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    bool all = true;
    for (std::size_t i = next++; i < modules.size(); i = next++) {
      const fs::path path = folder.path() / (std::to_string(modules[i]) + ".cubin");
      std::ofstream(path, std::ios::binary) << cubins.bytes(modules[i]);
      all = list_kernels({cuobjdump, "-sass"}, path, {}, listed[i]) && all;
    }
    return all;
  };
  const std::size_t count =
      std::min<std::size_t>(modules.size(), std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::future<bool>> workers;
  for (std::size_t i = 0; i < count; ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  bool all = true;
  for (auto& worker : workers) all = worker.get() && all;
  for (auto& kernels : listed) found.merge(kernels);
  return all;
}

}  // namespace

std::vector<std::string> CodeEvidence::list_their_modules(const std::string& cuobjdump,
                                                          std::vector<std::string> kernels) {
  if (!cubins_) cubins_.emplace(executable_, binary_version_);
  std::set<std::size_t> wanted;
  for (const std::string& kernel : kernels) {
    for (const std::size_t module : cubins_->of(kernel)) wanted.insert(module);
  }
  std::vector<std::size_t> fresh;
  std::set_difference(wanted.begin(), wanted.end(), listed_.begin(), listed_.end(),
                      std::back_inserter(fresh));
  std::map<std::string, Kernel> found;
  if (list_modules(cuobjdump, *cubins_, fresh, found)) {
    kernels_.merge(found);
    listed_.insert(fresh.begin(), fresh.end());
  }
  std::erase_if(kernels, [this](const std::string& kernel) { return kernels_.contains(kernel); });
  return kernels;
}

void CodeEvidence::disassemble(std::vector<std::string> kernels) {
  const std::string cuobjdump = find_cuobjdump();
  if (cuobjdump.empty()) {
    reason_ = "cuobjdump was not found (set CUOBJDUMP, or install the CUDA binary utilities)";
  } else {
    if (!kernels.empty()) {
      kernels = list_their_modules(cuobjdump, std::move(kernels));
      if (kernels.empty()) return;
    }
    // Code for sm_90a is listed under that name only.
    for (const char* suffix : {"", "a"}) {
      std::map<std::string, Kernel> found;
      const std::vector<std::string> command{cuobjdump, "-sass", "-arch",
                                             "sm_" + std::to_string(binary_version_) + suffix};
      if (list_kernels_in_parallel(command, executable_, kernels, found)) {
        kernels_.merge(found);
        return;
      }
    }
    // It fails alike for an architecture that is not there and for want of its helper.
    reason_ = cuobjdump + " lists no machine code for sm_" + std::to_string(binary_version_) +
              " (it needs nvdisasm beside it or on PATH)";
  }
  std::error_code ignored;
  const fs::path folder = fs::absolute(executable_, ignored).parent_path() / "code";
  std::map<std::string, Kernel> kept = kept_ptx(folder, binary_version_);
  if (kept.empty()) reason_ += ", and there is no PTX beside the executable";
  kernels_.merge(kept);  // what was read as SASS before stays
}

CodeEvidence::Kernel CodeEvidence::of(const std::string& mangled_name) const {
  const auto found = kernels_.find(mangled_name);
  if (found != kernels_.end()) return found->second;
  return {
      "none: " + (reason_.empty() ? "the machine code has no such kernel" : reason_), {}, {}, {}};
}

}  // namespace amasia
