#include <memory>
#include <utility>

#include "harness/cli/command_line.hpp"
#include "harness/cli/options.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/report/report.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

/// `text` to a file, to stdout when `path` is "-".
void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    write_data(text);
  } else {
    write_text_file(path, text);
  }
}

void write_table(const std::string& path, const Table& table, const std::string& what_is_missing) {
  if (path.empty()) return;
  if (table.rows.empty()) {
    print_prose("note: the file holds {}: there is nothing in {}\n", what_is_missing,
                path == "-" ? "what is printed" : path);
  }
  write_output(path, to_csv(table));
}

Action declare_export(CLI::App& options) {
  struct Request {
    std::string file{}, csv{}, csv_points{}, markdown{};
  };
  auto r = std::make_shared<Request>();
  add_file(options, "file", r->file, "result file");
  add_output(options, "--csv", r->csv, "summary as CSV, - for stdout");
  add_output(options, "--csv-points", r->csv_points,
             "points of the microbenchmarks as CSV, - for stdout");
  add_output(options, "--markdown", r->markdown, "as Markdown, - for stdout",
             "stdout, when no form is asked for");
  return [r](const std::vector<std::string>&) {
    keep_inputs({r->file}, {r->csv, r->csv_points, r->markdown});
    const ResultFile file = std::move(read_result_files({r->file}).front());
    if (r->csv.empty() && r->csv_points.empty() && r->markdown.empty()) r->markdown = "-";
    write_table(r->csv, summary_table(file), "no variant");
    write_table(r->csv_points, point_table(file), "no point of a microbenchmark");
    if (!r->markdown.empty()) write_output(r->markdown, to_markdown(file));
    return exit_ok;
  };
}

const bool export_registered = register_command(
    {.name = "export",
     .group = CommandGroup::results,
     .summary = "a result file in another form",
     .examples = {{{"amasia export out/h200-quick.json.gz", "as Markdown, to read"},
                   {"amasia export out/h200-quick.json.gz --csv quick.csv",
                    "as a table, for a spreadsheet"}}},
     .declare = declare_export});

}  // namespace
}  // namespace amasia
