#include "harness/evidence/kept_ptx.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace amasia {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

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

KeptPtx::KeptPtx(const fs::path& folder, int binary_version) {
  struct Kept {
    int target;
    fs::file_time_type written;
    fs::path path;
    std::vector<std::string> kernels;
  };
  std::vector<Kept> found;
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension() != ".ptx") continue;
    const auto text = read_text(file->path());
    if (!text) continue;
    ptx::Contents contents = ptx::contents(*text);
    if (contents.target > binary_version) continue;
    found.push_back(
        {contents.target, file->last_write_time(error), file->path(), std::move(contents.kernels)});
  }
  std::sort(found.begin(), found.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.target, a.written) < std::pair(b.target, b.written);
  });
  for (Kept& kept : found) {
    for (std::string& kernel : kept.kernels) having_[std::move(kernel)].insert(modules_.size());
    modules_.push_back(std::move(kept.path));
  }
}

KernelCodes KeptPtx::of(const std::vector<std::string>& kernels) const {
  std::set<std::size_t> wanted;
  for (const std::string& kernel : kernels) {
    const auto having = having_.find(kernel);
    if (having != having_.end()) wanted.insert(having->second.begin(), having->second.end());
  }
  KernelCodes found = read(wanted);
  // What else the modules have may be in a newer one, which nobody has read.
  const std::set<std::string> asked(kernels.begin(), kernels.end());
  std::erase_if(found, [&asked](const auto& kernel) { return !asked.contains(kernel.first); });
  return found;
}

KernelCodes KeptPtx::all() const {
  std::set<std::size_t> every;
  for (std::size_t i = 0; i < modules_.size(); ++i) every.insert(every.end(), i);
  return read(every);
}

KernelCodes KeptPtx::read(const std::set<std::size_t>& modules) const {
  KernelCodes kernels;
  for (const std::size_t module : modules) {  // in their order: later ones overwrite
    if (const auto text = read_text(modules_[module])) count_module(ptx::parse(*text), kernels);
  }
  return kernels;
}

}  // namespace amasia
