// What a verification on the device found, element by element, and the verdict it amounts to.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "harness/app.hpp"
#include "variants/device/cuda.hpp"

namespace amasia {

/// An element that is wrong.
struct Mismatch {
  std::int64_t row, column;
  double got, expected;
};

/// Lies in device memory, all zero before the kernel that fills it.
struct VerificationReport {
  static constexpr int kept = 5;
  unsigned long long mismatches;
  // Bits of the largest error; as integers, non-negative doubles order alike.
  unsigned long long worst;
  Mismatch first[kept];

  /// One element. `error` in the verdict's norm; of wrong ones any finite one will do for the
  /// largest, which says of right ones how good the bound is.
  __device__ void add(double error, double bound, const Mismatch& element) {
    if (isfinite(error)) {
      const auto bits = static_cast<unsigned long long>(__double_as_longlong(error));
      if (bits > worst) atomicMax(&worst, bits);
    }
    if (error <= bound) return;  // false for NaN
    const unsigned long long place = atomicAdd(&mismatches, 1ULL);
    if (place < kept) first[place] = element;
  }
};

/// A report in device memory that a kernel fills, all zero at first.
class DeviceReport {
 public:
  DeviceReport() : report_(1) {
    AMASIA_CUDA(cudaMemset(report_.data(), 0, sizeof(VerificationReport)));
  }
  VerificationReport* data() const { return report_.data(); }

  /// Completes `verdict`, which has norm, bound and number of elements. `is` says what was
  /// compared: "got", "LU is". Synchronous.
  Verdict complete(Verdict verdict, const char* is) const {
    VerificationReport found;
    report_.download(&found);
    std::memcpy(&verdict.error, &found.worst, sizeof verdict.error);
    verdict.mismatches = static_cast<std::int64_t>(found.mismatches);
    verdict.passed = verdict.mismatches == 0;
    for (int i = 0; i < VerificationReport::kept && i < verdict.mismatches; ++i) {
      const Mismatch& wrong = found.first[i];
      char text[160];
      std::snprintf(text, sizeof text, "(%lld, %lld): %s %.9g, expected %.9g",
                    static_cast<long long>(wrong.row), static_cast<long long>(wrong.column), is,
                    wrong.got, wrong.expected);
      verdict.first_mismatches.emplace_back(text);
    }
    return verdict;
  }

 private:
  DeviceArray<VerificationReport> report_;
};

}  // namespace amasia
