#include "harness/evidence/evidence.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "harness/errors.hpp"
#include "harness/evidence/cubins.hpp"
#include "harness/evidence/disassembler.hpp"
#include "harness/evidence/ptx.hpp"
#include "harness/machine_code.hpp"
#include "harness/text/file.hpp"

namespace amasia {

namespace {

/// Adds the kernels of a module, replacing those of the same name.
void count_module(const ptx::Module& module, KernelCodes& kernels) {
  for (const ptx::Function& function : module.functions) {
    if (!function.entry) continue;
    KernelCode& kernel = kernels[function.name];
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

}  // namespace

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
      if (list_file(cuobjdump, executable_, architecture, found)) return kernels_.merge(found);
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
  std::set_difference(modules.begin(), modules.end(), listed_.begin(), listed_.end(),
                      std::back_inserter(fresh));
  if (fresh.empty()) return true;
  const std::string cuobjdump = find_cuobjdump();
  KernelCodes found;
  if (cuobjdump.empty() || !list_modules(cuobjdump, cubins(), fresh, found)) return false;
  kernels_.merge(found);
  listed_.insert(fresh.begin(), fresh.end());
  return true;
}

CodeEvidence::Kernel CodeEvidence::of(const std::string& mangled_name) const {
  const auto found = kernels_.find(mangled_name);
  if (found != kernels_.end()) return found->second;
  return {
      "none: " + (reason_.empty() ? "the machine code has no such kernel" : reason_), {}, {}, {}};
}

int instructions_in_loops(const std::string& mangled_name, const Device& device) {
  CodeEvidence code(executable_path(), device.compute_capability);
  code.read({mangled_name});
  const CodeEvidence::Kernel kernel = code.of(mangled_name);
  const auto total = kernel.in_loops.find("total");
  if (total == kernel.in_loops.end()) throw std::runtime_error("no machine code: " + kernel.source);
  return total->second;
}

}  // namespace amasia
