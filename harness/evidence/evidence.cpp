#include "harness/evidence/evidence.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "harness/errors.hpp"
#include "harness/evidence/disassembler.hpp"
#include "harness/evidence/kept_ptx.hpp"
#include "harness/evidence/kernel_signature.hpp"
#include "harness/evidence/ptx.hpp"
#include "harness/evidence/sass.hpp"

namespace amasia {

namespace fs = std::filesystem;

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
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
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
  std::vector<std::string> fresh;
  for (const std::string& name : mangled_names) {
    if (asked_.insert(name).second) fresh.push_back(name);
  }
  if (fresh.empty()) return;
  if (kept_) {  // where one kernel had no SASS the others have none either
    read_kept(fresh);
  } else if (reason_.empty()) {
    disassemble(std::move(fresh));
  }
}

void CodeEvidence::read_all() {
  if (kept_) {
    read_kept({});
  } else if (reason_.empty()) {
    disassemble({});
  }
}

void CodeEvidence::read_ahead(const std::vector<std::string>& namespaces) {
  const std::string cuobjdump = find_cuobjdump();
  if (cuobjdump.empty()) return;
  std::vector<std::string> mangled;
  for (const std::string& name : namespaces) {
    mangled.push_back("6amasia" + std::to_string(name.size()) + name);
  }
  const std::vector<std::size_t> modules = cubins().with_any_of(mangled);
  list(cuobjdump, {modules.begin(), modules.end()});
}

const Cubins& CodeEvidence::cubins() {
  if (!cubins_) cubins_.emplace(executable_, binary_version_);
  return *cubins_;
}

bool CodeEvidence::list(const std::string& cuobjdump, const std::set<std::size_t>& modules) {
  std::vector<std::size_t> fresh;
  std::set_difference(modules.begin(), modules.end(), listed_.begin(), listed_.end(),
                      std::back_inserter(fresh));
  std::map<std::string, Kernel> found;
  if (!list_modules(cuobjdump, cubins(), fresh, found)) return false;
  kernels_.merge(found);
  listed_.insert(fresh.begin(), fresh.end());
  return true;
}

std::vector<std::string> CodeEvidence::list_their_modules(const std::string& cuobjdump,
                                                          std::vector<std::string> kernels) {
  std::set<std::size_t> wanted;
  for (const std::string& kernel : kernels) {
    for (const std::size_t module : cubins().of(kernel)) wanted.insert(module);
  }
  list(cuobjdump, wanted);
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
  kept_.emplace(folder, binary_version_);
  if (kept_->empty()) reason_ += ", and there is no PTX beside the executable";
  read_kept(kernels);
}

void CodeEvidence::read_kept(const std::vector<std::string>& kernels) {
  std::map<std::string, Kernel> kept = kernels.empty() ? kept_->all() : kept_->of(kernels);
  kernels_.merge(kept);  // what was read as SASS before stays
}

CodeEvidence::Kernel CodeEvidence::of(const std::string& mangled_name) const {
  const auto found = kernels_.find(mangled_name);
  if (found != kernels_.end()) return found->second;
  return {
      "none: " + (reason_.empty() ? "the machine code has no such kernel" : reason_), {}, {}, {}};
}

}  // namespace amasia
