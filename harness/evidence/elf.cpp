#include "harness/evidence/elf.hpp"

#include <algorithm>

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

}  // namespace amasia
