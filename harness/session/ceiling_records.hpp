// Whether measured ceilings can be: held against what the GPU's clocks and widths allow, and
// against what earlier runs on GPUs of the model gave.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// What one ceiling was in earlier runs: a value each.
struct CeilingRecord {
  std::string name;
  std::vector<double> values{};
};

/// From the result files in `folder` (not in folders within) of whole GPUs with this one's name and
/// number of SMs. Reads no more of a file than its beginning. A file that is no result file, or
/// cannot be read, is passed over; a folder that is not there has none.
std::vector<CeilingRecord> read_ceiling_records(const std::string& folder, const Device& device);

/// From results/<gpu>; where that has none, from results/<version>/<gpu> of the newest version of
/// the suite that has some.
std::vector<CeilingRecord> ceilings_in_results(const Device& device);

/// The most that the clocks and widths of this GPU allow, in the ceiling's unit; 0 where that is
/// not known, or not of this ceiling. Bandwidth of memory: clock x 2 x bus width. fp32 and int32:
/// SMs x clock x lanes x 2 operations.
double most_by_data_sheet(const std::string& ceiling, const Device& device);

/// How far from the median of earlier runs a value may be, as a share: three times as far as the
/// farthest of them, and 6 % at least, because GPUs of a model differ by half of that. Nothing is
/// said for less than three runs: 0.
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
