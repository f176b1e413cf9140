// What the host can ask of the app's device instance, without CUDA headers.
#pragma once

#include <cstdint>
#include <vector>

namespace amasia::histogram {

class CountsSource {
 public:
  virtual ~CountsSource() = default;
  virtual std::vector<std::uint32_t> counts() const = 0;  // of the last run, (bins + 1)
};

}  // namespace amasia::histogram
