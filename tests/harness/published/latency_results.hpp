// A result file with one latency, for what takes values out of it.
#pragma once

#include "tests/sample_results.hpp"

namespace amasia {

inline ResultFile with_latency(double l1) {
  ResultFile file{sample_provenance(), sample_ceilings(), {sample_group(512)}, {}};
  MicrobenchmarkResult m{"memory/latency", "What?", "So.", Scope::full};
  MicrobenchmarkRow row;
  row.at = {{"method", "luo"}, {"level", "l1"}, {"link", "index"}};
  row.quantity = "latency";
  row.unit = "cycles";
  row.value = median_interval({l1, l1, l1}, 0.95);
  row.clock_mhz = 2000;
  m.rows = {row};
  row.at[1].second = "l2";
  row.value.reset();
  row.status = RowStatus::skipped;
  row.reason = "there is no L2";
  m.rows.push_back(row);
  m.findings = {{{{"level", "l1"}}, "capacity", "KiB", 192, 192, 224, "so"}};
  file.microbenchmarks = {m};
  return file;
}

}  // namespace amasia
