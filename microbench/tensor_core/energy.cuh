// Power and energy of work that fills the device: windows in which NVML's energy counter is read,
// and the points that are made of them.
#pragma once

#include <chrono>

#include "harness/nvml.hpp"
#include "microbench/tensor_core/mma_points.cuh"

namespace amasia::tensor {

/// Work that fills the device for milliseconds.
struct Load {
  double operations = 0;
  std::function<void()> enqueue{};
  std::function<double()> clock_mhz{};  // of the last launch
};

inline double clock_of(const DeviceArray<Stamp>& taken) {
  return *timed(0, first_of(taken)).clock_mhz;
}

/// All SMs multiply. Verify the instruction before.
template <class I>
Load mma_load(Fill fill, const Device& device, Stream stream) {
  auto o = std::make_shared<const MmaOperands<I>>(fill, true);
  constexpr int iterations = 2000;
  const auto blocks = static_cast<unsigned>(device.sm_count);
  return {mma_operations<I> * blocks * (rate_threads / 32) * mma_per_loop * iterations,
          [o, blocks, stream] {
            launch_mma<I, rate_chains>(*o, blocks, rate_threads, Walks{{iterations, 0, 0}}, stream);
          },
          [o] { return clock_of(o->taken); }};
}

/// What was measured in a window.
struct Draw {
  double watts = 0;  // 0: the counter did not advance twice
  double rate = 0;   // 1e12 operations per second
  double clock_mhz = 0;
};

/// Launches for about `seconds` and reads the counter all the while. Begins when all that was
/// enqueued before has ended. The power is the difference between the first and the last step of
/// the counter that were seen, which it takes in tens of milliseconds.
inline Draw draw_of(const Load& load, double launch_s, double seconds, const Nvml& nvml,
                    Stream stream) {
  struct Step {
    std::chrono::steady_clock::time_point at;
    std::uint64_t millijoules;
  };
  const int launches = std::max(1, static_cast<int>(seconds / launch_s));
  const OwnedEvent start, stop;
  AMASIA_CUDA(cudaEventRecord(start, stream));
  for (int i = 0; i < launches; ++i) load.enqueue();
  AMASIA_CUDA(cudaEventRecord(stop, stream));
  while (cudaEventQuery(start) == cudaErrorNotReady) continue;
  std::vector<Step> steps;
  std::uint64_t last = nvml.total_energy_mj().value_or(0);
  while (cudaEventQuery(stop) == cudaErrorNotReady) {
    const std::uint64_t now = nvml.total_energy_mj().value_or(last);
    if (now != last) steps.push_back({std::chrono::steady_clock::now(), now});
    last = now;
  }
  finish(stream);
  float ms = 0;
  AMASIA_CUDA(cudaEventElapsedTime(&ms, start, stop));
  Draw draw;
  draw.rate = load.operations * launches / ms * 1e-9;
  draw.clock_mhz = load.clock_mhz();
  if (steps.size() >= 2) {
    const std::chrono::duration<double> between = steps.back().at - steps.front().at;
    draw.watts = 1e-3 * static_cast<double>(steps.back().millijoules - steps.front().millijoules) /
                 between.count();
  }
  return draw;
}

inline void expect_power(const Draw& draw, const char* window) {
  if (draw.watts > 0) return;
  throw std::runtime_error(std::string("NVML's energy counter did not advance twice within ") +
                           window);
}

/// Empty where the energy of this device can be read, and in tests, which have none.
inline std::string without_energy(const Device& device) {
  if (device.pci_bus_id.empty()) return "";
  const Nvml nvml(device.pci_bus_id);
  if (nvml.total_energy_mj()) return "";
  return "NVML has no energy counter for this device" +
         (nvml.available() ? "" : ": " + nvml.reason());
}

/// Power, sustained rate and efficiency, at the coordinates of `like`, of the same windows.
/// `prepare(device, stream)` makes ready; window(i) is the i-th.
template <class Prepare, class Window>
void add_draws(std::vector<Point>& points, const Point& like, const Device& device,
               const Prepare& prepare, const Window& window) {
  const auto add = [&](const char* quantity, std::string unit, bool larger, auto value) {
    Point& p = points.emplace_back(like);
    p.quantity = quantity;
    p.unit = std::move(unit);
    p.larger_is_better = larger;
    if (p.unsupported.empty()) p.unsupported = without_energy(device);
    p.prepare = [prepare, window, value](const Device& d, Stream stream) -> Sampling {
      prepare(d, stream);
      return [window, value, i = std::size_t{0}]() mutable {
        const Draw draw = window(i++);
        return Reading{value(draw), {}, {}, draw.clock_mhz};
      };
    };
  };
  add("power", "W", false, [](const Draw& d) { return d.watts; });
  add("sustained", like.unit, true, [](const Draw& d) { return d.rate; });
  add("efficiency", like.unit + "/W", true, [](const Draw& d) { return d.rate / d.watts; });
}

}  // namespace amasia::tensor
