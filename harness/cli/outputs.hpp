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
/// Whether what is written there comes out of stdout: "-", "/dev/stdout", the file it goes to.
bool is_stdout(const std::string& path);
/// The same when `out`, or one of `paths`, would replace one of the files that are read
/// or another output.
void keep_inputs(const std::vector<std::string>& inputs, const ExportPaths& paths,
                 const std::string& out = "");

/// `text` to a file, or to stdout when `path` is "-"; nothing when it is empty.
void write_output(const std::string& path, const std::string& text);

/// Writes what follows a measurement; an error of that says that the results are in `out`.
void or_say_where_results_are(const std::string& out, const std::function<void()>& write);

/// Writes the forms of `file` that are asked for.
void write_exports(const ResultFile& file, const ExportPaths& paths);

// The last line a person reads: what to try next.

/// "next: amasia study quick times every variant (...)": `command` and what it does, on stderr, so
/// that nothing is added to what a program reads from stdout.
void say_next(const std::string& command, const std::string& what_it_does);

/// "python -m plots report run.json", or with ./plots.sh where that is: in a clone.
std::string plots_command(const std::vector<std::string>& words);

/// "amasia tune pathfinder '*/tma'": a command with these patterns, as a shell takes them.
std::string with_patterns(const std::string& command, const std::vector<std::string>& patterns);

}  // namespace amasia
