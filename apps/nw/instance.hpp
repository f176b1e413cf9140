// What the host can ask of the app's device instance, without CUDA headers.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/nw/sequences.hpp"

namespace amasia::nw {

/// The scores of the last run, and what they are scores of.
class ScoreSource {
 public:
  virtual ~ScoreSource() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  /// Interior rows first ... first + count - 1 of the last run, dense.
  virtual std::vector<int> score_rows(std::int64_t first, std::int64_t count) const = 0;
  virtual const Sequences& sequences() const = 0;
};

}  // namespace amasia::nw
