#include "cpu_reference.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace amasia::convolution_1d {

std::vector<float> reference_row(const Filter& filter, std::uint64_t seed, std::int64_t row,
                                 std::int64_t columns) {
  std::vector<float> padded(static_cast<std::size_t>(columns + taps - 1), 0.0F);
  for (std::int64_t c = 0; c < columns; ++c) {
    padded[static_cast<std::size_t>(c + radius)] = input_at(seed, row * columns + c);
  }
  std::vector<float> out(static_cast<std::size_t>(columns));
  for (std::int64_t c = 0; c < columns; ++c) {
    out[static_cast<std::size_t>(c)] =
        convolved(filter, [&](int k) { return padded[static_cast<std::size_t>(c + radius + k)]; });
  }
  return out;
}

Verdict check_reference_rows(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  const Filter filter = filter_of(seed);
  double weight = 0;  // the most that |inputs| <= 1 can make
  for (const float t : filter.tap) weight += double{t};
  Verdict v;
  v.norm = "max abs error / sum of the taps";
  v.bound = taps * double{std::numeric_limits<float>::epsilon()} / 2;
  v.checked = rows * columns;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::vector<float> got = reference_row(filter, seed, r, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      // The other way round: what each input gives to the results, from the last to the first.
      double sum = 0;
      const std::int64_t last = std::min(columns - 1, c + radius);
      for (std::int64_t i = last; i >= std::max<std::int64_t>(0, c - radius); --i) {
        sum += double{filter.tap[i - c + radius]} * double{input_at(seed, r * columns + i)};
      }
      const double error = std::fabs(double{got[static_cast<std::size_t>(c)]} - sum) / weight;
      v.error = std::max(v.error, error);
      if (error <= v.bound) continue;
      if (++v.mismatches <= 5) {
        v.first_mismatches.push_back("row " + std::to_string(r) + ", column " + std::to_string(c) +
                                     ": got " + std::to_string(got[static_cast<std::size_t>(c)]) +
                                     ", expected " + std::to_string(sum));
      }
    }
  }
  v.passed = v.mismatches == 0;
  return v;
}

}  // namespace amasia::convolution_1d
