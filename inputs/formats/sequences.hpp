// A sequence as text: letters of an alphabet, broken into lines anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amasia::formats {

/// Reads exactly `count` letters, upper or lower case, as their places in `alphabet` (upper case,
/// at most 127 letters); line breaks and CRLF are skipped. Throws UsageError "path:line: what was
/// expected" for any other character, too few or too many letters, and "path: ..." for a file that
/// cannot be read.
std::vector<signed char> read_sequence_file(const std::string& path, std::string_view alphabet,
                                            std::int64_t count);

}  // namespace amasia::formats
