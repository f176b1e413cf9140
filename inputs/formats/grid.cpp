#include "inputs/formats/grid.hpp"

#include <cmath>
#include <string_view>

#include "inputs/formats/text_reader.hpp"
#include "inputs/formats/text_writer.hpp"
#include "inputs/sizes.hpp"

namespace amasia::formats {

std::vector<float> read_grid_file(const std::string& path, std::int64_t rows, std::int64_t cols) {
  const std::int64_t cells = checked_product({rows, cols}, "rows x cols");
  TextReader file(path, "of numbers");
  const Column column{cells,
                      std::to_string(cells) + " numbers (" + std::to_string(rows) + " rows x " +
                          std::to_string(cols) + " cols)",
                      "one number", "a number"};
  return read_column<float>(file, column, [&](std::string_view text, std::int64_t line) {
    const auto [value, error] = parse_number<float>(text);
    if (error == std::errc::result_out_of_range) {
      file.fail(line, "expected a number within fp32's range, found " + in_quotes(text));
    }
    if (error != std::errc{}) file.fail(line, "expected one number, found " + in_quotes(text));
    if (!std::isfinite(value)) {
      file.fail(line, "expected a finite number, found " + in_quotes(text));
    }
    return value;
  });
}

void write_grid_file(const std::string& path, const std::vector<float>& cells) {
  TextWriter file(path);
  for (const float cell : cells) file.number(cell, '\n');
  file.finish();
}

}  // namespace amasia::formats
