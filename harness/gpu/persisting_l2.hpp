// The part of L2 whose lines stay, so that one run's are no gain of the next one's.
#pragma once

#include <cstddef>
#include <string>

#include "variants/host_device.hpp"

namespace amasia {

class PersistingL2 {
 public:
  /// Takes the limit that is set now for the one that nobody has set.
  explicit PersistingL2(int device);
  /// What was left set since the last call, in words, "" for nothing. The limit is the first one
  /// again, the stream has no access policy, and no line stays any longer.
  std::string put_back(Stream stream) const;

 private:
  static std::size_t limit();

  bool exists_ = false;  // since compute capability 8.0
  std::size_t first_limit_ = 0;
};

}  // namespace amasia
