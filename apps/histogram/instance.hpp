// What the host can ask of the app's device instance, without CUDA headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace amasia::histogram {

class CountsSource {
 public:
  virtual ~CountsSource() = default;
  virtual std::vector<std::uint32_t> counts() const = 0;  // of the last run, (bins + 1)
};

/// Writes counts(bins + 1) as text: a line "bin count" per bin, 0 ... bins-1, and last the line
/// "bins count" of the keys outside the range. Throws UsageError when the file cannot be written
/// completely.
void write_counts(const std::string& path, const std::vector<std::uint32_t>& counts);

}  // namespace amasia::histogram
