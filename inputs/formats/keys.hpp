// Keys from files. 8-bit keys: the bytes of any file as they are, which is what the histogram in
// Rodinia's huffman counts. int32 keys: text, one decimal integer per line, as Rodinia's grids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace amasia::formats {

/// Both throw UsageError, with file (and line) and what was expected, for anything but `count`
/// keys.
std::vector<std::int32_t> read_byte_keys(const std::string& path, std::int64_t count);
std::vector<std::int32_t> read_text_keys(const std::string& path, std::int64_t count);

}  // namespace amasia::formats
