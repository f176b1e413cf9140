#include "harness/results/compare.hpp"

#include <gtest/gtest.h>

#include "harness/results/comparison.hpp"

#include <algorithm>
#include <functional>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

ResultFile one_group() { return {sample_provenance(), {}, {sample_group(512)}}; }

void scale(Row& row, double factor) {
  for (Sample& sample : row.samples) sample.time_ms *= static_cast<float>(factor);
}

const FileComparisonRow& row_of(const FileComparison& c, std::string_view variant, Role role) {
  for (const FileComparisonRow& row : c.rows) {
    if (row.variant == variant && row.role == role) return row;
  }
  throw std::runtime_error("no row " + std::string(variant));
}

bool warns(const FileComparison& c, const std::string& part) {
  return std::any_of(c.warnings.begin(), c.warnings.end(),
                     [&](const std::string& w) { return w.find(part) != std::string::npos; });
}

TEST(CompareFiles, AFileDoesNotDifferFromItself) {
  const FileComparison c = compare_files(one_group(), one_group(), 0.9);
  EXPECT_EQ(c.rows.size(), 5u);  // the A/A controls are no cases of their own
  for (const FileComparisonRow& row : c.rows) {
    EXPECT_EQ(row.verdict, Change::not_resolved);
    EXPECT_EQ(row.speedup.ratio, 1);
  }
  EXPECT_TRUE(c.warnings.empty());
  EXPECT_TRUE(c.only_in_a.empty());
  EXPECT_TRUE(c.only_in_b.empty());
}

TEST(CompareFiles, SaysWhichIsFasterAndByHowMuch) {
  ResultFile b = one_group();
  scale(b.groups[0].rows[0], 0.5);  // baseline iso
  scale(b.groups[0].rows[2], 2);    // tma iso
  b.groups[0].rows[2].config = "32x16";
  const FileComparison c = compare_files(one_group(), b, 0.9);
  const FileComparisonRow& baseline = row_of(c, "hotspot/baseline", Role::iso);
  EXPECT_EQ(baseline.verdict, Change::faster);
  EXPECT_DOUBLE_EQ(baseline.speedup.ratio, 2);
  EXPECT_DOUBLE_EQ(baseline.a_ms, 2 * baseline.b_ms);
  const FileComparisonRow& tma = row_of(c, "hotspot/tma", Role::iso);
  EXPECT_EQ(tma.verdict, Change::slower);
  EXPECT_EQ(tma.a_config, "iso");
  EXPECT_EQ(tma.b_config, "32x16");
  EXPECT_EQ(row_of(c, "hotspot/tma", Role::best).verdict, Change::not_resolved);
}

TEST(CompareFiles, TheControlDoesNotStandInForTheBaseline) {
  ResultFile b = one_group();
  b.groups[0].rows[0].status = RowStatus::failed;
  const FileComparison c = compare_files(one_group(), b, 0.9);
  EXPECT_EQ(c.rows.size(), 4u);
  ASSERT_EQ(c.only_in_a.size(), 1u);
  EXPECT_TRUE(contains(c.only_in_a[0], "hotspot/baseline iso"));
}

TEST(CompareFiles, ConfidenceIsSharedAmongTheRows) {
  const FileComparison five = compare_files(one_group(), one_group(), 0.9);
  ResultFile small = one_group();
  small.groups[0].rows.resize(1);
  const FileComparison one = compare_files(small, small, 0.9);
  const auto times = usable_times(one_group().groups[0].rows[0]);
  EXPECT_EQ(row_of(one, "hotspot/baseline", Role::iso).speedup.coverage,
            independent_ratio(times, times, 0.9).coverage);
  EXPECT_EQ(row_of(five, "hotspot/baseline", Role::iso).speedup.coverage,
            independent_ratio(times, times, corrected_confidence(0.9, 5)).coverage);
  EXPECT_GT(row_of(five, "hotspot/baseline", Role::iso).speedup.coverage,
            row_of(one, "hotspot/baseline", Role::iso).speedup.coverage);
}

TEST(CompareFiles, ASweepThatDiffersTenfoldIsResolved) {
  // Nine rounds each: one case of a hundred could not be told apart alone, all of them can.
  ResultFile a = one_group();
  for (int rows = 1; rows < 20; ++rows) a.groups.push_back(sample_group(rows));
  ResultFile b = a;
  for (GroupResult& group : b.groups) {
    for (Row& row : group.rows) scale(row, 0.1);
  }
  const FileComparison c = compare_files(a, b, 0.95);
  EXPECT_EQ(c.rows.size(), 100u);
  for (const FileComparisonRow& row : c.rows) {
    EXPECT_EQ(row.verdict, Change::faster);
    EXPECT_NEAR(row.speedup.ratio, 10, 1e-6);
  }
  ASSERT_EQ(c.warnings.size(), 1u);
  EXPECT_EQ(c.warnings[0],
            "100 of 100 cases of hotspot whose code is the same became faster, by 10x in the "
            "median: that is the machine, its clock or the build, and in every other difference of "
            "hotspot, too");
}

TEST(CompareFiles, SaysThatThereAreTooFewRoundsToTellAnythingApart) {
  // Nine rounds reach a level of 0.0078, and that was not asked for.
  ResultFile b = one_group();
  for (Row& row : b.groups[0].rows) scale(row, 0.1);
  for (const FileComparisonRow& row : compare_files(one_group(), b, 0.99).rows) {
    EXPECT_EQ(row.verdict, Change::faster);
  }
  const FileComparison c = compare_files(one_group(), b, 0.995);
  for (const FileComparisonRow& row : c.rows) EXPECT_EQ(row.verdict, Change::too_few_rounds);
  ASSERT_EQ(c.warnings.size(), 1u);
  EXPECT_EQ(
      c.warnings[0],
      "5 of 5 cases have too few rounds to be told apart, however much they differ: 10 rounds "
      "on each side are enough where all of them do, 12 where one does (amasia run "
      "--min-rounds, or fewer cases)");
}

/// A run of the file on a GPU, every row longer by a share of its own.
ResultFile run_on(const std::string& gpu, const std::string& date,
                  const std::function<double(std::size_t)>& longer) {
  ResultFile file = one_group();
  file.provenance.device.uuid_hash = gpu;
  file.provenance.date_utc = date;
  for (std::size_t r = 0; r < file.groups[0].rows.size(); ++r) {
    scale(file.groups[0].rows[r], 1 + longer(r));
  }
  recompute(file.groups[0], 0.95);
  return file;
}

TEST(CompareFiles, APlainReRunOnAnotherGpuIsNotResolvedWhereSessionsTellHowFarRowsMove) {
  // GPUs that differ by half a percent, in runs whose medians are known to a tenth of that.
  const auto on = [](const std::string& gpu, const char* date, double sign) {
    ResultFile file =
        run_on(gpu, date, [&](std::size_t r) { return sign * 0.005 * static_cast<double>(r % 3); });
    for (Row& row : file.groups[0].rows) {
      for (Sample& s : row.samples) s.time_ms *= 1 + 1e-4F * static_cast<float>(s.round - 4);
    }
    return file;
  };
  const ResultFile a = on("one", "2026-11-20T10:00:00Z", 0),
                   b = on("two", "2026-11-20T11:00:00Z", 1),
                   c = on("three", "2026-11-20T12:00:00Z", -1),
                   d = on("four", "2026-11-20T13:00:00Z", 0.5);
  const FileComparison with = compare_files(a, b, 0.95, {&c, &d});
  for (const FileComparisonRow& row : with.rows) {
    EXPECT_TRUE(row.between_runs);
    EXPECT_EQ(row.verdict, Change::not_resolved) << row.variant;
  }
  // What differs by more than that is.
  ResultFile faster = b;
  for (Row& row : faster.groups[0].rows) scale(row, 0.8);
  recompute(faster.groups[0], 0.95);
  faster.provenance.sources["hotspot/tma"] = "changed";
  for (Row& row : faster.groups[0].rows) row.source_digest = "changed";
  for (const FileComparisonRow& row : compare_files(a, faster, 0.95, {&b, &c, &d}).rows) {
    EXPECT_EQ(row.verdict, Change::faster) << row.variant;
    EXPECT_LT(row.speedup.low, 1.25);
    EXPECT_GT(row.speedup.high, 1.25);
  }
}

/// A later run, with the small differences that runs have.
ResultFile later_run(const std::string& gpu) {
  return run_on(gpu, "2026-11-21T10:00:00Z",
                [](std::size_t r) { return r % 2 == 0 ? 0.001 : -0.001; });
}
ResultFile earlier_run() {
  return run_on("one", "2026-11-20T10:00:00Z", [](std::size_t) { return 0.0; });
}

TEST(CompareFiles, WhatIsToBeJudgedIsNotTakenForWhatDiffersBetweenRuns) {
  // All rows of unchanged code take a tenth of the time, on this GPU or on another one.
  for (const char* gpu : {"one", "two"}) {
    ResultFile b = later_run(gpu);
    for (Row& row : b.groups[0].rows) scale(row, 0.1);
    recompute(b.groups[0], 0.95);
    const FileComparison c = compare_files(earlier_run(), b, 0.95);
    for (const FileComparisonRow& row : c.rows) {
      EXPECT_TRUE(row.between_runs);
      EXPECT_EQ(row.verdict, Change::faster) << row.variant;
      EXPECT_GT(row.speedup.low, 9.5) << row.variant;
      EXPECT_LT(row.speedup.high, 10.5) << row.variant;
    }
    EXPECT_TRUE(warns(c, "5 of 5 cases of hotspot whose code is the same became faster, by "));
    // Nor where the later file is named once more as one that tells how far rows move.
    for (const FileComparisonRow& row : compare_files(earlier_run(), b, 0.95, {&b}).rows) {
      EXPECT_EQ(row.verdict, Change::faster) << row.variant;
    }
  }
}

TEST(CompareFiles, OneRowThatMovedIsToldFromThoseThatMovedAsRunsDo) {
  for (const char* gpu : {"one", "two"}) {
    ResultFile b = later_run(gpu);
    scale(b.groups[0].rows[2], 0.5);
    recompute(b.groups[0], 0.95);
    const FileComparison c = compare_files(earlier_run(), b, 0.95);
    for (const FileComparisonRow& row : c.rows) {
      const bool moved = row.variant == "hotspot/tma" && row.role == Role::iso;
      EXPECT_EQ(row.verdict, moved ? Change::faster : Change::not_resolved) << row.variant;
    }
  }
}

TEST(CompareFiles, FewRowsOfUnchangedCodeTellNothingOfRuns) {
  // With four rows the level that is taken out would be most of what they say.
  ResultFile a = earlier_run(), b = later_run("two");
  for (ResultFile* file : {&a, &b}) file->groups[0].rows.resize(4);
  for (Row& row : b.groups[0].rows) scale(row, 0.1);
  for (ResultFile* file : {&a, &b}) recompute(file->groups[0], 0.95);
  const FileComparison c = compare_files(a, b, 0.95);
  ASSERT_LT(c.rows.size(), 5u);
  for (const FileComparisonRow& row : c.rows) {
    EXPECT_FALSE(row.between_runs);
    EXPECT_EQ(row.verdict, Change::faster);
  }
}

TEST(CompareFiles, OneRunOnEachSideIsSaid) {
  for (const FileComparisonRow& row : compare_files(one_group(), one_group(), 0.9).rows) {
    EXPECT_FALSE(row.between_runs);
  }
}

TEST(CompareFiles, ThrottledSamplesAndFailedRowsDoNotCount) {
  ResultFile b = one_group();
  // So many that they would carry the median away.
  for (int round = 20; round < 60; ++round) {
    b.groups[0].rows[0].samples.push_back({round, 0, 1e6, 900.0, true});
  }
  b.groups[0].rows[2].status = RowStatus::failed;
  const FileComparison c = compare_files(one_group(), b, 0.9);
  EXPECT_EQ(row_of(c, "hotspot/baseline", Role::iso).speedup.ratio, 1);
  ASSERT_EQ(c.only_in_a.size(), 1u);
  EXPECT_TRUE(contains(c.only_in_a[0], "hotspot/tma iso (hotspot rows=512"));
}

TEST(CompareFiles, InvalidGroupsDoNotCount) {
  const ResultFile a = sample_results();
  ResultFile b = a;
  b.groups[0].invalid = {{InvalidKind::interference, "somebody was there", "ask him to leave"}};
  const FileComparison comparison = compare_files(a, b, 0.95);
  EXPECT_LT(comparison.rows.size(), compare_files(a, a, 0.95).rows.size());
  for (const FileComparisonRow& row : comparison.rows) EXPECT_NE(row.key, b.groups[0].key);
  EXPECT_TRUE(std::any_of(
      comparison.warnings.begin(), comparison.warnings.end(), [](const std::string& warning) {
        return warning.ends_with("is left out: not valid in B (company: somebody was there)");
      }));
}

TEST(CompareFiles, ARowThatIsAlwaysThrottledIsComparedAllTheSame) {
  ResultFile b = one_group();
  for (Sample& sample : b.groups[0].rows[0].samples) sample.throttled = true;
  const FileComparison c = compare_files(one_group(), b, 0.9);
  EXPECT_TRUE(c.only_in_a.empty());
  EXPECT_NEAR(row_of(c, "hotspot/baseline", Role::iso).speedup.ratio, 1, 0.01);
}

TEST(CompareFiles, CasesMatchBySizeCacheAndLaunch) {
  for (const char* what : {"size", "cache", "launch"}) {
    ResultFile b = one_group();
    if (std::string(what) == "size") b.groups[0] = sample_group(1024);
    if (std::string(what) == "cache") b.groups[0].key.cache = CacheMode::hot;
    if (std::string(what) == "launch") b.groups[0].key.launch = LaunchMode::graph;
    const FileComparison c = compare_files(one_group(), b, 0.9);
    EXPECT_TRUE(c.rows.empty()) << what;
    EXPECT_EQ(c.only_in_a.size(), 5u) << what;
    EXPECT_EQ(c.only_in_b.size(), 5u) << what;
    EXPECT_TRUE(warns(c, "no case in common")) << what;
  }
}

TEST(CompareFiles, CandidatesMatchByConfig) {
  ResultFile a = one_group();
  a.groups[0].rows.resize(1);
  a.groups[0].rows[0].role = Role::candidate;
  a.groups[0].rows.push_back(a.groups[0].rows[0]);
  a.groups[0].rows[1].config = "other";
  scale(a.groups[0].rows[1], 4);
  const FileComparison c = compare_files(a, a, 0.9);
  ASSERT_EQ(c.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(c.rows[1].a_ms, 4 * c.rows[0].a_ms);
}

TEST(CompareFiles, WarnsOfWhatElseDiffers) {
  struct Case {
    const char* expected;
    void (*change)(ResultFile&);
  };
  const Case cases[] = {
      {"GPU differs: NVIDIA H200 in A, NVIDIA H100 in B",
       [](ResultFile& f) { f.provenance.device.name = "NVIDIA H100"; }},
      {"two GPUs of one type", [](ResultFile& f) { f.provenance.device.uuid_hash = "0"; }},
      {"CUDA driver differs: 13000 in A, 12080 in B",
       [](ResultFile& f) { f.provenance.device.driver_version = 12080; }},
      {"CUDA compiler differs", [](ResultFile& f) { f.provenance.cuda_compiler = "other"; }},
      {"compiler flags differs", [](ResultFile& f) { f.provenance.flags = "-O0"; }},
      {"sources of the harness", [](ResultFile& f) { f.provenance.harness_digest = "0"; }},
      {"the sources of hotspot/tma differ",
       [](ResultFile& f) { f.provenance.sources["hotspot/tma"] = "0"; }},
      {"seeds", [](ResultFile& f) { f.groups[0].seed = 3; }},
  };
  for (const Case& c : cases) {
    ResultFile b = one_group();
    c.change(b);
    const FileComparison comparison = compare_files(one_group(), b, 0.9);
    EXPECT_EQ(comparison.warnings.size(), 1u) << c.expected;
    EXPECT_TRUE(warns(comparison, c.expected)) << c.expected;
  }
  ResultFile b = one_group();
  b.provenance.sources["gemm/tma"] = "0";  // not compared here
  EXPECT_TRUE(compare_files(one_group(), b, 0.9).warnings.empty());
}

TEST(CompareFiles, FormsAreTheRecordedOnes) {
  ResultFile b = sample_results();
  scale(b.groups[0].rows[2], 0.5);
  b.groups[0].rows.pop_back();
  b.provenance.device.name = "NVIDIA H100";
  const FileComparison c = compare_files(sample_results(), b, 0.95);
  expect_golden("comparison.md", to_markdown(c));
  expect_golden("comparison.csv", to_csv(c));
  expect_golden("comparison.json", dump_json(to_json(c)));
}

}  // namespace
}  // namespace amasia
