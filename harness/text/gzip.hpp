// gzip files in memory (RFC 1952), by zlib.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace amasia {

/// Told by its first two bytes.
bool is_gzip(std::string_view bytes);

/// One member without name and time: the same text gives the same bytes.
std::string gzip(std::string_view text);

/// The text of one member. Throws ResultError for what is damaged or ends early, for bytes behind
/// it, and as soon as there are more than `most_bytes` of text. With `lines`: what is behind so
/// many of them is neither unpacked nor checked.
std::string gunzip(std::string_view bytes, std::size_t most_bytes, std::size_t lines = 0);

}  // namespace amasia
