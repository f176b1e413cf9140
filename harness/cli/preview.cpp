#include "harness/cli/preview.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "harness/cli/closing.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/text/output.hpp"
#include "harness/text/wrap.hpp"

namespace amasia {
namespace {

/// "45 s", "12 min", "3.5 h".
std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string memory(std::int64_t bytes) {
  if (bytes < 1000000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) * 1e-3);
  if (bytes < 1000000000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
  return fmt::format("{:.2f} GB", static_cast<double>(bytes) * 1e-9);
}

/// "best 64x8 (tuned at rows=...)", "iso, again as the A/A control", or a candidate's config.
std::string config_of(const PlannedRow& row, bool winners_known) {
  const std::string role(word_of(row.role));
  if (row.role == Role::candidate) return row.config;
  if (!row.matches.empty()) return "matched to " + row.matches;
  if (!row.schedule.empty()) {
    return role + " " + row.schedule + (row.repeat > 0 ? " again (A/A control)" : "");
  }
  if (row.repeat > 0) return role + " again (A/A control)";
  if (row.role == Role::iso) return row.config == role ? role : role + " " + row.config;
  if (!winners_known) return role + " (config unknown without a device)";
  return fmt::format("{} {}({})", role, row.config.empty() ? "" : row.config + " ",
                     row.config_source);
}

/// A line for each variant: its rows in this group.
std::string variant_lines(const PlannedGroup& g, bool winners_known) {
  std::string text;
  for (std::size_t i = 0; i < g.rows.size();) {
    const std::string& variant = g.rows[i].variant;
    std::string configs;
    for (; i < g.rows.size() && g.rows[i].variant == variant; ++i) {
      configs += (configs.empty() ? "" : ", ") + config_of(g.rows[i], winners_known);
    }
    text += wrapped(fmt::format("    {:<26}", variant + "  "), configs, 30);
  }
  return text;
}

std::string fit(const PlannedGroup& g, const std::optional<Device>& device) {
  if (!device) return "";
  const bool enough = device_bytes(g) <= static_cast<std::int64_t>(device->free_bytes);
  return enough ? ", fits" : ", does NOT fit: will be skipped";
}

std::string group_lines(const Preview& p) {
  std::string text, size_before, rows_before;
  for (const PlannedGroup& g : p.campaign.groups) {
    const std::string size = g.key.app + " " + g.key.size.to_string();
    if (size != size_before) {
      text += wrapped("",
                      fmt::format("{}: {} of device memory{}", size, memory(device_bytes(g)),
                                  fit(g, p.machine.device)),
                      2);
      rows_before.clear();
    }
    size_before = size;
    const std::string rows = variant_lines(g, p.winners_known);
    const std::string cost =
        has_device_code()
            ? fmt::format("{} rows{}, about {}", g.rows.size(),
                          g.effort.energy ? " with energy" : "", duration(expected_seconds(g)))
            : "rows and time unknown, this program has no variants";
    text += wrapped("  ",
                    fmt::format("{} {}: {}", word_of(g.key.cache), word_of(g.key.launch), cost), 4);
    if (rows != rows_before) text += rows;
    rows_before = rows;
  }
  return text;
}

std::string microbenchmark_lines(const Preview& p) {
  std::string text;
  for (const PlannedMicrobenchmark& m : p.campaign.microbenchmarks) {
    const std::string scope = m.scope == Scope::quick ? "quick" : "full";
    std::string cost = "points and time unknown without a device";
    if (p.machine.device) {
      const std::size_t points = expected_points(m, *p.machine.device);
      cost = fmt::format("{} points, about {}", points, duration(expected_seconds(m, points)));
    }
    text += wrapped("", fmt::format("{} ({}): {}", m.name, scope, cost), 2);
  }
  return text;
}

std::string total(const Preview& p) {
  if (!has_device_code()) return "expected time: unknown, this program has no device code";
  const Campaign& c = p.campaign;
  if (c.groups.empty() && c.microbenchmarks.empty() && !c.ceilings) return "nothing would run";
  const std::string time = duration(expected_seconds(c, p.machine.device));
  if (p.machine.device || c.microbenchmarks.empty()) {
    return fmt::format("expected: about {}{}", time,
                       c.ceilings ? ", ceilings of the GPU included" : "");
  }
  return fmt::format("expected: about {} and the microbenchmarks, whose time is unknown", time);
}

}  // namespace

Preview::Machine look_at(const SessionOptions& options) {
  try {
    return {query_in_child(options).device, ""};
  } catch (const NoDevice& reason) {
    return {std::nullopt, reason.what()};
  }
}

std::string describe(const Preview& p) {
  const std::optional<Device>& device = p.machine.device;
  std::string text = wrapped(
      "",
      fmt::format("{}{}: {} groups, {} microbenchmarks", p.title,
                  device ? fmt::format(" on {} ({} free)", device->name,
                                       memory(static_cast<std::int64_t>(device->free_bytes)))
                         : "",
                  p.campaign.groups.size(), p.campaign.microbenchmarks.size()),
      2);
  if (!device) {
    text += wrapped("", "no usable GPU: " + p.machine.obstacle, 2);
    text += wrapped("",
                    "unknown without a GPU: what fits in its memory, which variants and points it "
                    "can run, its recorded winners",
                    2);
  }
  text += group_lines(p) + microbenchmark_lines(p);
  return text + wrapped("", total(p), 2);
}

void print_preview(const Preview& preview) {
  write_data(describe(preview));
  const char* where = preview.machine.device ? "" : ", on a machine whose GPU this build can use,";
  say_next(fmt::format("the same command without --dry-run{}", where), "runs it");
}

}  // namespace amasia
