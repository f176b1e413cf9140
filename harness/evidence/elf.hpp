// Files of machine code as nvcc makes them: ELF of 64 bits, little-endian.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace amasia {

/// What lies at `offset`, unless that is beyond the end.
template <class T>
std::optional<T> value_at(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Cubin {
  struct Section {
    std::string_view name;
    std::string_view content;  // empty for one without bytes in the file
    std::size_t size = 0;
  };
  int architecture = 0;  // 90 for sm_90 and sm_90a
  std::size_t end = 0;   // of the file, in what was read
  std::vector<Section> sections{};
};

/// Whether an ELF file for CUDA begins here.
bool begins_cubin(std::string_view bytes);

/// The cubin at the beginning of `bytes`; nothing for one that is damaged or cut. Never reads
/// beyond `bytes`.
std::optional<Cubin> read_cubin(std::string_view bytes);

}  // namespace amasia
