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

#include <chrono>

#include "harness/nvml.hpp"
#include "microbench/tensor_core/mma_points.cuh"
#include "microbench/tensor_core/wgmma_run.cuh"

namespace amasia::tensor {
namespace {

using Clock = std::chrono::steady_clock;

struct Sample {
  double watts = 0;
  double rate = 0;  // 1e12 operations per second
  double clock_mhz = 0;
};

/// Work that fills the device for milliseconds.
struct Load {
  double operations = 0;
  std::function<void()> enqueue{};
  std::function<double()> clock_mhz{};  // of the last launch
};

double clock_of(const DeviceArray<Stamp>& taken) {
  Stamp stamp[max_walks];
  taken.download(stamp);
  return 1e3 * static_cast<double>(stamp[0].cycles) / static_cast<double>(stamp[0].nanoseconds);
}

/// Keeps the device busy for about `seconds` and reads the counter all the while.
Sample busy(const Load& load, double launch_s, double seconds, const Nvml& nvml, Stream stream) {
  const OwnedEvent start, stop;
  const int launches = std::max(1, static_cast<int>(seconds / launch_s));
  AMASIA_CUDA(cudaEventRecord(start, stream));
  for (int i = 0; i < launches; ++i) load.enqueue();
  AMASIA_CUDA(cudaEventRecord(stop, stream));
  struct Step {
    Clock::time_point at;
    std::uint64_t millijoules;
  };
  std::vector<Step> steps;
  std::uint64_t last = nvml.total_energy_mj().value_or(0);
  while (cudaEventQuery(stop) == cudaErrorNotReady) {
    const std::uint64_t now = nvml.total_energy_mj().value_or(last);
    if (now != last) steps.push_back({Clock::now(), now});
    last = now;
  }
  AMASIA_CUDA(cudaStreamSynchronize(stream));
  AMASIA_CUDA(cudaGetLastError());
  float ms = 0;
  AMASIA_CUDA(cudaEventElapsedTime(&ms, start, stop));
  Sample s;
  s.rate = load.operations * launches / ms * 1e-9;
  s.clock_mhz = load.clock_mhz();
  if (steps.size() >= 2) {
    const std::chrono::duration<double> between = steps.back().at - steps.front().at;
    s.watts = 1e-3 * static_cast<double>(steps.back().millijoules - steps.front().millijoules) /
              between.count();
  }
  return s;
}

/// The samples of one load, taken once and shared by the points of its power and its efficiency.
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
    busy(load_, launch_s_, window_s, *nvml_, stream_);
  }
  const Sample& at(std::size_t i) {
    while (samples_.size() <= i) {
      samples_.push_back(busy(load_, launch_s_, window_s, *nvml_, stream_));
      if (samples_.back().watts <= 0) {
        throw std::runtime_error("NVML's energy counter did not advance twice within 350 ms");
      }
    }
    return samples_[i];
  }

 private:
  static constexpr double window_s = 0.35;
  Prepare prepare_;
  std::unique_ptr<Nvml> nvml_{};
  Stream stream_{};
  Load load_{};
  double launch_s_ = 0;
  std::vector<Sample> samples_{};
};

void add_series(std::vector<Point>& points, const Point& like, const Device& device,
                Series::Prepare prepare) {
  const auto series = std::make_shared<Series>(std::move(prepare));
  const auto add = [&](const char* quantity, std::string unit, bool larger, auto value) {
    Point p = like;
    p.quantity = quantity;
    p.unit = std::move(unit);
    p.larger_is_better = larger;
    // No bus id: a device that is not here, in tests.
    if (p.unsupported.empty() && !device.pci_bus_id.empty()) {
      const Nvml nvml(device.pci_bus_id);
      if (!nvml.total_energy_mj()) {
        p.unsupported = "NVML has no energy counter for this device" +
                        (nvml.available() ? "" : ": " + nvml.reason());
      }
    }
    p.prepare = [series, value](const Device& d, Stream stream) -> Sampling {
      series->prepare(d, stream);
      return [series, value, i = std::size_t{0}]() mutable {
        const Sample& s = series->at(i++);
        Reading r;
        r.value = value(s);
        r.clock_mhz = s.clock_mhz;
        return r;
      };
    };
    points.push_back(std::move(p));
  };
  const std::string rate = like.unit;
  add("power", "W", false, [](const Sample& s) { return s.watts; });
  add("sustained", rate, true, [](const Sample& s) { return s.rate; });
  add("efficiency", rate + "/W", true, [](const Sample& s) { return s.rate / s.watts; });
}

template <class I>
void add_mma_energy(std::vector<Point>& points, const Device& device) {
  Point like = mma_point<I, rate_chains>(device, "", rate_unit(I::element));
  like.at.insert(like.at.begin(), {"instruction", "mma"});
  like.at.emplace_back("data", "random");
  add_series(points, like, device, [](const Device& d, Stream stream) {
    verify_mma<I, rate_chains>(stream);
    auto o = std::make_shared<const MmaOperands<I>>(Fill::random, true);
    constexpr int iterations = 2000;
    const auto blocks = static_cast<unsigned>(d.sm_count);
    return Load{
        mma_operations<I> * blocks * (rate_threads / 32) * mma_per_loop * iterations,
        [o, blocks, stream] {
          launch_mma<I, rate_chains>(*o, blocks, rate_threads, Walks{{iterations, 0, 0}}, stream);
        },
        [o] { return clock_of(o->taken); }};
  });
}

template <Element E, Sum S, Mode M>
void add_wgmma_energy(std::vector<Point>& points, const Device& device, Fill fill) {
  using Run = WgmmaRun<Wgmma<E, S, 256>, M, Source::shared>;
  Point like = Run::template point<Waits::behind>(device, "", rate_unit(E));
  like.at.insert(like.at.begin(), {"instruction", "wgmma"});
  like.at.emplace_back("data", fill == Fill::zero ? "zero" : "random");
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
    const double picojoules = 1 / p.value;
    found.push_back({p.at, "energy per operation", "pJ", picojoules, picojoules, picojoules,
                     "One over the efficiency: board power, idle power included"});
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"tensor_core/energy", "What does a product cost in watts and joules, and what lasts?",
     "All SMs multiply for 350 ms per sample after 350 ms to settle; power from the steps of "
     "NVML's "
     "energy counter, throughput from events, efficiency from both; random data and zeros.",
     points, findings});

}  // namespace
}  // namespace amasia::tensor
