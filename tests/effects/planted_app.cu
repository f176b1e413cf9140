// An app whose answer is known before it runs. Each variant does the baseline's work and a known
// share more or less; two do exactly as much. The test tests/cli/test_other_apps.py compares the
// claims of the whole pipeline with that. The strategies' names are only names here.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "harness/app.hpp"
#include "harness/variant.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"

namespace amasia::effects {
namespace {

constexpr int threads = 512;  // 4 warps for each scheduler of an SM
constexpr int chains = 4;     // as many as an FMA takes cycles: none waits for the one before

/// Every step adds 1 to each chain, exactly below 2^24. `one` is an argument, because the compiler
/// would know the outcome otherwise; every thread's result is needed, so that none can be left out.
__global__ void __launch_bounds__(threads) count(std::int64_t steps, float one, float* counts) {
  float v[chains] = {};
#pragma unroll 1
  for (std::int64_t i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < chains; ++k) v[k] = fmaf(v[k], one, one);
  }
  const float sum = (v[0] + v[1]) + (v[2] + v[3]);
  const int right = __syncthreads_count(sum == static_cast<float>(chains * steps));
  if (threadIdx.x == 0) counts[blockIdx.x] = right == threads ? sum : -1;
}

/// Every plant is a whole number of thousandths of the work, so that n(1 + x) is exact.
constexpr std::int64_t thousand = 1000, most = 30, least = -10;

struct Plot {
  std::int64_t thousands = 0;  // steps of the baseline
  unsigned blocks = 0;
  float* counts = nullptr;
};

class PlotInstance : public InstanceOf<Plot> {
 public:
  PlotInstance(std::int64_t thousands, std::int64_t blocks)
      : counts_(static_cast<std::size_t>(blocks)),
        problem_{thousands, static_cast<unsigned>(blocks), counts_.data()} {}
  const Plot& problem() const override { return problem_; }
  void reset(Stream stream) override { counts_.poison(stream); }
  /// All blocks did as much, and that is what some variant does.
  Verdict verify() override {
    Verdict v{true, "exact, and the amount among those that are planted", 0, 0, 0, 0};
    std::vector<float> counts(counts_.size());
    counts_.download(counts.data());
    v.checked = static_cast<std::int64_t>(counts.size());
    const std::int64_t unit = chains * problem_.thousands;
    for (const float count : counts) {
      const bool right = count >= static_cast<float>(unit * (thousand + least)) &&
                         count <= static_cast<float>(unit * (thousand + most)) &&
                         count == counts[0];
      if (!right) ++v.mismatches;
    }
    v.passed = v.mismatches == 0;
    v.error = static_cast<double>(v.mismatches);
    return v;
  }

 private:
  DeviceArray<float> counts_;
  Plot problem_;
};

class PlantedApp : public App {
 public:
  std::string_view name() const override { return "planted"; }
  std::string_view summary() const override {
    return "the same work and a known share more or less of it";
  }
  const std::vector<ParameterSpec>& parameters() const override {
    using Kind = ParameterSpec::Kind;
    static const std::vector<ParameterSpec> specs{
        {"thousands", Kind::integer, "steps of the baseline, by the thousand", "1", 1, 4000},
        {"blocks", Kind::integer, "one for each SM", "132", 1, 100000}};
    return specs;
  }
  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<Parameters> sizes;
    for (const char* thousands : {"1", "5", "25"}) {  // about 20, 80 and 400 us on an H200
      sizes.emplace_back(parameters(),
                         std::map<std::string, std::string>{{"thousands", thousands}});
      if (preset == Preset::smoke) break;
    }
    return sizes;
  }
  Work work(const Parameters& p) const override {
    Work w;
    w.operations = 2.0 * thousand * static_cast<double>(p.integer("thousands")) * chains * threads *
                   static_cast<double>(p.integer("blocks"));
    return w;
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    return checked_product({p.integer("blocks"), sizeof(float)}, "counts");
  }
  /// That a chain counts exactly as far as the largest amount.
  Verdict check_reference(const Parameters& p, std::uint64_t) const override {
    const std::int64_t steps = p.integer("thousands") * (thousand + most);
    float chain = 0;
    for (std::int64_t i = 0; i < steps; ++i) chain = chain * 1 + 1;
    const bool right = chain == static_cast<float>(steps);
    return {right, "exact", right ? 0.0 : 1.0, 0, steps, right ? 0 : 1};
  }
};

ConfigOf<Plot> config(const std::string& name, int plant) {
  ConfigOf<Plot> c;
  c.info.name = name;
  c.info.geometry = {{"thousandths_more", plant}};
  c.info.kernels = {{reinterpret_cast<const void*>(count), threads}};
  c.prepare = [plant](const Plot& p, const Device&) -> Launch {
    const std::int64_t steps = p.thousands * (thousand + plant);
    return [p, steps](Stream s) {
      count<<<p.blocks, threads, 0, s>>>(steps, 1, p.counts);
      AMASIA_CUDA(cudaGetLastError());
    };
  };
  return c;
}

bool register_planted() {
  register_app(std::make_unique<PlantedApp>());
  register_instance_factory(
      "planted", [](const Parameters& p, std::uint64_t) -> std::unique_ptr<Instance> {
        return std::make_unique<PlotInstance>(p.integer("thousands"), p.integer("blocks"));
      });
  constexpr std::array<std::pair<Strategy, int>, 6> plants{{{Strategy::baseline, 0},
                                                            {Strategy::register_bypass, 0},
                                                            {Strategy::overlap, 3},
                                                            {Strategy::drop_off, 10},
                                                            {Strategy::tma, -10},
                                                            {Strategy::dsm, -10}}};
  for (const auto& [strategy, plant] : plants) {
    register_variant<Plot>("planted", strategy, {config("iso", plant)});
  }
  register_comparator<Plot>("planted", "none", {config("none", 0)});
  return register_comparator<Plot>("planted", "three_percent", {config("more", 30)});
}

const bool registered = register_planted();

}  // namespace
}  // namespace amasia::effects
