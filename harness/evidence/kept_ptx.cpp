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

KernelCodes kept_ptx(const fs::path& folder, int binary_version) {
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
  KernelCodes kernels;
  for (const Kept& kept : modules) count_module(kept.module, kernels);
  return kernels;
}

}  // namespace amasia
