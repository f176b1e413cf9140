#include "harness/cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/command_line.hpp"
#include "harness/results/journal.hpp"
#include "harness/results/provenance.hpp"

namespace amasia {

int tune(Request r) {
  if (r.caches.empty()) r.caches = {"cold"};
  if (r.launches.empty()) r.launches = {"graph"};
  const SessionOptions options = session_options(r);
  const auto selected = selection(r);
  const Provenance queried = query_in_child(options);
  const Device& device = queried.device;
  const std::string path = r.tuning.empty() ? default_tuning_path(device) : r.tuning;
  check_writable(path, 1 << 20);
  TuningTable table = TuningTable::read(path);
  int failed = 0;
  for (const auto& [app, mine] : selected) {
    const auto sizes = sizes_of(*app, r, selected.size(), Preset::paper);
    refuse_too_large(*app, sizes, r, device);
    for (const Parameters& size : sizes) {
      if (app->device_bytes(size) > static_cast<std::int64_t>(device.free_bytes)) {
        fmt::print(stderr, "skipped {} {}: does not fit in device memory\n", app->name(),
                   size.to_string());
        continue;
      }
      for (const std::string& cache : r.caches) {
        for (const std::string& launch : r.launches) {
          PlannedGroup g;
          g.key = GroupKey{std::string(app->name()), size, cache, launch};
          g.seed = r.seed;
          g.effort = r.effort;
          g.rows = candidate_rows(mine);
          bool stopped = false;
          const GroupResult result = run_isolated(
              g, options,
              [&](const std::string& line) {
                fmt::print(stderr, "{}: {}\n", g.key.to_string(), line);
              },
              stopped);
          if (stopped) return exit_interrupted;
          for (const Variant* v : mine) {
            TuningEntry entry;
            entry.device = device.name;
            entry.variant = v->name();
            entry.size = size;
            entry.cache = cache;
            entry.launch = launch;
            entry.source_digest = source_digest(v->name());
            entry.date_utc = utc_now();
            double least = 0;
            for (const Row& row : result.rows) {
              if (row.variant != v->name()) continue;
              TuningCandidate c{row.config, std::string(name_of(row.status)), row.reason,
                                row.time_ms};
              failed += row.status == RowStatus::failed || row.status == RowStatus::crashed;
              const bool eligible =
                  std::none_of(v->configs.begin(), v->configs.end(), [&row](const Config& config) {
                    return config.info.name == row.config && config.info.reference_only;
                  });
              if (row.time_ms && eligible &&
                  (entry.config.empty() || row.time_ms->median < least)) {
                entry.config = row.config;
                least = row.time_ms->median;
              }
              fmt::print("{} {} {} {}: {}\n", v->name(), row.config, size.to_string(), c.status,
                         row.time_ms
                             ? fmt::format("{:.4g} ms [{:.4g}, {:.4g}]", row.time_ms->median,
                                           row.time_ms->low, row.time_ms->high)
                             : row.reason);
              entry.table.push_back(std::move(c));
            }
            if (entry.config.empty()) continue;  // nothing ran: nothing to record
            fmt::print("{} {} {} {}: best is {}\n", v->name(), size.to_string(), cache, launch,
                       entry.config);
            table.record(std::move(entry));
          }
          table.write(path);  // after every group: an interrupted search keeps what it found
        }
      }
    }
  }
  fmt::print(stderr, "winners are in {}\n", path);
  return failed == 0 ? exit_ok : exit_wrong_result;
}

}  // namespace amasia
