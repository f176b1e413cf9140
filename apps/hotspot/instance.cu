// The problem on the device: allocation, inputs, verification.
//
// All variants compute a cell by the same roundings (kernel.cuh), so a result is compared bit for
// bit, in every cell, with that of the plainest kernel there is: one thread per cell, one step per
// launch, no tile. That kernel is itself checked against fp64 on the CPU, within a bound: over the
// whole grid where the CPU can, in sixteen windows where it would take minutes.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "apps/common/device_instance.cuh"
#include "apps/hotspot/cpu_reference.hpp"
#include "apps/hotspot/hotspot.hpp"
#include "apps/hotspot/kernel.cuh"

namespace amasia::hotspot {
namespace {

// Cells are numbered without the padding, as on the host.
__global__ void generate(Grid<float> temperature, Grid<float> power, std::uint64_t seed,
                         bool challenging) {
  each_element(temperature.rows, temperature.columns, [&](std::int64_t row, std::int64_t column) {
    const std::uint64_t cell = row * temperature.columns + column;
    temperature.at(row, column) =
        challenging ? challenging_temperature(seed, cell) : generated_temperature(seed, cell);
    power.at(row, column) =
        challenging ? challenging_power(seed, cell) : generated_power(seed, cell);
  });
}

__global__ void reference_step(Grid<const float> now, Grid<const float> power, Grid<float> next,
                               Coefficients k) {
  each_element(now.rows, now.columns, [&](std::int64_t r, std::int64_t c) {
    const float own = now.at(r, c);
    const float north = r > 0 ? now.at(r - 1, c) : own;
    const float south = r < now.rows - 1 ? now.at(r + 1, c) : own;
    const float west = c > 0 ? now.at(r, c - 1) : own;
    const float east = c < now.columns - 1 ? now.at(r, c + 1) : own;
    const bool even = is_even(r, c);
    next.at(r, c) = by_isotropy(k, [&](auto isotropic) {
      return advance<isotropic.value>(own, north, south, even ? west : east, even ? east : west,
                                      source_term(power.at(r, c), k), k);
    });
  });
}

struct Difference {
  unsigned long long mismatches;
  unsigned long long first;  // the first cell in row order, or ~0
  unsigned largest;          // the bits of the largest difference: they order as the numbers do
};

// Cells from `from` on that differ in any bit, or are no finite number.
__global__ void find_difference(Grid<const float> got, Grid<const float> expected,
                                unsigned long long from, Difference* found) {
  const std::int64_t c = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (c >= got.columns) return;
  unsigned long long mismatches = 0, first = ~0ull;
  float largest = 0;
  for (std::int64_t r = blockIdx.y; r < got.rows; r += gridDim.y) {
    const float value = got.at(r, c), right = expected.at(r, c);
    const unsigned long long cell = r * got.columns + c;
    const bool same = isfinite(value) && __float_as_uint(value) == __float_as_uint(right);
    if (same || cell < from) continue;
    ++mismatches;
    if (cell < first) first = cell;
    const float difference = fabsf(value - right);
    largest = difference <= largest ? largest : isfinite(difference) ? difference : INFINITY;
  }
  if (mismatches == 0) return;
  atomicAdd(&found->mismatches, mismatches);
  atomicMin(&found->first, first);
  atomicMax(&found->largest, __float_as_uint(largest));
}

// fp64 on the CPU keeps up with cell updates to about this number (8192 x 8192, 4 steps): a second.
constexpr double most_updates_on_cpu = 268435456;  // 2^28
// In a window of the CPU the halo of so many steps is small, and they are as good as more.
constexpr int most_steps_in_window = 60;
constexpr std::int64_t window_edge = 16;
constexpr int windows = 16;

class DeviceInstance final : public HotspotInstance {
 public:
  DeviceInstance(const Parameters& p, std::uint64_t seed)
      : parameters_(p),
        seed_(seed),
        rows_(p.integer("rows")),
        columns_(p.integer("cols")),
        pitch_(padded_pitch<float>(columns_)),
        temperature_(cells()),
        power_(cells()),
        result_(cells()),
        scratch_(cells()) {
    refuse_overflow(p);
    problem_.temperature = readable(temperature_);
    problem_.power = readable(power_);
    problem_.result = grid(result_);
    problem_.scratch = grid(scratch_);
    problem_.coefficients = rounded(exact());
    problem_.steps = static_cast<int>(p.integer("steps"));
    // The padding stays NaN: a variant that takes it for data fails verification.
    temperature_.poison(nullptr);
    power_.poison(nullptr);
    pose(0);
  }

  const Problem& problem() const override { return problem_; }

  // The inputs are never written, so there is nothing to restore.
  void reset(Stream stream) override {
    result_.poison(stream);
    scratch_.poison(stream);
  }

  int challenges() const override { return 1; }

  void pose(int challenge) override {
    posed_ = challenge;
    generate<<<launch_grid(), element_threads>>>(grid(temperature_), grid(power_), seed_,
                                                 challenge != 0);
    AMASIA_CUDA(cudaGetLastError());
    if (challenge == 0 && !parameters_.text("temp_file").empty()) {
      upload_rows(host_temperature(parameters_, seed_).cells.data(), grid(temperature_));
    }
    if (challenge == 0 && !parameters_.text("power_file").empty()) {
      upload_rows(host_power(parameters_, seed_).cells.data(), grid(power_));
    }
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  Verdict verify() override {
    AMASIA_CUDA(cudaDeviceSynchronize());
    if (expected_of_ != posed_) {
      if (expected_.size() == 0) expected_ = DeviceArray<float>(cells());
      if (posed_ == 0 && !checked_) checked_ = check_on_cpu();
      compute_expected(problem_.steps);
      expected_of_ = posed_;
    }
    if (checked_ && !checked_->passed) return *checked_;
    Verdict verdict = compare_on_device();
    if (verdict.passed && posed_ == 0 && right_.cells.empty() &&
        !parameters_.text("out_file").empty()) {
      right_ = download(readable(result_));
    }
    return verdict;
  }

  const HostGrid& right_result() const override {
    if (right_.cells.empty()) {
      throw std::runtime_error("out_file is not written: no run of this size was right");
    }
    return right_;
  }

 private:
  std::size_t cells() const {
    return static_cast<std::size_t>(checked_product({rows_, pitch_}, "rows x pitch"));
  }
  Grid<float> grid(const DeviceArray<float>& array) const {
    return {array.data(), rows_, columns_, pitch_};
  }
  Grid<const float> readable(const DeviceArray<float>& array) const {
    return {array.data(), rows_, columns_, pitch_};
  }
  ExactCoefficients exact() const {
    return exact_coefficients(rows_, columns_, chip_of(parameters_));
  }
  dim3 launch_grid() const { return blocks_over(rows_, columns_); }

  // A part of a grid that starts at (row, column); by default all of it.
  HostGrid download(const Grid<const float>& from, std::int64_t row, std::int64_t column,
                    std::int64_t rows, std::int64_t columns) const {
    HostGrid to{rows, columns, std::vector<float>(static_cast<std::size_t>(rows * columns))};
    download_rows(Grid<const float>{&from.at(row, column), rows, columns, pitch_}, to.cells.data());
    return to;
  }
  HostGrid download(const Grid<const float>& from) const {
    return download(from, 0, 0, rows_, columns_);
  }

  // What `steps` steps make of the posed input. Uses scratch, never result; what it leaves there
  // no later run may take for its own.
  void compute_expected(int steps) {
    Grid<const float> now = problem_.temperature;
    for (int left = steps; left > 0; --left) {
      const DeviceArray<float>& next = left % 2 == 1 ? expected_ : scratch_;
      reference_step<<<launch_grid(), element_threads>>>(now, problem_.power, grid(next),
                                                         problem_.coefficients);
      AMASIA_CUDA(cudaGetLastError());
      now = readable(next);
    }
    scratch_.poison(nullptr);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  Verdict compare_on_device() const {
    const DeviceArray<Difference> found(1);
    const auto differences_from = [&](unsigned long long cell) {
      Difference d{0, ~0ull, 0};
      found.upload(&d);
      find_difference<<<launch_grid(), element_threads>>>(readable(result_), readable(expected_),
                                                          cell, found.data());
      AMASIA_CUDA(cudaGetLastError());
      found.download(&d);
      return d;
    };
    Difference d = differences_from(0);
    Verdict verdict;
    verdict.norm = "exact";
    verdict.checked = rows_ * columns_;
    verdict.mismatches = static_cast<std::int64_t>(d.mismatches);
    verdict.passed = d.mismatches == 0;
    float largest = 0;
    std::copy_n(reinterpret_cast<const unsigned char*>(&d.largest), sizeof(largest),
                reinterpret_cast<unsigned char*>(&largest));
    verdict.error = largest;
    for (; d.mismatches > 0 && verdict.first_mismatches.size() < 5;
         d = differences_from(d.first + 1)) {
      const std::int64_t r = static_cast<std::int64_t>(d.first) / columns_;
      const std::int64_t c = static_cast<std::int64_t>(d.first) % columns_;
      verdict.first_mismatches.push_back(
          mismatch(r, c, download(readable(result_), r, c, 1, 1).cells[0],
                   download(readable(expected_), r, c, 1, 1).cells[0]));
    }
    return verdict;
  }

  Verdict check_on_cpu() {
    const double updates = static_cast<double>(rows_) * static_cast<double>(columns_);
    if (updates * problem_.steps <= most_updates_on_cpu) {
      compute_expected(problem_.steps);
      const HostGrid right = reference(host_temperature(parameters_, seed_),
                                       host_power(parameters_, seed_), exact(), problem_.steps);
      const HostGrid got = download(readable(expected_));
      return named(compare(got.cells.data(), right, bound(problem_.steps)));
    }
    const int steps = std::min(problem_.steps, most_steps_in_window);
    compute_expected(steps);
    Verdict worst;
    for (int i = 0; i < windows; ++i) {
      const Window w = window_of(i, windows, rows_, columns_, window_edge, steps, seed_);
      const HostGrid right =
          cut(reference(download(problem_.temperature, w.row, w.column, w.rows, w.cols),
                        download(problem_.power, w.row, w.column, w.rows, w.cols), exact(), steps),
              w);
      const HostGrid got = download(readable(expected_), w.row + w.inner_row,
                                    w.column + w.inner_column, w.inner_rows, w.inner_cols);
      worst = compare(got.cells.data(), right, bound(steps));
      if (!worst.passed) break;
    }
    return named(worst);
  }
  double bound(int steps) const { return error_bound(steps, chip_of(parameters_)); }
  static Verdict named(Verdict v) {
    v.norm = "the reference on the device against fp64 on the CPU, " + v.norm;
    return v;
  }

  Parameters parameters_;
  std::uint64_t seed_;
  std::int64_t rows_, columns_, pitch_;
  DeviceArray<float> temperature_, power_, result_, scratch_;
  DeviceArray<float> expected_;  // allocated when the first result is verified
  Problem problem_;
  int posed_ = 0;
  int expected_of_ = -1;            // the input that expected_ belongs to
  std::optional<Verdict> checked_;  // expected_ itself
  HostGrid right_;
};

const bool registered = register_instance<DeviceInstance>("hotspot");

}  // namespace
}  // namespace amasia::hotspot
