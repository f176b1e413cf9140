#include "harness/conclusions/floor.hpp"

#include <algorithm>
#include <string_view>

namespace amasia {
namespace {

/// `amount` / ceiling, 0 when there is nothing to do; clears `known` when the ceiling is needed but
/// absent.
double time_for(double amount, std::string_view name, const std::vector<Ceiling>& ceilings,
                bool& known) {
  if (amount <= 0) return 0;
  for (const Ceiling& ceiling : ceilings) {
    if (ceiling.name == name && ceiling.value > 0) return amount / ceiling.value;
  }
  known = false;
  return 0;
}

}  // namespace

double Floor::floor_ms() const { return std::max({bytes_ms, operations_ms, dependency_ms}); }

Bound Floor::bound_by() const {
  if (bytes_ms >= operations_ms && bytes_ms >= dependency_ms) return Bound::bytes;
  return operations_ms >= dependency_ms ? Bound::operations : Bound::dependency;
}

std::string rate_of(Work::Kind kind) { return std::string(word_of(kind)) + "_rate"; }

bool is_tensor_rate(std::string_view ceiling) {
  using Kind = Work::Kind;
  const auto kinds = {Kind::tf32, Kind::bf16, Kind::e4m3};
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](Kind kind) { return rate_of(kind) == ceiling; });
}

std::optional<Floor> compute_floor(const Work& work, const std::vector<Ceiling>& ceilings) {
  constexpr double giga_per_s_to_ms = 1e-6;  // x / (1e9 / s) in ms
  if (!has_work(work)) return std::nullopt;
  bool known = true;
  Floor floor;
  const double bytes = work.bytes_read + work.bytes_written;
  if (bytes > 0) {
    const double written = work.bytes_written / bytes;
    const double copied = written <= 0.5 ? 2 * written : 2 - 2 * written;
    const char* rest = written <= 0.5 ? "read_bandwidth" : "write_bandwidth";
    floor.bytes_ms =
        giga_per_s_to_ms * (time_for(bytes * copied, "copy_bandwidth", ceilings, known) +
                            time_for(bytes * (1 - copied), rest, ceilings, known));
  }
  floor.operations_ms =
      giga_per_s_to_ms * time_for(work.operations, rate_of(work.kind), ceilings, known);

  constexpr double ns_to_ms = 1e-6;
  if (work.dependent_operations > 0) {
    const auto latency = std::find_if(ceilings.begin(), ceilings.end(), [](const Ceiling& ceiling) {
      return ceiling.name == "dependent_op_ns" && ceiling.value > 0;
    });
    if (latency == ceilings.end()) return std::nullopt;
    floor.dependency_ms = ns_to_ms * work.dependent_operations * latency->value;
  }
  if (!known) return std::nullopt;
  return floor;
}

}  // namespace amasia
