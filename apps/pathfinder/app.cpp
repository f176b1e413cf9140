// pathfinder as the harness sees it: parameters, sizes, schedules, work, and what it writes.
#include <limits>
#include <memory>

#include "apps/common/parameters.hpp"
#include "apps/pathfinder/cpu_reference.hpp"
#include "apps/pathfinder/input.hpp"
#include "apps/pathfinder/pathfinder.hpp"
#include "apps/pathfinder/schedules.hpp"
#include "harness/registry.hpp"

namespace amasia::pathfinder {
namespace {

// Column and row numbers are TMA coordinates and loop counters: 32-bit. Cells are counted in 64
// bits.
constexpr std::int64_t largest_extent = std::numeric_limits<std::int32_t>::max();

}  // namespace

const std::vector<ParameterSpec>& parameter_specs() {
  static const std::vector<ParameterSpec> specs{
      {"rows", ParameterSpec::Kind::integer, "rows of the grid", "10000", 1, largest_extent},
      {"cols", ParameterSpec::Kind::integer, "columns of the grid", "10000", 1, largest_extent},
      {"wall_file", ParameterSpec::Kind::file,
       "walls, one integer per line, row after row (default: generated)", ""},
      {"out_file", ParameterSpec::Kind::file,
       "where to write the last row, one cost per line (default: nowhere)", ""},
      {"path_file", ParameterSpec::Kind::file,
       "where to write a cheapest path, one 'row column wall' per line (default: nowhere)", ""},
  };
  return specs;
}

std::int64_t device_bytes(std::int64_t rows, std::int64_t cols) {
  const std::int64_t pitch = padded_pitch<int>(cols);
  const std::int64_t wall = checked_product({rows, pitch, 4}, "bytes of the wall");
  const std::int64_t row = checked_product({pitch, 4}, "bytes of a row");
  const std::int64_t exchange = cols <= widest_exchange ? 16 * pitch + 8 : 0;
  if (wall > INT64_MAX - 3 * row - exchange) {
    throw UsageError("the grid and its result rows do not fit in 63 bits of bytes");
  }
  if (largest_wall(rows) < highest_wall) {
    throw UsageError("rows: the cost of a path down " + std::to_string(rows) +
                     " rows of walls up to " + std::to_string(highest_wall) +
                     " could overflow; at most " +
                     std::to_string((unreachable - 1) / highest_wall));
  }
  return wall + 3 * row + exchange;
}

namespace {

class Pathfinder : public App {
 public:
  std::string_view name() const override { return "pathfinder"; }
  std::string_view summary() const override {
    return "cheapest way down a grid, row by row (dynamic programming, int32)";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<std::pair<std::int64_t, std::int64_t>> extents;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; primes; wider than one launch; one below, at and above the 20 rows and 216
        // columns of the original geometry; many columns and rows over every strip, exchange and
        // stage of the others.
        extents = {{1, 1},      {1, 257},    {257, 1},    {2, 2},       {3, 131},     {20, 216},
                   {21, 215},   {22, 217},   {41, 433},   {97, 1009},   {127, 4099},  {337, 257},
                   {509, 2011}, {1021, 769}, {43, 30011}, {211, 10007}, {70, 1200007}};
        break;
      case Preset::quick:
        extents = {{10000, 10000}, {1000, 100000}};
        break;
      case Preset::paper:
        extents = {{10000, 10000}, {1000, 1000000}};
        break;
      case Preset::sweep:
        // 1000 rows, from launch-bound to 33 GB, powers of two and sizes between; then squares.
        for (const std::int64_t cols :
             {1024, 3000, 8192, 20000, 65536, 200000, 524288, 1000000, 2097152, 4000000, 8388608}) {
          extents.emplace_back(1000, cols);
        }
        for (const std::int64_t side : {1024, 3000, 8192, 20000, 32768}) {
          extents.emplace_back(side, side);
        }
        break;
    }
    std::vector<Parameters> result;
    for (const auto& [rows, cols] : extents) {
      result.push_back(size_of(parameters(), {{"rows", rows}, {"cols", cols}}));
    }
    return result;
  }

  std::vector<Schedule> schedules() const override { return all_schedules(); }

  Work work(const Parameters& p) const override {
    const double rows = static_cast<double>(p.integer("rows"));
    const double cols = static_cast<double>(p.integer("cols"));
    Work w;
    w.kind = Work::Kind::int32;
    w.operations = 3 * (rows - 1) * cols;  // two minima and an addition
    w.bytes_read = 4 * rows * cols;
    w.bytes_written = 4 * cols;
    w.dependent_operations = 2 * (rows - 1);  // a three-way minimum and an addition per row
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    return pathfinder::device_bytes(p.integer("rows"), p.integer("cols"));
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_references(p, seed);
  }

  void export_outputs(const Parameters& p, Instance& instance) const override {
    const std::string &row_file = p.text("out_file"), &path_file = p.text("path_file");
    if (row_file.empty() && path_file.empty()) return;
    const auto& source = dynamic_cast<const ResultSource&>(instance);
    const std::vector<int> row = source.last_row();
    if (!row_file.empty()) write_last_row(row_file, row);
    if (!path_file.empty()) write_path(path_file, InputWalls(p, source.seed()).walls(), row);
  }
};

const bool registered = register_app(std::make_unique<Pathfinder>());

}  // namespace
}  // namespace amasia::pathfinder
