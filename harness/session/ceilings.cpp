#include "harness/session/ceilings.hpp"

#include <algorithm>
#include <utility>

#include "harness/app.hpp"

namespace amasia {

std::vector<CeilingProbe> in_measuring_order(std::vector<CeilingProbe> probes) {
  const auto is_cool = [](const CeilingProbe& probe) {
    using Kind = Work::Kind;
    for (const Kind kind : {Kind::tf32, Kind::bf16, Kind::e4m3}) {
      if (probe.name == std::string(word_of(kind)) + "_rate") return false;
    }
    return true;
  };
  std::stable_partition(probes.begin(), probes.end(), is_cool);
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
