#pragma once
#include <set>
#include <string>
#include <string_view>

namespace amasia::digests {

/// What of a file counts in a digest. A C++ or CUDA source is the sequence of its tokens: comments,
/// blank space, line breaks, includes and #pragma once change nothing, everything else does.
/// A CMake file is its commands without comments; any other file is its bytes.
struct Content {
  std::string
      hash;  ///< SHA-256; empty where nothing counts, as in a file that only includes others
  std::set<std::string> registers;  ///< of "variant", "comparator", "microbenchmark", "ceiling"
};

Content content_of(std::string_view path, std::string text);

/// In hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace amasia::digests
