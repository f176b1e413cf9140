#include "harness/cli/outputs.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "harness/conclusions/journal.hpp"
#include "harness/errors.hpp"
#include "harness/report/csv.hpp"
#include "harness/report/markdown.hpp"
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

/// Of a file that several names may lead to.
std::string one_name_of(const std::string& file) {
  std::error_code error;
  // Absolute first: where nothing is there yet, a relative name would stay as it is.
  const auto name = std::filesystem::weakly_canonical(std::filesystem::absolute(file), error);
  return error ? file : name.string();
}

/// Where an output goes.
struct OutputPlace {
  std::string name;     // of a file, without links
  bool stream = false;  // it is written to, not replaced
  bool known = false;   // whether it is there: then its identity
  dev_t device = 0;
  ino_t inode = 0;
};

OutputPlace output_place(const std::string& output) {
  const Destination destination = destination_of(output);
  OutputPlace place{.name = one_name_of(destination.path),
                    .stream = output == "-" || destination.special};
  struct stat found {};
  const int status =
      output == "-" ? ::fstat(STDOUT_FILENO, &found) : ::stat(output.c_str(), &found);
  place.known = status == 0;
  place.device = found.st_dev;
  place.inode = found.st_ino;
  const bool nowhere = S_ISCHR(found.st_mode) && found.st_rdev == makedev(1, 3);
  if (nowhere) place.known = false;  // /dev/null takes any number of them
  return place;
}

/// Of files the names decide: what has a hard link elsewhere is replaced here alone.
bool go_to_one_place(const OutputPlace& a, const OutputPlace& b) {
  if (!a.stream && !b.stream) return a.name == b.name;
  return a.known && b.known && a.device == b.device && a.inode == b.inode;
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
  const OutputPlace stdout_itself = output_place("-"), place = output_place(path);
  return path == "-" || (place.stream && go_to_one_place(place, stdout_itself));
}

void keep_inputs(const std::vector<std::string>& inputs, const std::string& out,
                 const ExportPaths& paths) {
  std::vector<std::string> outputs;
  if (!out.empty()) outputs = {out, out + ".journal"};
  for (const std::string* path : all(paths)) outputs.push_back(*path);
  std::vector<OutputPlace> places;
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    const OutputPlace place = output_place(output);
    const bool taken = std::any_of(places.begin(), places.end(), [&](const OutputPlace& other) {
      return go_to_one_place(place, other);
    });
    if (taken && place.stream) {
      throw UsageError(
          fmt::format("{}: two outputs would be mixed there; name a file for all but one of them",
                      output == "-" ? "stdout" : output));
    }
    if (taken) {
      throw UsageError(fmt::format(
          "{}: would be written twice, and hold the last alone; name a file for each", output));
    }
    places.push_back(place);
    if (place.stream) continue;
    for (const std::string& input : inputs) {
      std::error_code error;  // what does not exist is no input
      if (!std::filesystem::equivalent(output, input, error)) continue;
      throw UsageError(
          fmt::format("{}: is read by this command and would be replaced; write to "
                      "another file",
                      output));
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

}  // namespace amasia
