// Wall-clock time since a moment, which no change of the system's clock disturbs.
#pragma once

#include <chrono>

namespace amasia {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace amasia
