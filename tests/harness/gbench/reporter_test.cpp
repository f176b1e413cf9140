#include "harness/gbench/reporter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "harness/report/google_benchmark.hpp"

namespace amasia {
namespace {

using Reported = benchmark::BenchmarkReporter::Run;

/// Keeps what reaches it.
class Kept : public benchmark::BenchmarkReporter {
 public:
  explicit Kept(std::vector<Reported>& runs) : runs_(runs) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Reported>& runs) override {
    runs_.insert(runs_.end(), runs.begin(), runs.end());
  }

 private:
  std::vector<Reported>& runs_;
};

Reported run_of(const std::string& name, const std::string& label, Reported::RunType type) {
  Reported run;
  run.run_name.function_name = name;
  run.run_name.iterations = "iterations:1";
  run.run_name.time_type = "manual_time";
  run.run_type = type;
  run.report_label = label;
  run.repetitions = 3;
  run.real_accumulated_time = 2;
  run.cpu_accumulated_time = 5;
  return run;
}

TEST(ExportedForm, HasNamesWithoutAdditionsAndNoTimeOfTheHost) {
  EXPECT_EQ(exported_name("a/b/n=1/cold/stream/iterations:1/manual_time"), "a/b/n=1/cold/stream");
  EXPECT_EQ(exported_name("a/b/n=1/cold/stream/manual_time"), "a/b/n=1/cold/stream");
  EXPECT_EQ(exported_name("a/b"), "a/b");
  std::vector<Reported> runs;
  ExportedForm form(std::make_unique<Kept>(runs), false);
  form.ReportRuns({run_of("a/b", "wide", Reported::RT_Iteration)});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].benchmark_name(), "a/b");
  EXPECT_EQ(runs[0].real_accumulated_time, 2);
  EXPECT_EQ(runs[0].cpu_accumulated_time, 2);
  EXPECT_TRUE(runs[0].counters.empty());
}

TEST(ExportedForm, OfWhatIsNoTimeTheAggregatesRemain) {
  MicrobenchmarkRow row;
  row.quantity = "capacity";
  row.unit = "KiB";
  const std::string label = benchmark_label(row, false);
  std::vector<Reported> runs;
  ExportedForm form(std::make_unique<Kept>(runs), false);
  form.ReportRuns({run_of("c", label, Reported::RT_Iteration),
                   run_of("c", label, Reported::RT_Aggregate),
                   run_of("d", benchmark_label(row, true), Reported::RT_Iteration)});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].run_type, Reported::RT_Aggregate);
  EXPECT_EQ(runs[0].real_accumulated_time, 0);
  EXPECT_EQ(runs[1].run_name.function_name, "d");
  Reported alone = run_of("c", label, Reported::RT_Iteration);  // no aggregate follows
  alone.repetitions = 1;
  form.ReportRuns({alone});
  EXPECT_EQ(runs.size(), 3u);
}

TEST(ExportedForm, EveryRunOfCsvHasEveryCounter) {
  std::vector<Reported> runs;
  ExportedForm form(std::make_unique<Kept>(runs), true);
  Reported run = run_of("a", "", Reported::RT_Iteration);
  run.counters[counters::value] = 7;
  form.ReportRuns({run});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].counters.size(), std::size(counters::all));
  EXPECT_EQ(runs[0].counters.at(counters::value), 7);
  EXPECT_TRUE(std::isnan(runs[0].counters.at(counters::floor)));
}

TEST(ExportedForm, KnowsWhetherAllOfItWasWritten) {
  std::vector<Reported> runs;
  ExportedForm form(std::make_unique<Kept>(runs), false);
  std::ostringstream stream;
  form.SetOutputStream(&stream);
  form.Finalize();
  EXPECT_FALSE(form.failed());
  stream.setstate(std::ios::badbit);
  form.Finalize();
  EXPECT_TRUE(form.failed());
}

}  // namespace
}  // namespace amasia
