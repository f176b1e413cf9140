// Small apps that exist to test the harness on a device. `pace`: y = 2 x + 1, and the same with
// 3 % more work. `trouble`: variants that hang, fault, over-allocate and compute wrong values.
// `careless` poisons nothing. `aside` has a variant half of whose work is in a stream of its own.
#include <fmt/format.h>

#include <vector>

#include "harness/variant.hpp"
#include "inputs/random.hpp"
#include "tests/fake_apps.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"

namespace amasia {
namespace {

struct Vectors {
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t n = 0;
};

constexpr int threads = 256;

__global__ void fill(float* x, std::int64_t n, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < n; i += stride) {
    x[i] = random_unit(seed, 0, static_cast<std::uint64_t>(i));
  }
}

/// y = 2 x + 1 over n elements, then over the first `again` of them once more.
__global__ void scale(Vectors v, std::int64_t again) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t first = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  for (std::int64_t i = first; i < v.n; i += stride) v.y[i] = 2 * v.x[i] + 1;
  for (std::int64_t i = first; i < again; i += stride) v.y[i] = 2 * v.x[i] + 1;
}

__global__ void hang(volatile float* y) {
  while (y[0] != 12345.0f) {  // never written: the poisoned value stays
  }
}

__global__ void fault(Vectors v) { v.y[(std::int64_t{1} << 44) + threadIdx.x] = 1; }

__global__ void wrong_at_the_end(Vectors v) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < v.n; i += stride) {
    v.y[i] = i == v.n - 1 ? 0 : 2 * v.x[i] + 1;
  }
}

class ProbeInstance : public InstanceOf<Vectors> {
 public:
  ProbeInstance(std::int64_t n, std::uint64_t seed, bool poisons)
      : x_(static_cast<std::size_t>(n)),
        y_(static_cast<std::size_t>(n)),
        seed_(seed),
        poisons_(poisons) {
    problem_ = {x_.data(), y_.data(), n};
    fill<<<1024, threads>>>(x_.data(), n, seed);
    AMASIA_CUDA(cudaGetLastError());
  }
  const Vectors& problem() const override { return problem_; }
  void reset(Stream stream) override {
    if (poisons_) y_.poison(stream);
  }
  Verdict verify() override {
    std::vector<float> y(y_.size());
    y_.download(y.data());
    Verdict v{true, "exact", 0, 0, problem_.n, 0};
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float expected = 2 * random_unit(seed_, 0, i) + 1;
      if (y[i] == expected) continue;
      v.passed = false;
      if (++v.mismatches <= 5) {
        v.first_mismatches.push_back(fmt::format("{}: got {}, expected {}", i, y[i], expected));
      }
    }
    v.error = static_cast<double>(v.mismatches);
    return v;
  }

 private:
  DeviceArray<float> x_, y_;
  Vectors problem_;
  std::uint64_t seed_;
  bool poisons_;
};

class ProbeApp : public VectorsApp {
 public:
  explicit ProbeApp(std::string name)
      : VectorsApp(std::move(name), "y = 2 x + 1, to test the harness", "1000000") {}
  std::vector<Parameters> sizes(Preset preset) const override {
    return {of(preset == Preset::smoke ? 1000003 : 67108864)};
  }
};

/// y = 2 x + 1, and that share of it once more.
ConfigOf<Vectors> scaling(double extra_share = 0) {
  ConfigOf<Vectors> c;
  c.info = {"iso", {{"threads", threads}}, {{reinterpret_cast<const void*>(scale), threads}}};
  c.prepare = [extra_share](const Vectors& v, const Device& d) -> Launch {
    const LaunchShape shape{dim3(static_cast<unsigned>(8 * d.sm_count)), dim3(threads)};
    const auto again = static_cast<std::int64_t>(extra_share * static_cast<double>(v.n));
    return [=](Stream stream) { launch(scale, shape, stream, v, again); };
  };
  return c;
}

/// A config around any launch, for the troublesome ones.
template <class Kernel>
ConfigOf<Vectors> config(Kernel* kernel, Launch (*make)(Vectors)) {
  ConfigOf<Vectors> c;
  c.info = {"iso", {}, {{reinterpret_cast<const void*>(kernel), threads}}};
  c.prepare = [make](const Vectors& v, const Device&) { return make(v); };
  return c;
}

Launch faulting(Vectors v) {
  return [v](Stream s) { fault<<<1, threads, 0, s>>>(v); };
}
Launch hanging(Vectors v) {
  return [v](Stream s) { hang<<<1, 1, 0, s>>>(v.y); };
}
Launch too_large(Vectors) {
  auto scratch = std::make_shared<DeviceBytes>(std::size_t{1} << 50);
  return [scratch](Stream) {};
}
Launch wrong(Vectors v) {
  return [v](Stream s) { wrong_at_the_end<<<1024, threads, 0, s>>>(v); };
}
/// The second half in another stream, which nobody waits for.
Launch half_aside(Vectors v) {
  auto other = std::make_shared<OwnedStream>();
  const std::int64_t half = v.n / 2;
  const Vectors first{v.x, v.y, half}, second{v.x + half, v.y + half, v.n - half};
  return [=](Stream s) {
    scale<<<1024, threads, 0, s>>>(first, 0);
    scale<<<1024, threads, 0, *other>>>(second, 0);
  };
}

bool register_probe(const char* name,
                    const std::vector<std::pair<Strategy, ConfigOf<Vectors>>>& variants,
                    bool poisons = true) {
  register_app(std::make_unique<ProbeApp>(name));
  register_instance_factory(name, [poisons](const Parameters& p, std::uint64_t seed) {
    return std::make_unique<ProbeInstance>(p.integer("n"), seed, poisons);
  });
  for (const auto& [strategy, config] : variants) {
    register_variant<Vectors>(name, strategy, {config});
  }
  return true;
}

const bool registered =
    register_probe("pace", {{Strategy::baseline, scaling()}, {Strategy::overlap, scaling(0.03)}}) &&
    register_probe("trouble", {{Strategy::baseline, scaling()},
                               {Strategy::register_bypass, config(fault, faulting)},
                               {Strategy::overlap, config(hang, hanging)},
                               {Strategy::drop_off, config(scale, too_large)},
                               {Strategy::tma, config(wrong_at_the_end, wrong)}}) &&
    register_probe("careless", {{Strategy::baseline, scaling()}}, false) &&
    register_probe(
        "aside", {{Strategy::baseline, scaling()}, {Strategy::overlap, config(scale, half_aside)}});

}  // namespace
}  // namespace amasia
