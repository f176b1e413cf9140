// tensor_core/energy_data: how much of the power and energy of mma.sync depends on its data (Luo et
// al. 2024, Table XI)?
//
// Method: as tensor_core/energy: all SMs multiply, windows of 250 ms, power from the steps of
// NVML's energy counter. Random data and zeros take turns of four windows, so that both are of one
// GPU at one temperature. An unrecorded second of the same data precedes the windows of a turn, in
// which clock and power settle: 200 ms behind zeros, random data still drew more than the board may
// over time. Largest shape of each type. The findings are the ratios of zeros to random data, of
// the energy of an operation and of the power.

#include "microbench/tensor_core/energy.cuh"

namespace amasia::tensor {
namespace {

constexpr std::array<Fill, 2> fills{Fill::random, Fill::zero};
constexpr double window_of_data_s = 0.25, settling_s = 1;
constexpr int windows_a_turn = 4;

/// Windows of one instruction on both fills in turn, shared by all of its points.
template <class I>
class InTurn {
 public:
  void prepare(const Device& device, Stream stream) {
    if (nvml_) return;
    verify_mma<I, rate_chains>(stream);
    stream_ = stream;
    for (std::size_t f = 0; f < fills.size(); ++f)
      loads_[f] = mma_load<I>(fills[f], device, stream);
    launch_s_ = 1e-3 * ceilings::warm_milliseconds(stream, loads_[0].enqueue);
    nvml_ = std::make_unique<Nvml>(device.pci_bus_id);
  }

  const Draw& at(std::size_t fill, std::size_t i) {
    while (draws_[fill].size() <= i) {
      for (std::size_t f = 0; f < fills.size(); ++f) {
        const int settling = std::max(1, static_cast<int>(settling_s / launch_s_));
        for (int n = 0; n < settling; ++n) loads_[f].enqueue();
        for (int w = 0; w < windows_a_turn; ++w) {
          draws_[f].push_back(draw_of(loads_[f], launch_s_, window_of_data_s, *nvml_, stream_));
          expect_power(draws_[f].back(), "250 ms");
        }
      }
    }
    return draws_[fill][i];
  }

 private:
  std::unique_ptr<Nvml> nvml_{};
  Stream stream_{};
  double launch_s_ = 0;
  std::array<Load, fills.size()> loads_{};
  std::array<std::vector<Draw>, fills.size()> draws_{};
};

template <class I>
void add(std::vector<Point>& points, const Device& device) {
  const auto windows = std::make_shared<InTurn<I>>();
  for (std::size_t f = 0; f < fills.size(); ++f) {
    Point like = mma_point<I, rate_chains>(device, "", rate_unit(I::element));
    like.at.emplace_back("data", name_of(fills[f]));
    add_draws(
        points, like, device,
        [windows](const Device& d, Stream stream) { windows->prepare(d, stream); },
        [windows, f](std::size_t i) { return windows->at(f, i); });
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
  std::vector<Finding> found;
  for (const MeasuredPoint& p : measured) {
    if (p.quantity != "power" || value_of(p.at, "data") != "zero") continue;
    Coordinates at = p.at;
    at.pop_back();  // data, of which the finding is a quotient
    const auto of = [&](const char* quantity, const char* data) {
      const auto same = [&](const MeasuredPoint& other) {
        return other.quantity == quantity && has(other, at) && has(other, {{"data", data}});
      };
      const auto other = std::find_if(measured.begin(), measured.end(), same);
      return other == measured.end() ? 0 : other->value;
    };
    const auto add_share = [&](const char* quantity, double share, const char* how) {
      if (share > 0 && share < 1e6) {
        found.push_back(single_finding(at, quantity, "share", share, how));
      }
    };
    add_share("power on zeros", p.value / of("power", "random"),
              "Power on zeros over power on random data, board included");
    add_share("energy on zeros", of("efficiency", "random") / of("efficiency", "zero"),
              "Energy of an operation on zeros over that on random data, board included");
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
