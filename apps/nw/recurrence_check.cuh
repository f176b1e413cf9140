// Verification of a whole matrix of scores on the device, exact and in one pass.
//
// The recurrence of nw.hpp determines all scores from the borders. If every stored score is what it
// makes of its three stored (or border) neighbours, then every one is right: by induction, along
// the rows from the first cell on. So all cells can be looked at in parallel, and the first wrong
// one of any chain of errors is found at its place, however consistent the rest is. Substitution
// scores are looked up from the letters, not read from `ref`, which is what the kernels read.
#pragma once

#include <algorithm>

#include "apps/common/verification_report.cuh"
#include "apps/nw/nw.hpp"
#include "variants/device/launch.hpp"

namespace amasia::nw {

struct CheckedScores {
  Grid<int> score;
  const signed char* rows = nullptr;  // letters, on the device
  const signed char* cols = nullptr;
  int penalty = 0;
};

inline constexpr int check_threads = 256;
inline constexpr int check_rows = 64;  // that a block goes down, keeping what it read of the last

inline __global__ void check_recurrence(CheckedScores s, Substitution table,
                                        VerificationReport* report) {
  __shared__ int substitution[letters][letters];
  for (int i = threadIdx.x; i < letters * letters; i += check_threads) {
    substitution[i / letters][i % letters] = table.score[i / letters][i % letters];
  }
  __syncthreads();
  const std::int64_t c = std::int64_t{blockIdx.x} * check_threads + threadIdx.x;
  if (c >= s.score.columns) return;
  const int letter = s.cols[c];
  // 64 bits: what is wrong may be anything, and must not wrap around to what is right.
  const auto at = [&s](std::int64_t row, std::int64_t column) -> long long {
    if (row < 0) return border(column + 1, s.penalty);
    if (column < 0) return border(row + 1, s.penalty);
    return s.score.at(row, column);
  };
  const std::int64_t strips = ceil_div(s.score.rows, check_rows);
  for (std::int64_t strip = blockIdx.y; strip < strips; strip += gridDim.y) {
    const std::int64_t first = strip * check_rows;
    const std::int64_t end = first + check_rows < s.score.rows ? first + check_rows : s.score.rows;
    long long north_west = at(first - 1, c - 1), north = at(first - 1, c);
    for (std::int64_t r = first; r < end; ++r) {
      const long long west = at(r, c - 1), got = s.score.at(r, c);
      const long long diagonal = north_west + substitution[s.rows[r]][letter];
      const long long gap = (north > west ? north : west) - s.penalty;
      const long long expected = diagonal > gap ? diagonal : gap;
      if (got != expected) {
        const double difference =
            static_cast<double>(got > expected ? got - expected : expected - got);
        report->add(difference, 0, {r, c, static_cast<double>(got), static_cast<double>(expected)});
      }
      north_west = west;
      north = got;
    }
  }
}

/// Synchronous. A mismatch says what the stored neighbours ask for.
inline Verdict verdict_of(const CheckedScores& s) {
  const DeviceReport report;
  LaunchShape shape;
  // 65535: the limit of a grid's second dimension.
  const std::int64_t strips = ceil_div(s.score.rows, check_rows);
  shape.grid = dim3(static_cast<unsigned>(ceil_div(s.score.columns, check_threads)),
                    static_cast<unsigned>(std::min<std::int64_t>(strips, 65535)));
  shape.block = dim3(check_threads);
  launch(check_recurrence, shape, nullptr, s, blosum62, report.data());
  AMASIA_CUDA(cudaDeviceSynchronize());
  Verdict verdict;
  verdict.norm = "exact";
  verdict.checked = s.score.rows * s.score.columns;
  return report.complete(verdict, "got");
}

}  // namespace amasia::nw
