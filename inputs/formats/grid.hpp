// Rodinia's text format of a grid: one number per line, row after row, nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace amasia::formats {

/// Reads exactly rows * cols finite fp32 numbers, one per line (blank lines at the end and CRLF are
/// accepted, trailing blanks too). Throws UsageError "path:line: what was expected" for a line that
/// is no number, NaN, infinite or outside fp32's range, and for too few or too many lines. Throws
/// "path: what was expected" for a file that cannot be read.
std::vector<float> read_grid_file(const std::string& path, std::int64_t rows, std::int64_t cols);

/// Writes the same format, each number with the digits that restore it exactly (%.9g). Throws
/// UsageError when the file cannot be written completely.
void write_grid_file(const std::string& path, const std::vector<float>& cells);

}  // namespace amasia::formats
