// Rodinia's text format of a square matrix: its order, then its elements row by row, separated by
// blanks or ends of lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace amasia::formats {

/// Reads the n * n finite fp32 elements of a matrix whose order must be n. Throws UsageError
/// "path:line: what was expected" for another order, something that is no number, NaN, infinite or
/// outside fp32's range (with its row and column), too few or too many elements, and "path: ..."
/// for an unreadable file.
std::vector<float> read_matrix_file(const std::string& path, std::int64_t n);

/// Writes the same format, a row per line, each number with the digits that restore it exactly.
/// Throws UsageError when the file cannot be written completely.
void write_matrix_file(const std::string& path, std::int64_t n, const std::vector<float>& elements);

}  // namespace amasia::formats
