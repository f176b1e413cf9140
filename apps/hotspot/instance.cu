// The problem on the device: allocation, inputs, verification.
#include <memory>
#include <optional>
#include <vector>

#include "apps/hotspot/cpu_reference.hpp"
#include "apps/hotspot/hotspot.hpp"
#include "apps/hotspot/instance.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::hotspot {
namespace {

constexpr int threads = 256;

// One thread per cell and grid-stride rows; cells are numbered without the padding, as on the host.
__global__ void generate(Grid<float> temperature, Grid<float> power, std::uint64_t seed) {
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= temperature.columns) return;
  for (std::int64_t row = blockIdx.y; row < temperature.rows; row += gridDim.y) {
    const std::uint64_t cell = row * temperature.columns + column;
    temperature.at(row, column) = generated_temperature(seed, cell);
    power.at(row, column) = generated_power(seed, cell);
  }
}

// The reference where the CPU would take minutes: one step, one thread per cell, no tile, no pass
// of several steps, the sum in fp64.
__global__ void reference_step(Grid<const float> now, Grid<const float> power, Grid<float> next,
                               ExactCoefficients k) {
  const std::int64_t c = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (c >= now.columns) return;
  for (std::int64_t r = blockIdx.y; r < now.rows; r += gridDim.y) {
    const double own = now.at(r, c);
    const double north = r > 0 ? now.at(r - 1, c) : own;
    const double south = r < now.rows - 1 ? now.at(r + 1, c) : own;
    const double west = c > 0 ? now.at(r, c - 1) : own;
    const double east = c < now.columns - 1 ? now.at(r, c + 1) : own;
    next.at(r, c) =
        static_cast<float>(k.centre * own + k.vertical * (north + south) +
                           k.horizontal * (west + east) + k.power * power.at(r, c) + k.ambient);
  }
}

// fp64 on the CPU keeps up with cell updates to about this number (8192 x 8192, 60 steps): seconds.
constexpr double most_updates_on_cpu = 4.1e9;

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
    problem_.temperature = {temperature_.data(), rows_, columns_, pitch_};
    problem_.power = {power_.data(), rows_, columns_, pitch_};
    problem_.result = grid(result_);
    problem_.scratch = grid(scratch_);
    problem_.coefficients = rounded(exact());
    problem_.steps = static_cast<int>(p.integer("steps"));
    fill();
  }

  const Problem& problem() const override { return problem_; }

  // The inputs are never written, so there is nothing to restore.
  void reset(Stream stream) override {
    result_.poison(stream);
    scratch_.poison(stream);
  }

  Verdict verify() override {
    // Fetched first: the reference on the device may use scratch, never result.
    download(problem_.result, got_);
    if (!expected_) expected_ = feasible_on_cpu() ? on_cpu() : on_device();
    Verdict verdict = compare(got_.cells.data(), columns_, *expected_,
                              error_bound(problem_.steps, chip_of(parameters_)));
    if (!feasible_on_cpu()) verdict.norm += ", reference computed on the device";
    return verdict;
  }

  HostGrid download_result() const override {
    HostGrid host;
    download(problem_.result, host);
    return host;
  }

 private:
  std::size_t cells() const {
    return static_cast<std::size_t>(checked_product({rows_, pitch_}, "rows x pitch"));
  }
  Grid<float> grid(const DeviceArray<float>& array) const {
    return {array.data(), rows_, columns_, pitch_};
  }
  ExactCoefficients exact() const {
    return exact_coefficients(rows_, columns_, chip_of(parameters_));
  }
  bool feasible_on_cpu() const {
    return static_cast<double>(rows_) * static_cast<double>(columns_) * problem_.steps <=
           most_updates_on_cpu;
  }
  dim3 launch_grid() const {
    return dim3(static_cast<unsigned>((columns_ + threads - 1) / threads),
                static_cast<unsigned>(rows_ < 16384 ? rows_ : 16384));
  }

  // The padding stays NaN: whoever takes it for data fails verification.
  void fill() {
    temperature_.poison(nullptr);
    power_.poison(nullptr);
    generate<<<launch_grid(), threads>>>(grid(temperature_), grid(power_), seed_);
    AMASIA_CUDA(cudaGetLastError());
    if (!parameters_.text("temp_file").empty()) {
      upload(host_temperature(parameters_, seed_), temperature_);
    }
    if (!parameters_.text("power_file").empty()) upload(host_power(parameters_, seed_), power_);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }
  void upload(const HostGrid& host, const DeviceArray<float>& to) const {
    AMASIA_CUDA(cudaMemcpy2D(to.data(), pitch_ * sizeof(float), host.cells.data(),
                             columns_ * sizeof(float), columns_ * sizeof(float), rows_,
                             cudaMemcpyHostToDevice));
  }
  void download(const Grid<float>& from, HostGrid& to) const {
    to.rows = rows_;
    to.cols = columns_;
    to.cells.resize(static_cast<std::size_t>(rows_ * columns_));
    AMASIA_CUDA(cudaMemcpy2D(to.cells.data(), columns_ * sizeof(float), from.data,
                             pitch_ * sizeof(float), columns_ * sizeof(float), rows_,
                             cudaMemcpyDeviceToHost));
  }

  HostGrid on_cpu() const {
    return reference(host_temperature(parameters_, seed_), host_power(parameters_, seed_), exact(),
                     problem_.steps);
  }
  HostGrid on_device() const {
    const DeviceArray<float> other(cells());
    Grid<const float> now = problem_.temperature;
    Grid<float> next = grid(other);
    for (int step = 0; step < problem_.steps; ++step) {
      reference_step<<<launch_grid(), threads>>>(now, problem_.power, next, exact());
      AMASIA_CUDA(cudaGetLastError());
      now = {next.data, rows_, columns_, pitch_};
      next = next.data == other.data() ? problem_.scratch : grid(other);
    }
    AMASIA_CUDA(cudaDeviceSynchronize());
    HostGrid host;
    download({const_cast<float*>(now.data), rows_, columns_, pitch_}, host);
    return host;
  }

  Parameters parameters_;
  std::uint64_t seed_;
  std::int64_t rows_, columns_, pitch_;
  DeviceArray<float> temperature_, power_, result_, scratch_;
  Problem problem_;
  std::optional<HostGrid> expected_;
  HostGrid got_;  // kept, so that its pages are touched once
};

const bool registered = register_instance_factory(
    "hotspot", [](const Parameters& p, std::uint64_t seed) -> std::unique_ptr<Instance> {
      return std::make_unique<DeviceInstance>(p, seed);
    });

}  // namespace
}  // namespace amasia::hotspot
