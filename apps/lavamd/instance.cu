// The device instance of lavamd: inputs made in place, poisoned forces, every component compared
// with the plainest kernel, and that kernel with the CPU on a sample of boxes.
#include <vector>

#include "apps/common/device_instance.cuh"
#include "apps/common/verification_report.cuh"
#include "apps/lavamd/cpu_reference.hpp"
#include "apps/lavamd/lavamd.hpp"
#include "variants/device/launch.hpp"

namespace amasia::lavamd {
namespace {

constexpr int block_threads = 128;

struct Extent {
  int boxes1d, particles, pitch;
  AMASIA_HD std::int64_t boxes() const { return std::int64_t{boxes1d} * boxes1d * boxes1d; }
};

/// A thread per element, padding included.
__global__ void __launch_bounds__(block_threads)
    fill(Vector* positions, double* charges, Extent e, std::uint64_t seed, int input) {
  const std::int64_t at = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (at >= e.boxes() * e.pitch) return;
  const int i = static_cast<int>(at % e.pitch);
  const std::int64_t particle = at / e.pitch * e.particles + i;
  const bool inside = i < e.particles;
  positions[at] = inside ? input_position(seed, input, particle) : Vector{};
  charges[at] = inside ? input_charge(seed, input, particle) : 0;
}

__global__ void __launch_bounds__(block_threads) fill_table(Neighbours* rows, Extent e) {
  const std::int64_t box = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (box < e.boxes()) rows[box] = neighbours_of(static_cast<int>(box), e.boxes1d);
}

/// The reference: a thread per element, neighbours by their coordinates, no table and no tile.
__global__ void __launch_bounds__(block_threads)
    reference(const Vector* positions, const double* charges, Extent e, Force* expected) {
  const std::int64_t at = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (at >= e.boxes() * e.pitch) return;
  const int home = static_cast<int>(at / e.pitch), n = e.boxes1d;
  const int hx = home % n, hy = home / n % n, hz = home / n / n;
  const Vector a = positions[at];
  Force f{};
  for (int z = max(hz - 1, 0); z <= min(hz + 1, n - 1); ++z) {
    for (int y = max(hy - 1, 0); y <= min(hy + 1, n - 1); ++y) {
      for (int x = max(hx - 1, 0); x <= min(hx + 1, n - 1); ++x) {
        const std::int64_t first = (x + n * (y + std::int64_t{n} * z)) * e.pitch;
        for (int j = 0; j < e.particles; ++j) {
          const Vector b = positions[first + j];
          const double q = charges[first + j];
          const double r2 = a.v + b.v - (a.x * b.x + a.y * b.y + a.z * b.z);
          const double v = exp(-exponent_scale * r2);
          f.component[0] += q * v;
          f.component[1] += 2 * q * v * (a.x - b.x);
          f.component[2] += 2 * q * v * (a.y - b.y);
          f.component[3] += 2 * q * v * (a.z - b.z);
          f.scale += fabs(q) * v;
        }
      }
    }
  }
  expected[at] = f;
}

__global__ void __launch_bounds__(block_threads)
    compare(const Vector* forces, const Force* expected, Extent e, double bound,
            VerificationReport* report) {
  const std::int64_t at = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (at >= e.boxes() * e.pitch || at % e.pitch >= e.particles) return;
  const double got[4] = {forces[at].v, forces[at].x, forces[at].y, forces[at].z};
  for (int c = 0; c < 4; ++c) {
    const double right = expected[at].component[c];
    const double error = fabs(got[c] - right) / expected[at].scale;
    report->add(error, bound, {at / e.pitch, at % e.pitch * 4 + c, got[c], right});
  }
}

class DeviceInstance final : public InstanceOf<Problem> {
 public:
  DeviceInstance(const Parameters& p, std::uint64_t seed)
      : seed_(seed),
        extent_{static_cast<int>(p.integer("boxes1d")), static_cast<int>(p.integer("particles")),
                pitch_of(static_cast<int>(p.integer("particles")))},
        elements_(extent_.boxes() * extent_.pitch),
        positions_(static_cast<std::size_t>(elements_)),
        charges_(static_cast<std::size_t>(elements_)),
        forces_(static_cast<std::size_t>(elements_)),
        neighbours_(static_cast<std::size_t>(extent_.boxes())) {
    launch(fill_table, shape(extent_.boxes()), nullptr, neighbours_.data(), extent_);
    problem_ = {positions_.data(),
                charges_.data(),
                neighbours_.data(),
                forces_.data(),
                static_cast<int>(extent_.boxes()),
                extent_.particles,
                extent_.pitch};
    make_input();
  }

  const Problem& problem() const override { return problem_; }
  void reset(Stream stream) override { forces_.poison(stream); }
  int challenges() const override { return 1; }
  void pose(int challenge) override {
    if (challenge == input_) return;
    input_ = challenge;
    make_input();
  }

  Verdict verify() override {
    Expected& expected = expected_[input_];
    if (expected.forces.size() == 0) compute(expected);
    if (!expected.on_cpu.passed) return expected.on_cpu;
    const DeviceReport report;
    launch(compare, shape(elements_), nullptr, forces_.data(), expected.forces.data(), extent_,
           bound(), report.data());
    Verdict v;
    v.norm = "max abs error / sum of magnitudes";
    v.bound = bound();
    v.checked = extent_.boxes() * extent_.particles * 4;
    return report.complete(v, "got");
  }

 private:
  static constexpr int boxes_on_cpu = 48;

  // Of one input: it is computed once, however many configs are verified.
  struct Expected {
    DeviceArray<Force> forces;
    Verdict on_cpu;  // the expected forces themselves
  };

  static LaunchShape shape(std::int64_t count) {
    return {dim3(static_cast<unsigned>(ceil_div(count, block_threads))), dim3(block_threads)};
  }
  double bound() const { return error_bound(double{most_neighbours} * extent_.particles); }

  void make_input() {
    launch(fill, shape(elements_), nullptr, positions_.data(), charges_.data(), extent_, seed_,
           input_);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  void compute(Expected& expected) {
    expected.forces = DeviceArray<Force>(static_cast<std::size_t>(elements_));
    launch(reference, shape(elements_), nullptr, positions_.data(), charges_.data(), extent_,
           expected.forces.data());
    const Setup setup{seed_, input_, extent_.boxes1d, extent_.particles};
    Verdict v;
    v.norm = "the reference on the device against the CPU, max abs error / sum of magnitudes";
    v.bound = bound();
    std::vector<Force> got(static_cast<std::size_t>(extent_.particles));
    for (const int box : sampled_boxes(extent_.boxes1d, boxes_on_cpu, seed_)) {
      AMASIA_CUDA(cudaMemcpy(got.data(), expected.forces.data() + std::int64_t{box} * extent_.pitch,
                             got.size() * sizeof(Force), cudaMemcpyDeviceToHost));
      compare_box(box, got, reference_forces(setup, box), v);
    }
    expected.on_cpu = v;
  }

  std::uint64_t seed_;
  Extent extent_;
  std::int64_t elements_;
  DeviceArray<Vector> positions_;
  DeviceArray<double> charges_;
  DeviceArray<Vector> forces_;
  DeviceArray<Neighbours> neighbours_;
  Expected expected_[2];
  Problem problem_;
  int input_ = 0;
};

const bool registered = register_instance<DeviceInstance>("lavamd");

}  // namespace
}  // namespace amasia::lavamd
