// The measured limits of a device, and whether they can be: compared with what the clocks and
// widths of the GPU allow, and with what earlier runs on GPUs of the model gave.
#pragma once

#include <string>
#include <vector>

#include "harness/ceiling.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/process/isolation.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// `probes` in measuring order: rates of the tensor cores last, and of them that of e4m3. They run
/// at the power limit, and the SM clock takes a while to come back: behind e4m3 an H200 showed 56.4
/// instead of 65.3 TFLOP/s of fp32.
std::vector<CeilingProbe> in_measuring_order(std::vector<CeilingProbe> probes);

/// How often a ceiling is measured.
inline constexpr int ceiling_samples = 11;

/// Each ceiling `samples` times, after one unrecorded measurement.
std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress);

/// What one ceiling was in earlier runs: a value each.
struct CeilingRecord {
  std::string name;
  std::vector<double> values{};
};

/// From the result files in `folder` of whole GPUs with this one's name and number of SMs. Any
/// other file is passed over.
std::vector<CeilingRecord> read_ceiling_records(const std::string& folder, const Device& device);

/// From results/<gpu>; where that has none, from results/<version>/<gpu> of the newest version of
/// the suite that has some.
std::vector<CeilingRecord> ceilings_in_results(const Device& device);

/// The most that the clocks and widths of this GPU allow, in the ceiling's unit; 0 where not known.
/// Bandwidth: memory clock x 2 x bus width. fp32, int32: SMs x clock x lanes x 2.
double most_by_data_sheet(const std::string& ceiling, const Device& device);

/// How far from the median of earlier runs a value may be, as a share: three times as far as the
/// farthest, 6 % at least (GPUs of a model differ by half of that). 0 for less than three runs.
double tolerance_of(const CeilingRecord& record);

/// Why a ceiling is not believed.
struct CeilingDoubt : Invalidity {
  std::string ceiling;
};

/// The ceilings that cannot be, or are out of line with the records: one entry for each.
std::vector<CeilingDoubt> doubtful_ceilings(const std::vector<Ceiling>& ceilings,
                                            const Device& device,
                                            const std::vector<CeilingRecord>& records);

/// Whether a doubt about `ceiling` is one about the measurement of such work. That of a rate of the
/// tensor cores is where it bounds the work. The others say what the GPU was like at the time.
bool concerns(const std::string& ceiling, const Work& work);

/// The same with the records in `folder`; "" for ceilings_in_results(), "none" for none.
std::vector<CeilingDoubt> ceilings_in_doubt(const std::vector<Ceiling>& ceilings,
                                            const Device& device, const std::string& folder);

}  // namespace amasia
