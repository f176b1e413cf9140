#include "harness/session/point.hpp"

#include <cmath>

#include <fmt/format.h>

namespace amasia {

MicrobenchmarkRow row_of(const Point& point, const Device& device) {
  MicrobenchmarkRow row;
  row.at = point.at;
  row.quantity = point.quantity;
  row.unit = point.unit;
  row.larger_is_better = point.larger_is_better;
  row.remark = point.remark;
  row.reason = point.unsupported;
  if (row.reason.empty() && device.compute_capability < point.runs_from) {
    row.reason = fmt::format("needs compute capability {}.{}, this is {}.{}", point.runs_from / 10,
                             point.runs_from % 10, device.compute_capability / 10,
                             device.compute_capability % 10);
  }
  if (!row.reason.empty()) row.status = RowStatus::skipped;
  return row;
}

Sampling prepare_point(const Point& point, Instrument& instrument, MicrobenchmarkRow& row) {
  for (const KernelUse& k : point.kernels) row.evidence.push_back(instrument.resources_of(k));
  Sampling sampling = point.prepare(instrument.device(), instrument.stream());
  sampling();  // unrecorded: module load, first touch, clocks
  return sampling;
}

std::string objection_to(const Reading& reading, const MicrobenchmarkRow& row) {
  if (reading.value > 0 && std::isfinite(reading.value)) return "";
  return fmt::format("read {} {}, which no {} can be", reading.value, row.unit, row.quantity);
}

}  // namespace amasia
