// tensor_core/energy_data: how much of the power and energy of mma.sync depends on its data (Luo et
// al. 2024, Table XI)?
//
// Method: as tensor_core/energy: all SMs multiply, windows of 250 ms, power from the steps of
// NVML's energy counter. Random data and zeros take turns of four windows, so that both are of one
// GPU at one temperature. An unrecorded second of the same data precedes the windows of a turn, in
// which clock and power settle: 200 ms behind zeros, random data still drew more than the board may
// over time. Largest shape of each type. The findings are the ratios of zeros to random data, of
// the energy of an operation and of the power.

#include <algorithm>
#include <array>
#include <chrono>

#include "harness/nvml.hpp"
#include "microbench/tensor_core/mma_points.cuh"

namespace amasia::tensor {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::array<Fill, 2> fills{Fill::random, Fill::zero};
constexpr double window_of_data_s = 0.25, settling_s = 1;
constexpr int windows_a_turn = 4;

const char* word_of_fill(Fill fill) { return fill == Fill::zero ? "zero" : "random"; }

struct Draw {
  double watts = 0;
  double rate = 0;  // 1e12 operations per second
  double clock_mhz = 0;
};

/// The energy counter at the first and the last of its steps that were seen.
class Steps {
 public:
  explicit Steps(const Nvml& nvml) : nvml_(nvml), last_(nvml.total_energy_mj().value_or(0)) {}

  void look() {
    const std::uint64_t now = nvml_.total_energy_mj().value_or(last_);
    if (now == last_) return;
    last_ = now;
    end_ = {SteadyClock::now(), now};
    if (seen_++ == 0) begin_ = end_;
  }

  /// 0 before the second step.
  double watts() const {
    if (seen_ < 2) return 0;
    const std::chrono::duration<double> between = end_.at - begin_.at;
    return 1e-3 * static_cast<double>(end_.millijoules - begin_.millijoules) / between.count();
  }

 private:
  struct Step {
    SteadyClock::time_point at{};
    std::uint64_t millijoules = 0;
  };
  const Nvml& nvml_;
  std::uint64_t last_;
  int seen_ = 0;
  Step begin_{}, end_{};
};

/// Windows of one instruction on both fills in turn, shared by all of its points.
template <class I>
class InTurn {
 public:
  void prepare(const Device& device, Stream stream) {
    if (operands_[0]) return;
    verify_mma<I, rate_chains>(stream);
    stream_ = stream;
    blocks_ = static_cast<unsigned>(device.sm_count);
    nvml_ = std::make_unique<Nvml>(device.pci_bus_id);
    for (std::size_t f = 0; f < fills.size(); ++f) {
      operands_[f] = std::make_unique<const MmaOperands<I>>(fills[f], true);
    }
    launch_s_ = 1e-3 * ceilings::warm_milliseconds(stream, [this] { launch(0); });
  }

  const Draw& at(std::size_t fill, std::size_t i) {
    while (windows_[fill].size() <= i) {
      for (std::size_t f = 0; f < fills.size(); ++f) {
        for (int n = launches_in(settling_s); n > 0; --n) launch(f);
        for (int w = 0; w < windows_a_turn; ++w) windows_[f].push_back(window(f));
      }
    }
    return windows_[fill][i];
  }

 private:
  static constexpr int iterations = 2000;

  void launch(std::size_t fill) const {
    launch_mma<I, rate_chains>(*operands_[fill], blocks_, rate_threads, Walks{{iterations, 0, 0}},
                               stream_);
  }

  int launches_in(double seconds) const {
    return std::max(1, static_cast<int>(seconds / launch_s_));
  }

  /// Begins when all that was enqueued before has ended.
  Draw window(std::size_t fill) const {
    const OwnedEvent start, stop;
    AMASIA_CUDA(cudaEventRecord(start, stream_));
    const int launches = launches_in(window_of_data_s);
    for (int i = 0; i < launches; ++i) launch(fill);
    AMASIA_CUDA(cudaEventRecord(stop, stream_));
    while (cudaEventQuery(start) == cudaErrorNotReady) continue;
    Steps steps(*nvml_);
    while (cudaEventQuery(stop) == cudaErrorNotReady) steps.look();
    AMASIA_CUDA(cudaStreamSynchronize(stream_));
    AMASIA_CUDA(cudaGetLastError());
    float ms = 0;
    AMASIA_CUDA(cudaEventElapsedTime(&ms, start, stop));
    Stamp stamp[max_walks];
    operands_[fill]->taken.download(stamp);
    Draw draw;
    draw.watts = steps.watts();
    if (draw.watts <= 0) {
      throw std::runtime_error("NVML's energy counter did not advance twice within 250 ms");
    }
    draw.rate = mma_operations<I> * blocks_ * (rate_threads / 32) * mma_per_loop * iterations *
                launches / ms * 1e-9;
    draw.clock_mhz =
        1e3 * static_cast<double>(stamp[0].cycles) / static_cast<double>(stamp[0].nanoseconds);
    return draw;
  }

  std::unique_ptr<Nvml> nvml_{};
  Stream stream_{};
  unsigned blocks_ = 0;
  double launch_s_ = 0;
  std::array<std::unique_ptr<const MmaOperands<I>>, fills.size()> operands_{};
  std::array<std::vector<Draw>, fills.size()> windows_{};
};

/// Empty where the energy of this device can be read, and in tests, which have none.
std::string without_energy(const Device& device) {
  if (device.pci_bus_id.empty()) return "";
  const Nvml nvml(device.pci_bus_id);
  if (nvml.total_energy_mj()) return "";
  return "NVML has no energy counter for this device" +
         (nvml.available() ? "" : ": " + nvml.reason());
}

template <class I>
void add(std::vector<Point>& points, const Device& device) {
  const auto windows = std::make_shared<InTurn<I>>();
  const std::string rate = rate_unit(I::element);
  for (std::size_t f = 0; f < fills.size(); ++f) {
    const auto add_quantity = [&](const char* quantity, std::string unit, bool larger, auto value) {
      Point p = mma_point<I, rate_chains>(device, quantity, std::move(unit));
      p.at.emplace_back("data", word_of_fill(fills[f]));
      p.larger_is_better = larger;
      if (p.unsupported.empty()) p.unsupported = without_energy(device);
      p.prepare = [windows, f, value](const Device& d, Stream stream) -> Sampling {
        windows->prepare(d, stream);
        return [windows, f, value, i = std::size_t{0}]() mutable {
          const Draw& draw = windows->at(f, i++);
          Reading r;
          r.value = value(draw);
          r.clock_mhz = draw.clock_mhz;
          return r;
        };
      };
      points.push_back(std::move(p));
    };
    add_quantity("power", "W", false, [](const Draw& d) { return d.watts; });
    add_quantity("sustained", rate, true, [](const Draw& d) { return d.rate; });
    add_quantity("efficiency", rate + "/W", true, [](const Draw& d) { return d.rate / d.watts; });
  }
}

std::vector<Point> points(const Device& d, Scope scope) {
  std::vector<Point> all;
  add<Mma<Element::f16, Sum::f32, 16, Mode::dense>>(all, d);
  if (scope == Scope::quick) return all;
  add<Mma<Element::f16, Sum::f16, 16, Mode::dense>>(all, d);
  add<Mma<Element::tf32, Sum::f32, 8, Mode::dense>>(all, d);
  add<Mma<Element::s8, Sum::s32, 32, Mode::dense>>(all, d);
  add<Mma<Element::f16, Sum::f16, 32, Mode::sparse>>(all, d);
  add<Mma<Element::f16, Sum::f32, 32, Mode::sparse>>(all, d);
  add<Mma<Element::tf32, Sum::f32, 16, Mode::sparse>>(all, d);
  add<Mma<Element::s8, Sum::s32, 64, Mode::sparse>>(all, d);
  return all;
}

std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  const auto of = [&](Coordinates at, const std::string& quantity, const char* data) -> double {
    for (auto& [name, value] : at) {
      if (name == "data") value = data;
    }
    for (const MeasuredPoint& p : measured) {
      if (p.quantity == quantity && p.at == at) return p.value;
    }
    return 0;
  };
  std::vector<Finding> found;
  for (const MeasuredPoint& p : measured) {
    if (p.quantity != "power" || value_of(p.at, "data") != "zero") continue;
    Coordinates at = p.at;
    at.pop_back();  // data, of which the finding is a quotient
    const auto add_share = [&](const char* quantity, double share, const char* how) {
      if (share > 0 && share < 1e6) {
        found.push_back({at, quantity, "share", share, share, share, how});
      }
    };
    const double random_power = of(p.at, "power", "random");
    if (random_power > 0) {
      add_share("power on zeros", p.value / random_power,
                "Power on zeros over power on random data, board included");
    }
    const double zeros = of(p.at, "efficiency", "zero");
    if (zeros > 0) {
      add_share("energy on zeros", of(p.at, "efficiency", "random") / zeros,
                "Energy of an operation on zeros over that on random data, board included");
    }
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"tensor_core/energy_data", "How much of the power and energy of mma.sync is its data?",
     "As tensor_core/energy, mma.sync alone, on random data and on zeros in turn: four windows of "
     "250 ms behind a second of the same data; power from the steps of NVML's energy counter.",
     points, findings});

}  // namespace
}  // namespace amasia::tensor
