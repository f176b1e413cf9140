#include "harness/gbench/reporter.hpp"

#include <limits>
#include <ostream>
#include <utility>

#include "harness/report/google_benchmark.hpp"

namespace amasia {

std::string exported_name(const std::string& listed) {
  for (const char* addition : {"/iterations:", "/manual_time"}) {
    if (const auto at = listed.find(addition); at != std::string::npos) return listed.substr(0, at);
  }
  return listed;
}

ExportedForm::ExportedForm(std::unique_ptr<benchmark::BenchmarkReporter> other, bool all_counters)
    : other_(std::move(other)), all_counters_(all_counters) {}

bool ExportedForm::ReportContext(const Context& context) {
  other_->SetOutputStream(&GetOutputStream());
  other_->SetErrorStream(&GetErrorStream());
  return other_->ReportContext(context);
}

void ExportedForm::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> changed = runs;
  // Where there are several repetitions, their aggregates follow.
  std::erase_if(changed, [](const Run& run) {
    return run.run_type == Run::RT_Iteration && run.repetitions > 1 &&
           says_no_time(run.report_label);
  });
  if (changed.empty()) return;
  for (Run& run : changed) {
    if (says_no_time(run.report_label)) run.real_accumulated_time = 0;
    run.run_name.iterations.clear();
    run.run_name.time_type.clear();
    run.cpu_accumulated_time = run.real_accumulated_time;
    for (const char* counter : counters::all) {
      if (all_counters_ && run.counters.find(counter) == run.counters.end()) {
        run.counters[counter] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
  other_->ReportRuns(changed);
}

void ExportedForm::Finalize() {
  other_->Finalize();
  failed_ = !GetOutputStream().flush();
}

std::unique_ptr<ExportedForm> display_reporter(const std::string& format) {
  // The library's own choice: it also knows about colours.
  std::unique_ptr<benchmark::BenchmarkReporter> own(benchmark::CreateDefaultDisplayReporter());
  return std::make_unique<ExportedForm>(std::move(own), format == "csv");
}

std::unique_ptr<ExportedForm> file_reporter(const std::string& format) {
  std::unique_ptr<benchmark::BenchmarkReporter> own;
  if (format == "csv") {
    BENCHMARK_DISABLE_DEPRECATED_WARNING
    own = std::make_unique<benchmark::CSVReporter>();
    BENCHMARK_RESTORE_DEPRECATED_WARNING
  } else if (format == "console") {
    own = std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
  } else {
    own = std::make_unique<benchmark::JSONReporter>();
  }
  return std::make_unique<ExportedForm>(std::move(own), format == "csv");
}

}  // namespace amasia
