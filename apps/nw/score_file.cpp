#include "apps/nw/score_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "inputs/errors.hpp"
#include "inputs/formats/text_writer.hpp"

namespace amasia::nw {
namespace {

// Scores are fetched from the device in blocks of about this many.
constexpr std::int64_t fetched_scores = std::int64_t{1} << 24;

}  // namespace

void check_output_file(const std::string& parameter, const std::string& path) {
  if (path.empty()) return;
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string what = "parameter " + parameter + ": '" + path + "' ";
  if (fs::is_directory(path, ignored)) throw UsageError(what + "is a folder");
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, ignored)) {
    throw UsageError(what + "lies in a folder that does not exist");
  }
  const bool exists = fs::exists(path, ignored);
  if (::access(exists ? path.c_str() : folder.c_str(), W_OK) != 0) {
    throw UsageError(what + "cannot be written");
  }
}

void check_score_file(const std::string& path, std::int64_t rows, std::int64_t cols) {
  if (path.empty()) return;
  if (rows + 1 > most_scores_written / (cols + 1)) {
    throw UsageError("parameter out_file: " + std::to_string(rows) + " x " + std::to_string(cols) +
                     " scores are too many for a text file, at most " +
                     std::to_string(most_scores_written) + " are written");
  }
  check_output_file("out_file", path);
}

void write_scores(const std::string& path, const ScoreSource& source, int penalty) {
  const std::int64_t rows = source.rows(), cols = source.cols();
  check_score_file(path, rows, cols);
  formats::TextWriter file(path);
  const auto behind = [cols](std::int64_t column) { return column == cols ? '\n' : ' '; };
  for (std::int64_t j = 0; j <= cols; ++j) file.number(std::int64_t{border(j, penalty)}, behind(j));
  const std::int64_t block = std::max<std::int64_t>(1, fetched_scores / cols);
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    const std::vector<int> scores = source.score_rows(first, count);
    for (std::int64_t r = 0; r < count; ++r) {
      file.number(std::int64_t{border(first + r + 1, penalty)}, behind(0));
      for (std::int64_t c = 0; c < cols; ++c) {
        file.number(std::int64_t{scores[r * cols + c]}, behind(c + 1));
      }
    }
  }
  file.finish();
}

}  // namespace amasia::nw
