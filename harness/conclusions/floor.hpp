// The bound (roofline floor) of this GPU for an app's work, from ceilings measured on it
// (docs/methodology.md, "Floor and rates").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// Floors in ms from the ceilings of the same result file, by name and unit:
///   read_bandwidth, write_bandwidth, copy_bandwidth   GB/s (1e9), bytes read + written
///   fp32_rate, tf32_rate, bf16_rate, e4m3_rate GFLOP/s, int32_rate Gop/s  1e9 operations a second
///   dependent_op_ns                                   ns of one operation that waits for the last
/// Traffic of which a part f is written is timed as a mixture of the two nearest measured streams
/// (f = 0 read, f = 1/2 copy, f = 1 write). nullopt when a ceiling that this work needs is missing
/// or not positive; a ceiling with no work to bound is not needed.
std::optional<Floor> compute_floor(const Work& work, const std::vector<Ceiling>& ceilings);

/// The ceiling that bounds operations of this kind: "tf32_rate".
std::string rate_of(Work::Kind kind);

/// Whether a ceiling is a rate of the tensor cores. These run at the power limit, so that they tell
/// how warm the GPU was where the others tell how fast it is.
bool is_tensor_rate(std::string_view ceiling);

}  // namespace amasia
