#include "harness/evidence/cubins.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>

namespace amasia {

bool begins_cubin(std::string_view bytes) {
  constexpr unsigned cuda_machine = 190;  // EM_CUDA
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  return header && header->e_machine == cuda_machine;
}

std::optional<Cubin> read_cubin(std::string_view bytes) {
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > bytes.size() ||
      header->e_shstrndx >= header->e_shnum) {
    return std::nullopt;
  }
  Cubin cubin;
  // The capability stands in the lowest byte of the flags, in newer files in the next one.
  constexpr unsigned oldest = 50;
  const unsigned low = header->e_flags & 0xff, next = header->e_flags >> 8 & 0xff;
  cubin.architecture = static_cast<int>(low >= oldest ? low : next);
  std::vector<Elf64_Shdr> headers;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto section = value_at<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    const bool has_bytes = section->sh_type != SHT_NOBITS;
    if (has_bytes && (section->sh_offset > bytes.size() ||
                      bytes.size() - section->sh_offset < section->sh_size)) {
      return std::nullopt;
    }
    headers.push_back(*section);
  }
  const auto content_of = [bytes](const Elf64_Shdr& s) {
    return s.sh_type == SHT_NOBITS ? std::string_view() : bytes.substr(s.sh_offset, s.sh_size);
  };
  const std::string_view names = content_of(headers[header->e_shstrndx]);
  for (const Elf64_Shdr& s : headers) {
    if (s.sh_name >= names.size()) return std::nullopt;
    const std::string_view rest = names.substr(s.sh_name);
    cubin.sections.push_back({rest.substr(0, rest.find('\0')), content_of(s), s.sh_size});
  }
  cubin.end =
      std::max<std::size_t>(header->e_shoff + std::size_t{header->e_shnum} * sizeof(Elf64_Shdr),
                            header->e_phoff + std::size_t{header->e_phnum} * header->e_phentsize);
  if (cubin.end > bytes.size()) return std::nullopt;
  return cubin;
}

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
