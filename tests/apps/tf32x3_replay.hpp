// Sums as Hopper's tensor cores make them of tf32, and the three products that are as accurate as
// fp32 (apps/common/tf32x3_tile.cuh), on the CPU.
#pragma once

#include "apps/common/tf32.hpp"
#include "tests/test.hpp"

namespace amasia::matrix {

/// Four terms and the sum so far, cut off below 24 bits.
class TensorSum {
 public:
  void add(const float* a, const float* b, int terms) {
    for (int first = 0; first < terms; first += 4) {
      for (int i = first; i < first + 4; ++i) value_ += double{a[i]} * b[i];
      if (value_ == 0) continue;
      const double unit = std::ldexp(1.0, std::ilogb(value_) - 23);
      value_ = std::trunc(value_ / unit) * unit;
    }
  }
  float value() const { return static_cast<float>(value_); }

 private:
  double value_ = 0;
};

enum class Products { three, without_lo_hi };

/// The sum of a b as the kernels compute it.
inline float three_products(const std::vector<float>& a, const std::vector<float>& b,
                            Products products = Products::three) {
  constexpr std::size_t slice = terms_of_tensor_sum, step = 8;
  float sum = 0;
  for (std::size_t first = 0; first < a.size(); first += slice) {
    std::array<float, slice> a_hi{}, a_lo{}, b_hi{}, b_lo{};
    for (std::size_t i = first; i < std::min(first + slice, a.size()); ++i) {
      const Parts x = split(a[i]), y = split(b[i]);
      a_hi[i - first] = x.hi, a_lo[i - first] = x.lo;
      b_hi[i - first] = y.hi, b_lo[i - first] = y.lo;
    }
    TensorSum of_slice;
    for (std::size_t i = 0; i < slice; i += step) {
      if (products == Products::three) of_slice.add(&a_lo[i], &b_hi[i], step);
      of_slice.add(&a_hi[i], &b_lo[i], step);
    }
    of_slice.add(a_hi.data(), b_hi.data(), slice);
    sum += of_slice.value();
  }
  return sum;
}

}  // namespace amasia::matrix
