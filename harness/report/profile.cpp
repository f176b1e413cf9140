#include "harness/report/profile.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "harness/text/table.hpp"

namespace amasia {
namespace {

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", 100 * *share) : "-";
}

std::string scaled(const std::optional<double>& value, double factor) {
  return value ? format_number(*value * factor) : "-";
}

/// The two largest that are waits: "long_scoreboard 61 %, barrier 12 %".
std::string main_waits(const Counters& c) {
  std::vector<std::pair<double, std::string>> waits;
  for (const auto& [reason, share] : c.stalls) {
    if (reason != "selected" && reason != "not_selected") waits.emplace_back(share, reason);
  }
  std::sort(waits.rbegin(), waits.rend());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, waits.size()); ++i) {
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", waits[i].second,
                        100 * waits[i].first);
  }
  return text;
}

std::string group_table(const ProfiledGroup& group) {
  Table table{{{"variant", "variant"},
               {"role", "role"},
               {"config", "config"},
               {"instructions", "instructions", "M"},
               {"busy", "busiest SM", "M cycles"},
               {"issue_slots", "issue slots"},
               {"occupancy", "occupancy"},
               {"dram", "DRAM", "MB"},
               {"l2", "L2", "MB"},
               {"conflicts", "bank conflicts", "M"},
               {"waits", "warps wait for"}},
              {}};
  for (const ProfiledRow& row : group.rows) {
    std::vector<Cell> cells{row.variant, std::string(word_of(row.role)), row.config};
    if (row.counters) {
      const Counters& c = *row.counters;
      std::optional<double> dram = c.dram_read_bytes;
      if (dram && c.dram_write_bytes) *dram += *c.dram_write_bytes;
      for (const std::string& text :
           {scaled(c.instructions, 1e-6), scaled(c.busiest_cycles, 1e-6), percent(c.issue_slots),
            percent(c.occupancy), scaled(dram, 1e-6), scaled(c.l2_bytes, 1e-6),
            scaled(c.shared_conflicts, 1e-6), main_waits(c)}) {
        cells.emplace_back(text);
      }
    } else {
      cells.resize(table.columns.size() - 1);
      cells.emplace_back(row.reason.empty() ? std::string("not counted") : row.reason);
    }
    table.add(std::move(cells));
  }
  return fmt::format("### {}\n\n{}", group.key.to_string(), to_markdown(table));
}

}  // namespace

std::string to_markdown(const ProfileFile& file) {
  std::string text;
  for (const ProfiledGroup& group : file.groups) {
    text += (text.empty() ? "" : "\n") + group_table(group);
  }
  return text;
}

}  // namespace amasia
