// What Google Benchmark reports of a run, in the names and numbers of the files that
// `amasia export --google-benchmark` writes.
#pragma once

#include <memory>
#include <string>

#include <benchmark/benchmark.h>

namespace amasia {

/// A name as the library lists it, without what it adds for the way it was measured:
/// ".../cold/stream" of ".../cold/stream/iterations:1/manual_time".
std::string exported_name(const std::string& listed);

/// Hands everything on to another reporter, changed so that it reads as an exported file does:
/// names without the library's additions; the time that a kernel took for its CPU time, too,
/// because it has none and the host's would be compared instead; of what is no time the aggregates
/// alone.
class ExportedForm : public benchmark::BenchmarkReporter {
 public:
  /// `all_counters`: a run gets those that it lacks as "not a number". For CSV, whose reporter ends
  /// the program when a run has a counter that the first one lacks.
  ExportedForm(std::unique_ptr<benchmark::BenchmarkReporter> other, bool all_counters);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  /// Whether some of it could not be written. After Finalize().
  bool failed() const { return failed_; }

 private:
  std::unique_ptr<benchmark::BenchmarkReporter> other_;
  bool all_counters_, failed_ = false;
};

/// The reporter of the display, in the format that the library's flags ask for.
std::unique_ptr<ExportedForm> display_reporter(const std::string& format);
/// The same for a file.
std::unique_ptr<ExportedForm> file_reporter(const std::string& format);

}  // namespace amasia
