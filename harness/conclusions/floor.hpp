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

/// Floors in ms from the ceilings of the same result file, by name and unit.
///   `read_bandwidth`, `write_bandwidth`, `copy_bandwidth`: GB/s (1e9), bytes read + written.
///   `fp32_rate`, `tf32_rate`, `bf16_rate`, `e4m3_rate`: GFLOP/s. `int32_rate`: Gop/s (1e9).
///   `dependent_op_ns`: ns of one operation that waits for the last.
/// Traffic with a written share f is timed as a mixture of the two nearest measured streams (f = 0
/// read, f = 1/2 copy, f = 1 write). The answer is nullopt when a ceiling that this work needs is
/// missing or not positive. A ceiling with no work to bound is not needed.
std::optional<Floor> compute_floor(const Work& work, const std::vector<Ceiling>& ceilings);

/// The ceiling that bounds operations of this kind: "tf32_rate".
std::string rate_of(Work::Kind kind);

/// Whether a ceiling is a rate of the tensor cores. These run at the power limit, so they show
/// how warm the GPU was; the others show how fast it is.
bool is_tensor_rate(std::string_view ceiling);

}  // namespace amasia
