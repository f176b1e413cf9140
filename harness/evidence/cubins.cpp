#include "harness/evidence/cubins.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>

#include "harness/evidence/elf.hpp"

namespace amasia {
Cubins::Cubins(const std::string& executable, int architecture) {
  std::ifstream file(executable, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() < 0) return;
  text_.resize(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.resize(static_cast<std::size_t>(file.gcount()));
  constexpr std::string_view magic(
      "\x7f"
      "ELF\x02\x01",
      6);  // 64 bits, little-endian
  constexpr std::string_view code = ".text.";
  const std::string_view all = text_;
  for (std::size_t i = all.find(magic); i != std::string_view::npos;) {
    std::size_t next = i + magic.size();
    const auto cubin = begins_cubin(all.substr(i)) ? read_cubin(all.substr(i)) : std::nullopt;
    if (cubin) next = i + cubin->end;
    if (cubin && cubin->architecture == architecture) {
      for (const Cubin::Section& section : cubin->sections) {
        if (section.name.substr(0, code.size()) == code) {
          kernels_.emplace(section.name.substr(code.size()), modules_.size());
        }
      }
      modules_.push_back({i, cubin->end});
    }
    i = all.find(magic, next);
  }
}

std::vector<std::size_t> Cubins::of(const std::string& kernel) const {
  std::vector<std::size_t> modules;
  const auto [first, last] = kernels_.equal_range(kernel);
  for (auto it = first; it != last; ++it) modules.push_back(it->second);
  return modules;
}

std::vector<std::size_t> Cubins::with_any_of(const std::vector<std::string>& words) const {
  std::set<std::size_t> modules;
  for (const auto& [kernel, module] : kernels_) {
    if (modules.contains(module)) continue;
    const auto in_name = [&name = kernel](const std::string& word) {
      return name.find(word) != std::string::npos;
    };
    if (std::any_of(words.begin(), words.end(), in_name)) modules.insert(module);
  }
  return {modules.begin(), modules.end()};
}

}  // namespace amasia
