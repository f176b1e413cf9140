// What the host can ask of the app's device instance, without CUDA headers.
#pragma once

#include <cstdint>
#include <vector>

namespace amasia::pathfinder {

class ResultSource {
 public:
  virtual ~ResultSource() = default;
  virtual std::vector<int> last_row() const = 0;  // of the last run, (cols)
  virtual std::uint64_t seed() const = 0;
};

}  // namespace amasia::pathfinder
