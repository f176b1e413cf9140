#include "harness/evidence/cubins.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

namespace amasia {
namespace {

constexpr unsigned cuda_machine = 190;  // EM_CUDA

/// What lies at `offset`, unless that is beyond the end.
template <class T>
std::optional<T> at(std::string_view text, std::size_t offset) {
  if (offset > text.size() || text.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, text.data() + offset, sizeof value);
  return value;
}

/// The compute capability stands in the lowest byte of the flags, in newer files in the next one.
bool is_for(const Elf64_Ehdr& header, int architecture) {
  const auto wanted = static_cast<unsigned>(architecture);
  return (header.e_flags & 0xff) == wanted || (header.e_flags >> 8 & 0xff) == wanted;
}

struct Sections {
  std::size_t end = 0;  // of the file
  std::vector<std::string_view> names;
};

/// nullopt for what begins like an ELF file and is none.
std::optional<Sections> sections_of(std::string_view file, const Elf64_Ehdr& header) {
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > file.size()) return std::nullopt;
  Sections sections;
  sections.end = header.e_shoff + std::size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  sections.end = std::max<std::size_t>(
      sections.end, header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize);
  if (sections.end > file.size()) return std::nullopt;
  const auto section = [&](std::size_t i) {
    return *at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  if (header.e_shstrndx >= header.e_shnum) return std::nullopt;
  const Elf64_Shdr names = section(header.e_shstrndx);
  if (names.sh_offset > file.size() || file.size() - names.sh_offset < names.sh_size) {
    return std::nullopt;
  }
  const std::string_view text = file.substr(names.sh_offset, names.sh_size);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const std::size_t name = section(i).sh_name;
    if (name >= text.size()) return std::nullopt;
    sections.names.push_back(text.substr(name, text.find('\0', name) - name));
  }
  return sections;
}

}  // namespace

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
    const auto header = at<Elf64_Ehdr>(all, i);
    if (header && header->e_machine == cuda_machine) {
      if (const auto sections = sections_of(all.substr(i), *header)) {
        next = i + sections->end;
        if (is_for(*header, architecture)) {
          for (const std::string_view name : sections->names) {
            if (name.substr(0, code.size()) == code) {
              kernels_.emplace(name.substr(code.size()), modules_.size());
            }
          }
          modules_.push_back({i, sections->end});
        }
      }
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
