// Where the result of a command goes besides the result file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// Path of each form, "-" for stdout, "" for none.
struct ExportPaths {
  std::string json{}, csv{}, csv_points{}, csv_samples{}, markdown{};

  /// Whether one of them takes stdout, by whatever name: then nothing else may be printed there.
  bool on_stdout() const;
  bool none() const;
};

/// Before anything is measured: one clear line (UsageError) when one of them cannot be written.
void check_writable(const ExportPaths& paths);
/// Whether what is written there comes out of stdout: "-", "/dev/stdout" and their like.
bool is_stdout(const std::string& path);
/// The same when `out`, or one of `paths`, would replace one of the files that are read, or when
/// two of them go to one place, where the last would be left or two forms be mixed.
void keep_inputs(const std::vector<std::string>& inputs, const std::string& out,
                 const ExportPaths& paths);

/// `text` to a file, or to stdout when `path` is "-"; nothing when it is empty.
void write_output(const std::string& path, const std::string& text);

/// Writes what follows a measurement; an error of that says that the results are in `out`.
void or_say_where_results_are(const std::string& out, const std::function<void()>& write);

/// Writes the forms of `file` that are asked for.
void write_exports(const ResultFile& file, const ExportPaths& paths);

}  // namespace amasia
