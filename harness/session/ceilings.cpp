#include "harness/session/ceilings.hpp"

#include <algorithm>
#include <utility>

#include "harness/conclusions/floor.hpp"

namespace amasia {

std::vector<CeilingProbe> in_measuring_order(std::vector<CeilingProbe> probes) {
  const auto heat = [](const CeilingProbe& probe) {
    return is_tensor_rate(probe.name) + (probe.name == rate_of(Work::Kind::e4m3));
  };
  std::stable_sort(probes.begin(), probes.end(),
                   [&](const CeilingProbe& a, const CeilingProbe& b) { return heat(a) < heat(b); });
  return probes;
}

std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress) {
  const Device& device = instrument.device();
  std::vector<Ceiling> ceilings;
  for (const CeilingProbe& probe : in_measuring_order(ceiling_probes())) {
    if (instrument.code_capability() < probe.runs_from) continue;  // of the loaded code
    progress(-1, "ceiling " + probe.name);
    Ceiling c{probe.name, probe.unit, probe.method};
    // Unrecorded: allocation, module load, clocks.
    probe.measure(device, instrument.stream());
    for (int i = 0; i < samples; ++i) {
      c.samples.push_back(probe.measure(device, instrument.stream()));
    }
    c.value = median_interval(c.samples, 0.95).median;
    ceilings.push_back(std::move(c));
  }
  return ceilings;
}

}  // namespace amasia
