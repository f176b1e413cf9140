#include "apps/pathfinder/input.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "apps/pathfinder/cpu_reference.hpp"
#include "inputs/formats/text_reader.hpp"
#include "inputs/formats/text_writer.hpp"
#include "inputs/sizes.hpp"

namespace amasia::pathfinder {

InputWalls::InputWalls(const Parameters& p, std::uint64_t seed)
    : rows_(p.integer("rows")), cols_(p.integer("cols")), seed_(seed) {
  if (const std::string& file = p.text("wall_file"); !file.empty()) {
    given_ = read_wall_file(file, rows_, cols_);
  }
}

std::vector<std::int32_t> read_wall_file(const std::string& path, std::int64_t rows,
                                         std::int64_t cols) {
  const std::int64_t cells = checked_product({rows, cols}, "rows x cols");
  const std::int64_t most = largest_wall(rows);
  const std::string range = "a wall from " + std::to_string(-most) + " to " + std::to_string(most) +
                            " (larger ones could overflow the cost of a path down " +
                            std::to_string(rows) + " rows)";
  formats::TextReader file(path, "of walls");
  const formats::Column column{cells,
                               std::to_string(cells) + " walls (" + std::to_string(rows) +
                                   " rows x " + std::to_string(cols) + " cols)",
                               "one integer", "an integer"};
  return formats::read_column<std::int32_t>(
      file, column, [&](std::string_view text, std::int64_t line) {
        const auto [value, error] = formats::parse_number<std::int64_t>(text);
        if (error == std::errc::invalid_argument) {
          file.fail(line, "expected one integer, found " + formats::in_quotes(text));
        }
        if (error != std::errc{} || value < -most || value > most) {
          file.fail(line, "expected " + range + ", found " + formats::in_quotes(text));
        }
        return static_cast<std::int32_t>(value);
      });
}

void write_last_row(const std::string& path, const std::vector<int>& row) {
  formats::TextWriter file(path);
  for (const int cost : row) file.number(std::int64_t{cost}, '\n');
  file.finish();
}

void write_path(const std::string& path, const Walls& walls, const std::vector<int>& last_row) {
  const Path cheapest = cheapest_path(walls);
  const int device = *std::min_element(last_row.begin(), last_row.end());
  if (cheapest.cost != device) {
    throw std::runtime_error("the cheapest path costs " + std::to_string(cheapest.cost) +
                             ", but the least cost computed on the device is " +
                             std::to_string(device));
  }
  formats::TextWriter file(path);
  for (std::int64_t i = 0; i < walls.rows; ++i) {
    file.number(i, ' ');
    file.number(cheapest.column[i], ' ');
    file.number(std::int64_t{walls.height(i, cheapest.column[i])}, '\n');
  }
  file.finish();
}

}  // namespace amasia::pathfinder
