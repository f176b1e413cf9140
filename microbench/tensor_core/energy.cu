// tensor_core/energy: power and energy of a product, and its rate at the power limit over seconds
// (Luo et al. 2024, Table XI).
//
// Method: all SMs multiply, as in tensor_core/mma and tensor_core/wgmma, in launches of
// milliseconds that are enqueued for 350 ms at a time, behind an unrecorded 350 ms that let clock
// and power settle. Power is the difference of NVML's energy counter between the first and the last
// of its steps that were seen meanwhile (it advances in tens of milliseconds), over the time
// between; throughput comes from events. Efficiency is one over the other, from the same samples;
// the whole board counts, its idle power too. Largest shape of each type, random data; wgmma on
// zeros as well.

#include "microbench/tensor_core/energy.cuh"
#include "microbench/tensor_core/wgmma_run.cuh"

namespace amasia::tensor {
namespace {

/// The windows of one load, measured once and shared by the points of its power and its efficiency.
class Series {
 public:
  using Prepare = std::function<Load(const Device&, Stream)>;
  explicit Series(Prepare prepare) : prepare_(std::move(prepare)) {}

  void prepare(const Device& device, Stream stream) {
    if (load_.enqueue) return;
    nvml_ = std::make_unique<Nvml>(device.pci_bus_id);
    stream_ = stream;
    load_ = prepare_(device, stream);
    launch_s_ = 1e-3 * ceilings::warm_milliseconds(stream, load_.enqueue);
    draw_of(load_, launch_s_, window_s, *nvml_, stream_);
  }
  const Draw& at(std::size_t i) {
    while (draws_.size() <= i) {
      draws_.push_back(draw_of(load_, launch_s_, window_s, *nvml_, stream_));
      expect_power(draws_.back(), "350 ms");
    }
    return draws_[i];
  }

 private:
  static constexpr double window_s = 0.35;
  Prepare prepare_;
  std::unique_ptr<Nvml> nvml_{};
  Stream stream_{};
  Load load_{};
  double launch_s_ = 0;
  std::vector<Draw> draws_{};
};

void add_series(std::vector<Point>& points, const Point& like, const Device& device,
                Series::Prepare prepare) {
  const auto series = std::make_shared<Series>(std::move(prepare));
  add_draws(
      points, like, device,
      [series](const Device& d, Stream stream) { series->prepare(d, stream); },
      [series](std::size_t i) { return series->at(i); });
}

template <class I>
void add_mma_energy(std::vector<Point>& points, const Device& device) {
  Point like = mma_point<I, rate_chains>(device, "", rate_unit(I::element));
  like.at.insert(like.at.begin(), {"instruction", "mma"});
  like.at.emplace_back("data", "random");
  add_series(points, like, device, [](const Device& d, Stream stream) {
    verify_mma<I, rate_chains>(stream);
    return mma_load<I>(Fill::random, d, stream);
  });
}

template <Element E, Sum S, Mode M>
void add_wgmma_energy(std::vector<Point>& points, const Device& device, Fill fill) {
  using Run = WgmmaRun<Wgmma<E, S, 256>, M, Source::shared>;
  Point like = Run::template point<Waits::behind>(device, "", rate_unit(E));
  like.at.insert(like.at.begin(), {"instruction", "wgmma"});
  like.at.emplace_back("data", name_of(fill));
  add_series(points, like, device, [fill](const Device& d, Stream stream) {
    Run::template verify<Waits::behind>(stream);
    auto o = std::make_shared<const typename Run::Operands>(fill, true);
    constexpr int groups = 2;
    const Walks walks{{Run::iterations(groups), 0, 0}};
    const auto blocks = static_cast<unsigned>(d.sm_count * groups);
    return Load{Run::operations * blocks * wgmma_per_loop * walks.links[0],
                [o, blocks, walks, stream] {
                  Run::template launch<Waits::behind>(*o, blocks, walks, stream);
                },
                [o] { return clock_of(o->taken); }};
  });
}

std::vector<Point> points(const Device& d, Scope scope) {
  std::vector<Point> all;
  add_wgmma_energy<Element::f16, Sum::f32, Mode::dense>(all, d, Fill::random);
  if (scope == Scope::quick) return all;
  add_wgmma_energy<Element::f16, Sum::f32, Mode::dense>(all, d, Fill::zero);
  add_wgmma_energy<Element::e4m3, Sum::f32, Mode::dense>(all, d, Fill::random);
  add_wgmma_energy<Element::e4m3, Sum::f32, Mode::dense>(all, d, Fill::zero);
  add_mma_energy<Mma<Element::f16, Sum::f16, 16, Mode::dense>>(all, d);
  add_mma_energy<Mma<Element::f16, Sum::f32, 16, Mode::dense>>(all, d);
  add_mma_energy<Mma<Element::tf32, Sum::f32, 8, Mode::dense>>(all, d);
  add_mma_energy<Mma<Element::s8, Sum::s32, 32, Mode::dense>>(all, d);
  add_mma_energy<Mma<Element::f16, Sum::f16, 32, Mode::sparse>>(all, d);
  add_mma_energy<Mma<Element::f16, Sum::f32, 32, Mode::sparse>>(all, d);
  add_mma_energy<Mma<Element::tf32, Sum::f32, 16, Mode::sparse>>(all, d);
  add_mma_energy<Mma<Element::s8, Sum::s32, 64, Mode::sparse>>(all, d);
  return all;
}

std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const MeasuredPoint& p : measured) {
    if (p.quantity != "efficiency") continue;
    found.push_back(single_finding(p.at, "energy per operation", "pJ", 1 / p.value,
                                   "One over the efficiency: board power, idle power included"));
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"tensor_core/energy", "What does a product cost in watts and joules, and what lasts?",
     "All SMs multiply for 350 ms per sample after 350 ms to settle; power from the steps of "
     "NVML's energy counter, throughput from events, efficiency from both; random data and zeros.",
     points, findings});

}  // namespace
}  // namespace amasia::tensor
