#include "harness/cli/outputs.hpp"

#include <algorithm>
#include <array>

#include "harness/report/csv.hpp"
#include "harness/report/google_benchmark.hpp"
#include "harness/report/markdown.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

std::array<const std::string*, 6> all(const ExportPaths& p) {
  return {&p.json, &p.csv, &p.csv_points, &p.csv_samples, &p.markdown, &p.google_benchmark};
}

}  // namespace

bool ExportPaths::on_stdout() const {
  const auto paths = all(*this);
  return std::any_of(paths.begin(), paths.end(), [](const auto* path) { return *path == "-"; });
}

bool ExportPaths::none() const {
  const auto paths = all(*this);
  return std::all_of(paths.begin(), paths.end(), [](const auto* path) { return path->empty(); });
}

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    write_data(text);
  } else if (!path.empty()) {
    write_text_file(path, text);
  }
}

void write_exports(const ResultFile& file, const ExportPaths& paths) {
  if (!paths.json.empty()) write_output(paths.json, dump_json(to_json(file)));
  if (!paths.csv.empty()) write_output(paths.csv, to_csv_summary(file));
  if (!paths.csv_points.empty()) write_output(paths.csv_points, to_csv_points(file));
  if (!paths.csv_samples.empty()) write_output(paths.csv_samples, to_csv_samples(file));
  if (!paths.markdown.empty()) write_output(paths.markdown, to_markdown(file));
  if (!paths.google_benchmark.empty()) {
    write_output(paths.google_benchmark, to_google_benchmark(file));
  }
}

}  // namespace amasia
