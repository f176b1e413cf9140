#include <memory>
#include <utility>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/conclusions/journal.hpp"

namespace amasia {
namespace {

Action declare_export(CLI::App& options) {
  auto path = std::make_shared<std::string>();
  auto forms = std::make_shared<ExportPaths>();
  options.add_option("file", *path, "result file")->required()->type_name("FILE");
  add_output(options, "--csv", forms->csv, "summary as CSV, - for stdout");
  add_output(options, "--csv-points", forms->csv_points,
             "points of the microbenchmarks as CSV, - for stdout");
  add_output(options, "--csv-samples", forms->csv_samples, "every sample as CSV, - for stdout");
  add_output(options, "--markdown", forms->markdown, "as Markdown, - for stdout",
             "stdout, when no form is asked for");
  return [path, forms](const Invocation&) {
    keep_inputs({*path}, *forms);
    const ResultFile file = std::move(read_result_files({*path}).front());
    if (forms->none()) forms->markdown = "-";
    write_exports(file, *forms);
    return exit_ok;
  };
}

const bool export_registered = register_command(
    {.name = "export",
     .group = CommandGroup::results,
     .summary = "a result file in another form",
     .examples =
         {{{"amasia export out/h200-quick.json.gz", "as Markdown, to read"},
           {"amasia export out/h200-quick.json.gz --csv quick.csv --csv-samples samples.csv",
            "as tables, for a spreadsheet"}}},
     .exits = {exit_ok, exit_wrong_result, exit_usage, exit_output},
     .declare = declare_export});

}  // namespace
}  // namespace amasia
