#include "inputs/formats/matrix.hpp"

#include <cmath>
#include <optional>
#include <string_view>

#include "inputs/formats/text_reader.hpp"
#include "inputs/formats/text_writer.hpp"
#include "inputs/sizes.hpp"

namespace amasia::formats {
namespace {

std::int64_t parse_order(const TextReader& file, std::string_view text) {
  const auto [value, error] = parse_number<std::int64_t>(text);
  if (error != std::errc{}) {
    file.fail(std::string("expected the order of the matrix") +
              (error == std::errc::result_out_of_range ? " within range" : "") + ", found " +
              in_quotes(text));
  }
  return value;
}

}  // namespace

std::vector<float> read_matrix_file(const std::string& path, std::int64_t n) {
  const std::int64_t count = checked_product({n, n}, "n x n");
  TextReader file(path, "with a matrix");
  const auto next = [&file] { return file.word("a number"); };
  const std::optional<std::string_view> first = next();
  if (!first) file.fail("expected the order of the matrix, the file is empty");
  const auto order = parse_order(file, *first);
  if (order != n) {
    file.fail("expected a matrix of order " + std::to_string(n) + ", found " +
              std::to_string(order) +
              (order > 0 ? ": pass n=" + std::to_string(order) : std::string()));
  }
  const std::string size =
      std::to_string(count) + " elements (" + std::to_string(n) + " x " + std::to_string(n) + ")";
  std::vector<float> elements;  // grows with the file, so that a short one costs no memory
  while (const std::optional<std::string_view> word = next()) {
    if (static_cast<std::int64_t>(elements.size()) == count) {
      file.fail("expected the end of the file after " + size + ", found " + in_quotes(*word));
    }
    const auto [value, error] = parse_number<float>(*word);
    if (error != std::errc{} || !std::isfinite(value)) {
      const auto at = static_cast<std::int64_t>(elements.size());
      file.fail(std::string("expected a finite number ") +
                (error == std::errc::result_out_of_range ? "within range " : "") + "in row " +
                std::to_string(at / n + 1) + ", column " + std::to_string(at % n + 1) + ", found " +
                in_quotes(*word));
    }
    elements.push_back(value);
  }
  if (static_cast<std::int64_t>(elements.size()) < count) {
    file.fail("expected " + size + ", the file ends after " + std::to_string(elements.size()));
  }
  return elements;
}

void write_matrix_file(const std::string& path, std::int64_t n,
                       const std::vector<float>& elements) {
  TextWriter file(path);
  file.number(n, '\n');
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      file.number(elements[i * n + j], j + 1 < n ? ' ' : '\n');
    }
  }
  file.finish();
}

}  // namespace amasia::formats
