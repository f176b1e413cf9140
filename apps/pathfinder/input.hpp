// The timed input on the host: generated, or read from a file; the result as the host gets it, and
// what is written to files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/pathfinder/walls.hpp"
#include "harness/app.hpp"

namespace amasia::pathfinder {

/// The walls that `wall_file` names, or generated ones. Generated walls occupy no memory here.
class InputWalls {
 public:
  /// Throws UsageError for a file that does not hold rows x cols walls within range.
  InputWalls(const Parameters& p, std::uint64_t seed);
  /// Valid as long as this object lives. `given` points to the host.
  Walls walls() const { return {rows_, cols_, seed_, 0, given_.empty() ? nullptr : given_.data()}; }

 private:
  std::int64_t rows_, cols_;
  std::uint64_t seed_;
  std::vector<std::int32_t> given_;
};

/// Reads rows * cols walls, one integer per line, row after row: Rodinia's format of a grid. Throws
/// UsageError "path:line: what was expected", also for a wall that is larger than
/// largest_wall(rows) in magnitude.
std::vector<std::int32_t> read_wall_file(const std::string& path, std::int64_t rows,
                                         std::int64_t cols);

/// What the host can ask of the device instance.
class ResultSource {
 public:
  virtual ~ResultSource() = default;
  virtual std::vector<int> last_row() const = 0;  // of the last run, (cols)
  virtual std::uint64_t seed() const = 0;
};

/// Writes the last row: cols lines of one cost each. Throws UsageError when the file cannot be
/// written completely.
void write_last_row(const std::string& path, const std::vector<int>& row);

/// Writes a cheapest path: rows lines "row column wall". `last_row` is what the device computed;
/// throws std::runtime_error when its least cost is not that of the path.
void write_path(const std::string& path, const Walls& walls, const std::vector<int>& last_row);

}  // namespace amasia::pathfinder
