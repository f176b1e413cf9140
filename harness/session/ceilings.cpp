#include "harness/session/ceilings.hpp"

#include "harness/ceiling.hpp"

namespace amasia {

std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress) {
  const Device& device = instrument.device();
  std::vector<Ceiling> ceilings;
  for (const CeilingProbe& probe : ceiling_probes()) {
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
