#include "harness/cli/outputs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "harness/conclusions/journal.hpp"
#include "harness/errors.hpp"
#include "harness/report/report.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

std::array<const std::string*, 5> all(const ExportPaths& p) {
  return {&p.json, &p.csv, &p.csv_points, &p.csv_samples, &p.markdown};
}

/// Says why a form that was asked for holds nothing.
void note_empty(const std::string& path, const std::string& what_is_missing) {
  print_prose("note: the file holds {}: there is nothing in {}\n", what_is_missing,
              path == "-" ? "what is printed" : path);
}

void write_table(const std::string& path, const Table& table, const std::string& what_is_missing) {
  if (path.empty()) return;
  if (table.rows.empty()) note_empty(path, what_is_missing);
  write_output(path, to_csv(table));
}

}  // namespace

bool ExportPaths::on_stdout() const {
  const auto paths = all(*this);
  return std::any_of(paths.begin(), paths.end(),
                     [](const auto* path) { return !path->empty() && is_stdout(*path); });
}

bool ExportPaths::none() const {
  const auto paths = all(*this);
  return std::all_of(paths.begin(), paths.end(), [](const auto* path) { return path->empty(); });
}

void check_writable(const ExportPaths& paths) {
  constexpr std::uint64_t room = 1 << 20;
  for (const std::string* path : all(paths)) {
    if (!path->empty() && *path != "-") check_writable(*path, room);
  }
}

bool is_stdout(const std::string& path) {
  struct stat itself {};
  struct stat found {};
  return path == "-" ||
         (::fstat(STDOUT_FILENO, &itself) == 0 && ::stat(path.c_str(), &found) == 0 &&
          itself.st_dev == found.st_dev && itself.st_ino == found.st_ino);
}

void keep_inputs(const std::vector<std::string>& inputs, const ExportPaths& paths,
                 const std::string& out) {
  std::vector<std::string> outputs;
  if (!out.empty()) outputs = {out, out + ".journal"};
  for (const std::string* path : all(paths)) outputs.push_back(*path);
  std::set<std::filesystem::path> files;
  for (const std::string& output : outputs) {
    if (output.empty() || is_stdout(output) || destination_of(output).special) continue;
    std::error_code error;  // what cannot be looked at is refused when it is opened
    // Absolute first: where nothing is there yet, a relative name would stay as it is.
    const auto name = weakly_canonical(std::filesystem::absolute(output), error);
    if (!error && !files.insert(name).second) {
      throw UsageError(output + ": would be written twice; name a file for each");
    }
    for (const std::string& input : inputs) {
      if (!std::filesystem::equivalent(output, input, error)) continue;
      throw UsageError(output +
                       ": is read by this command and would be replaced; write to another file");
    }
  }
}

void or_say_where_results_are(const std::string& out, const std::function<void()>& write) {
  const auto said = [&](const std::exception& error) {
    const std::string kept = destination_of(out).special ? "" : "; the results are in " + out;
    return error.what() + kept;
  };
  try {
    write();
  } catch (const OutputError& error) {
    throw OutputError(said(error));
  } catch (const ResultError& error) {
    throw ResultError(said(error));
  }
}

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    write_data(text);
  } else if (!path.empty()) {
    write_text_file(path, text);
  }
}

void write_exports(const ResultFile& file, const ExportPaths& paths) {
  if (paths.json == "-") {
    write_data(to_text(file));
  } else if (!paths.json.empty()) {
    write_result_file(paths.json, file);
  }
  write_table(paths.csv, summary_table(file), "no variant");
  write_table(paths.csv_points, point_table(file), "no point of a microbenchmark");
  write_table(paths.csv_samples, sample_table(file), "no sample of a variant");
  if (!paths.markdown.empty()) write_output(paths.markdown, to_markdown(file));
}

void say_next(const std::string& command, const std::string& what_it_does) {
  print_prose("next: {} {}\n", command, what_it_does);
}

std::string plots_command(const std::vector<std::string>& words) {
  std::error_code error;
  const bool clone = std::filesystem::exists("plots.sh", error);
  return (clone ? "./plots.sh " : "python -m plots ") + in_shell(words);
}

std::string with_patterns(const std::string& command, const std::vector<std::string>& patterns) {
  std::string text = command;
  for (const std::string& pattern : patterns) text += ' ' + in_shell({pattern});
  return text;
}

}  // namespace amasia
