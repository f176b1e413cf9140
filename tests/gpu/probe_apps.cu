// Small apps that exist to test the harness on a device. `pace`: y = 2 x + 1, and the same with
// 3 % more work. `trouble`: variants that hang, fault, over-allocate and compute wrong values.
// `careless` poisons nothing. `aside` has a variant half of whose work is in a stream of its own.
#include <fmt/format.h>

#include <vector>

#include "harness/app.hpp"
#include "harness/variant.hpp"
#include "inputs/random.hpp"
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
  ProbeInstance(std::int64_t n, std::uint64_t seed, bool poisons = true)
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

class ProbeApp : public App {
 public:
  explicit ProbeApp(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "y = 2 x + 1, to test the harness"; }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs{
        {"n", ParameterSpec::Kind::integer, "elements", "1000000", 1, INT64_MAX}};
    return specs;
  }
  std::vector<Parameters> sizes(Preset preset) const override {
    const char* n = preset == Preset::smoke ? "1000003" : "67108864";
    return {Parameters(parameters(), {{"n", n}})};
  }
  Work work(const Parameters& p) const override {
    const auto n = static_cast<double>(p.integer("n"));
    return {2 * n, Work::Kind::fp32, 4 * n, 4 * n, 0};
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    return checked_product({p.integer("n"), 8}, "two vectors");
  }
  Verdict check_reference(const Parameters& p, std::uint64_t) const override {
    return {true, "exact", 0, 0, p.integer("n"), 0};
  }

 private:
  std::string name_;
};

ConfigOf<Vectors> config(const char* name, void (*kernel)(Vectors, std::int64_t),
                         double extra_share) {
  ConfigOf<Vectors> c;
  c.info = {name, {{"threads", threads}}, {{reinterpret_cast<const void*>(kernel), threads}}};
  c.prepare = [kernel, extra_share](const Vectors& v, const Device& d) -> Launch {
    const LaunchShape shape{dim3(static_cast<unsigned>(8 * d.sm_count)), dim3(threads)};
    const auto again = static_cast<std::int64_t>(extra_share * static_cast<double>(v.n));
    return [=](Stream stream) { launch(kernel, shape, stream, v, again); };
  };
  return c;
}

/// A config around any launch, for the troublesome ones.
ConfigOf<Vectors> config(const char* name, const void* kernel,
                         std::function<Launch(Vectors)> make) {
  ConfigOf<Vectors> c;
  c.info = {name, {}, {{kernel, threads}}};
  c.prepare = [make](const Vectors& v, const Device&) { return make(v); };
  return c;
}

std::unique_ptr<Instance> make_instance(const Parameters& p, std::uint64_t seed) {
  return std::make_unique<ProbeInstance>(p.integer("n"), seed);
}

std::unique_ptr<Instance> make_careless_instance(const Parameters& p, std::uint64_t seed) {
  return std::make_unique<ProbeInstance>(p.integer("n"), seed, false);
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

const bool registered =
    register_app(std::make_unique<ProbeApp>("pace")) &&
    register_instance_factory("pace", make_instance) &&
    register_variant<Vectors>("pace", Strategy::baseline, {config("iso", scale, 0)}) &&
    register_variant<Vectors>("pace", Strategy::overlap, {config("iso", scale, 0.03)}) &&
    register_app(std::make_unique<ProbeApp>("trouble")) &&
    register_instance_factory("trouble", make_instance) &&
    register_variant<Vectors>("trouble", Strategy::baseline, {config("iso", scale, 0)}) &&
    register_variant<Vectors>("trouble", Strategy::register_bypass,
                              {config("iso", reinterpret_cast<const void*>(fault),
                                      [](Vectors v) -> Launch {
                                        return [v](Stream s) { fault<<<1, threads, 0, s>>>(v); };
                                      })}) &&
    register_variant<Vectors>("trouble", Strategy::overlap,
                              {config("iso", reinterpret_cast<const void*>(hang),
                                      [](Vectors v) -> Launch {
                                        return [v](Stream s) { hang<<<1, 1, 0, s>>>(v.y); };
                                      })}) &&
    register_variant<Vectors>("trouble", Strategy::drop_off,
                              {config("iso", reinterpret_cast<const void*>(scale),
                                      [](Vectors) -> Launch {
                                        auto scratch =
                                            std::make_shared<DeviceBytes>(std::size_t{1} << 50);
                                        return [scratch](Stream) {};
                                      })}) &&
    register_variant<Vectors>("trouble", Strategy::tma,
                              {config("iso", reinterpret_cast<const void*>(wrong_at_the_end),
                                      [](Vectors v) -> Launch {
                                        return [v](Stream s) {
                                          wrong_at_the_end<<<1024, threads, 0, s>>>(v);
                                        };
                                      })}) &&
    register_app(std::make_unique<ProbeApp>("careless")) &&
    register_instance_factory("careless", make_careless_instance) &&
    register_variant<Vectors>("careless", Strategy::baseline, {config("iso", scale, 0)}) &&
    register_app(std::make_unique<ProbeApp>("aside")) &&
    register_instance_factory("aside", make_instance) &&
    register_variant<Vectors>("aside", Strategy::baseline, {config("iso", scale, 0)}) &&
    register_variant<Vectors>("aside", Strategy::overlap,
                              {config("iso", reinterpret_cast<const void*>(scale), half_aside)});

}  // namespace
}  // namespace amasia
