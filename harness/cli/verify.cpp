#include "harness/cli/commands.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"

namespace amasia {
namespace {

int verify_references(const Request& r) {
  int passed = 0, failed = 0;
  const auto selected = selection(r);
  for (const auto& [app, variants] : selected) {
    for (const Parameters& size : sizes_of(*app, r, selected.size(), Preset::smoke)) {
      const Verdict v = app->check_reference(size, r.seed);
      fmt::print("{} {} {}: {} over {} values, {} {:.3g} (bound {:.3g})\n", app->name(),
                 size.to_string(), v.passed ? "ok" : "FAILED", "reference", v.checked, v.norm,
                 v.error, v.bound);
      ++(v.passed ? passed : failed);
    }
  }
  fmt::print("{} references ok, {} failed\n", passed, failed);
  return failed == 0 ? exit_ok : exit_wrong_result;
}

}  // namespace

int verify(const Request& r) {
  if (r.reference) return verify_references(r);
  const SessionOptions options = session_options(r);
  const auto selected = selection(r);
  const Device device = query_in_child(options).device;
  int ok = 0, failed = 0, skipped = 0;
  for (const auto& [app, mine] : selected) {
    const auto sizes = sizes_of(*app, r, selected.size(), Preset::smoke);
    refuse_too_large(*app, sizes, r, device);
    for (const Parameters& size : sizes) {
      PlannedGroup g;
      g.key = GroupKey{std::string(app->name()), size, "cold", "stream"};
      g.seed = r.seed;
      g.effort.verify_only = true;
      g.rows = candidate_rows(mine);
      bool stopped = false;
      const GroupResult result = run_isolated(
          g, options, [](const std::string&) {}, stopped);
      if (stopped) return exit_interrupted;
      int size_ok = 0;
      for (const Row& row : result.rows) {
        if (row.status == RowStatus::ok) {
          ++size_ok;
        } else if (row.status == RowStatus::skipped) {
          ++skipped;
          fmt::print("skipped {} {} {}: {}\n", row.variant, row.config, size.to_string(),
                     row.reason);
        } else {
          ++failed;
          fmt::print("FAILED {} {} {}: {}\n", row.variant, row.config, size.to_string(),
                     row.reason);
          if (row.verdict) {
            for (const auto& m : row.verdict->first_mismatches) fmt::print("  {}\n", m);
          }
        }
      }
      ok += size_ok;
      fmt::print("{} {}: {} of {} configs verified\n", app->name(), size.to_string(), size_ok,
                 result.rows.size());
      std::fflush(stdout);
    }
  }
  fmt::print("{} ok, {} failed, {} skipped\n", ok, failed, skipped);
  return failed == 0 ? exit_ok : exit_wrong_result;
}

}  // namespace amasia
