#include "harness/cli/commands.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"
#include "harness/results/compare.hpp"
#include "harness/report/export.hpp"
#include "harness/results/journal.hpp"
#include "harness/results/merge.hpp"

namespace amasia {

int compare(const std::string& a, const std::string& b, const Request& r) {
  const ResultFile first = read_result_file(a);  // in this order: the first bad file is named
  const ResultFile second = read_result_file(b);
  const FileComparison c = compare_files(first, second, r.effort.confidence);
  write_output(r.json, dump_json(to_json(c)));
  write_output(r.csv, to_csv(c));
  write_output(r.markdown, to_markdown(c));
  if (r.json.empty() && r.csv.empty() && r.markdown.empty()) fmt::print("{}", to_markdown(c));
  for (const std::string& w : c.warnings) fmt::print(stderr, "warning: {}\n", w);
  return exit_ok;
}

int merge(const std::vector<std::string>& inputs, const std::string& out) {
  std::vector<ResultFile> files;
  for (const std::string& path : inputs) {
    const bool unfinished = path.size() > 8 && path.substr(path.size() - 8) == ".journal";
    files.push_back(unfinished ? read_journal(path) : read_result_file(path));
  }
  check_writable(out, 1 << 20);
  write_result_file(out, merge_files(files, inputs));
  return exit_ok;
}

int export_file(const std::string& path, const std::string& csv_samples, Request r) {
  const ResultFile file = read_result_file(path);
  if (csv_samples.empty() && r.csv.empty() && r.csv_points.empty() && r.markdown.empty() &&
      r.google_benchmark.empty()) {
    r.markdown = "-";
  }
  write_output(csv_samples, to_csv_samples(file));
  write_exports(file, r);
  return exit_ok;
}

}  // namespace amasia
