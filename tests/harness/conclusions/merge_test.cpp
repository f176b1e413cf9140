#include "harness/conclusions/recomputed.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/plan/selection.hpp"
#include "harness/statistics/statistics.hpp"
#include "tests/sample_results.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

ResultFile shard(const std::string& name, const std::vector<int>& rows) {
  ResultFile file{sample_provenance(), sample_ceilings(), {}};
  file.provenance.settings["shard"] = name;
  for (const int r : rows) file.groups.push_back(sample_group(r));
  return file;
}

std::string error_of(const std::vector<ResultFile>& files) {
  return message_of<ResultError>([&] { merge_files(files, {"a.json", "b.json"}); });
}

TEST(MergeFiles, ShardsGiveBackThePlan) {
  const std::vector<int> plan{1, 2, 3, 4, 5, 6, 7};
  std::vector<ResultFile> files;
  std::vector<std::string> names;
  for (int i = 1; i <= 3; ++i) {
    files.push_back(shard(std::to_string(i) + "/3", keep_shard(plan, Shard{i, 3})));
    names.push_back("shard" + std::to_string(i));
  }
  const ResultFile merged = merge_files(files, names);
  ASSERT_EQ(merged.groups.size(), plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(to_json(merged.groups[i]), to_json(sample_group(plan[i])));
  }
  EXPECT_EQ(merged.provenance.settings.at("shard"), "1/3,2/3,3/3");
}

TEST(MergeFiles, TheSameGroupTwiceIsAConflict) {
  const std::string error = error_of({shard("1/2", {1, 2}), shard("2/2", {3, 2})});
  EXPECT_TRUE(
      contains(error, "a.json and b.json cannot be merged, both have the group hotspot rows=2"));
  // In one file, too.
  EXPECT_THROW(merge_files({shard("", {2, 2})}, {"a.json"}), ResultError);
}

TEST(MergeFiles, RefusesWhatDoesNotFit) {
  ResultFile b = shard("2/2", {2});
  b.provenance.sources["hotspot/tma"] = "x";  // journal_test.cpp has all that may differ
  EXPECT_TRUE(
      contains(error_of({shard("1/2", {1}), b}),
               "a.json and b.json cannot be merged, they differ in sources of hotspot/tma"));
  EXPECT_TRUE(contains(message_of<ResultError>([] { merge_files({}, {}); }), "nothing to merge"));
}

TEST(MergeFiles, AnotherGpuOfTheTypeIsSaid) {
  ResultFile b = shard("2/2", {2});
  b.provenance.device.uuid_hash = "other";
  const ResultFile merged = merge_files({shard("1/2", {1}), b}, {"a.json", "b.json"});
  EXPECT_TRUE(merged.groups[0].warnings.empty());
  ASSERT_EQ(merged.groups[1].warnings.size(), 1u);
  EXPECT_TRUE(contains(merged.groups[1].warnings[0], "another NVIDIA H200 (other)"));
  EXPECT_EQ(merged.groups[1].uuid_hash, "other");
}

/// A run on a GPU, at a time.
ResultFile run_on(const std::string& gpu, const std::string& date,
                  const std::vector<int>& rows = {512}) {
  ResultFile file = shard("", rows);
  file.provenance.device.uuid_hash = gpu;
  file.provenance.date_utc = date;
  file.provenance.device_state = {{"temperature_c", gpu == "one" ? "40" : "50"}};
  return file;
}

TEST(MergeFiles, ProvenanceAndCeilingsCoverAllFiles) {
  ResultFile a = shard("1/2", {1}), b = shard("2/2", {2});
  b.provenance.dirty = true;
  b.provenance.commit = "fedc";
  b.provenance.date_utc = "2026-11-20T00:00:00Z";
  b.ceilings[0].samples.assign(20, 1.0);  // more than the other has
  const ResultFile merged = merge_files({a, b}, {"a.json", "b.json"});
  EXPECT_EQ(merged.ceilings[0].value, 1);
  const Provenance& from = merged.provenance;
  EXPECT_TRUE(from.dirty);
  EXPECT_EQ(from.commit, a.provenance.commit + ",fedc");
  EXPECT_EQ(from.date_utc, "2026-11-20T00:00:00Z");
}

TEST(MergeSessions, PartsOnTwoGpusAreASessionOnEach) {
  ResultFile first = run_on("one", "2026-11-21T10:00:00Z", {1}),
             second = run_on("two", "2026-11-21T10:00:00Z", {2});
  first.provenance.settings["shard"] = "1/2";
  second.provenance.settings["shard"] = "2/2";
  first.microbenchmarks.emplace_back().name = "memory/here";
  second.microbenchmarks.emplace_back().name = "memory/there";
  const ResultFile parts = merge_files({first, second}, {"a.json", "b.json"});
  for (const MicrobenchmarkResult& m : parts.microbenchmarks) {
    EXPECT_EQ(gpu_of(parts.provenance, m), m.name == "memory/here" ? "one" : "two");
  }
  const ResultFile later = run_on("one", "2026-11-22T10:00:00Z", {1, 2});
  const ResultFile merged = merge_files({parts, later}, {"parts.json", "later.json"});
  ASSERT_EQ(merged.provenance.sessions.size(), 3u);
  EXPECT_EQ(merged.provenance.sessions[1].uuid_hash, "two");
  EXPECT_TRUE(merged.provenance.sessions[1].device_state.empty());  // that of the first part is not
  std::vector<std::string> gpus;
  for (const GroupResult& group : merged.groups) gpus.push_back(gpu_of(merged.provenance, group));
  EXPECT_EQ(gpus, (std::vector<std::string>{"one", "two", "one", "one"}));
  for (const MicrobenchmarkResult& m : merged.microbenchmarks) {
    EXPECT_EQ(gpu_of(merged.provenance, m), m.name == "memory/here" ? "one" : "two");
  }
}

TEST(MergeSessions, AllAreJudgedByTheNewestRuleOfIntervals) {
  // Times that rise over the rounds: the older session's intervals are exact, the newer's widened.
  ResultFile before = run_on("one", "2026-11-21T10:00:00Z", {1}),
             now = run_on("two", "2026-11-22T10:00:00Z", {1});
  for (ResultFile* file : {&before, &now}) {
    GroupResult& group = file->groups[0];
    group.interval_rule.reset();
    if (file == &now) group.interval_rule = IntervalRule::widened;
    for (std::size_t i = 0; i < group.rows[2].samples.size(); ++i) {
      group.rows[2].samples[i].time_ms = 0.016F * (1 + 0.002F * static_cast<float>(i));
    }
    recompute(group, 0.95);
  }
  EXPECT_LT(before.groups[0].rows[2].time_ms->high, now.groups[0].rows[2].time_ms->high);
  const auto read = [](const ResultFile& file) { return result_from_json(to_json(file)); };
  const ResultFile merged = merge_files({read(before), read(now)}, {"before.json", "now.json"});
  ASSERT_EQ(merged.groups.size(), 2u);
  for (const GroupResult& group : merged.groups) {
    EXPECT_EQ(group.interval_rule, newest_rule);
    EXPECT_EQ(group.rows[2].time_ms->coverage, 0.95);
    EXPECT_EQ(group.rows[2].time_ms->high, merged.groups[0].rows[2].time_ms->high);
  }
}

TEST(MergeSessions, APartialSessionIsSaid) {
  const Merged merged = merge({run_on("one", "2026-11-20T10:00:00Z", {1, 2, 3}),
                               run_on("two", "2026-11-21T10:00:00Z", {2})},
                              {"whole.json", "part.json"});
  ASSERT_EQ(merged.notes.size(), 1u);
  EXPECT_TRUE(contains(merged.notes[0], "part.json: has 1 of 3 cases"));
  EXPECT_EQ(merged.file.groups.size(), 4u);
}

TEST(MergeSessions, ARowOfOlderCodeStaysOutAndTheOthersCount) {
  ResultFile old = run_on("one", "2026-11-20T10:00:00Z", {1}),
             changed = run_on("two", "2026-11-21T10:00:00Z", {1});
  changed.provenance.commit = "fedc";
  changed.provenance.harness_digest = "another";
  const std::string code = "0c" + std::string(62, 'b');
  changed.provenance.sources["hotspot/tma"] = code;
  for (Row& row : changed.groups[0].rows) {
    if (row.variant == "hotspot/tma") row.source_digest = code;
  }
  const Merged merged = merge({old, changed}, {"old.json", "new.json"});
  ASSERT_EQ(merged.notes.size(), 1u);
  EXPECT_TRUE(contains(merged.notes[0], "old.json (commit " + old.provenance.commit + ")"));
  EXPECT_TRUE(contains(merged.notes[0], "hotspot/tma stays out"));
  EXPECT_TRUE(contains(merged.notes[0], "new.json"));
  EXPECT_EQ(merged.file.provenance.sources.at("hotspot/tma"), code);
  ASSERT_EQ(merged.file.groups.size(), 2u);
  EXPECT_FALSE(merged.file.groups[0].rows.empty());
  for (const Row& row : merged.file.groups[0].rows) EXPECT_NE(row.variant, "hotspot/tma");
  const auto& rows = merged.file.groups[1].rows;
  EXPECT_NE(std::ranges::find(rows, "hotspot/tma", &Row::variant), rows.end());
  EXPECT_NO_THROW(result_from_json(to_json(merged.file)));
}

TEST(MergeSessions, ShardsOfOnePassAreOneSession) {
  const auto part = [](const std::string& gpu, const std::string& name, int row, const char* hour) {
    ResultFile file = run_on(gpu, std::string("2026-11-20T") + hour + ":00:00Z", {row});
    file.provenance.settings["shard"] = name;
    return file;
  };
  const ResultFile merged = merge_files({part("one", "1/2", 1, "10"), part("one", "2/2", 2, "11"),
                                         part("two", "1/2", 1, "12"), part("two", "2/2", 2, "13")},
                                        {"a", "b", "c", "d"});
  ASSERT_EQ(merged.provenance.sessions.size(), 2u);
  EXPECT_EQ(merged.provenance.sessions[1].date_utc, "2026-11-20T12:00:00Z");

  // Of two passes on one GPU each has its own, in whichever order the files are given; where one
  // has lost a shard, it is not that of the other.
  ResultFile first = part("one", "1/2", 1, "10"), second = part("one", "2/2", 2, "11"),
             next_first = part("one", "1/2", 1, "20"), next_second = part("one", "2/2", 2, "21");
  for (GroupResult* group : {&next_first.groups[0], &next_second.groups[0]}) group->wall_s = 1000;
  const ResultFile shuffled =
      merge_files({first, next_second, second, next_first}, {"a", "b", "c", "d"});
  ASSERT_EQ(shuffled.provenance.sessions.size(), 2u);
  EXPECT_EQ(shuffled.provenance.sessions[1].wall_s, 2000);
  const ResultFile lost = merge_files({first, next_first, next_second}, {"a", "c", "d"});
  ASSERT_EQ(lost.provenance.sessions.size(), 2u);
  EXPECT_EQ(lost.provenance.sessions[1].wall_s, 2000);
}

TEST(MergeSessions, WhatCompiledTheHostsCodeMayDiffer) {
  ResultFile earlier = run_on("two", "2026-11-20T10:00:00Z", {1});
  earlier.provenance.compiler = "Clang 19";
  earlier.provenance.flags = "C++: -O2, CUDA: -Xcompiler -fPIC -O3";
  const ResultFile later = run_on("one", "2026-11-21T10:00:00Z", {1});
  const ResultFile joined = result_from_json(to_json(merge_files({later, earlier}, {"a", "b"})));
  const Provenance& provenance = joined.provenance;
  ASSERT_EQ(provenance.sessions.size(), 2u);
  EXPECT_EQ(provenance.compiler, "Clang 19");  // of the first
  EXPECT_EQ(provenance.sessions[0].flags, earlier.provenance.flags);
  EXPECT_EQ(provenance.sessions[1].compiler, later.provenance.compiler);
  EXPECT_EQ(provenance.sessions[1].flags, later.provenance.flags);

  // Of a file that does not say it of its sessions they are the file's, also once others join it.
  ResultFile older = joined;
  for (SessionRecord& session : older.provenance.sessions) session.compiler = session.flags = "";
  const ResultFile newest = run_on("one", "2026-11-22T10:00:00Z", {1});
  const ResultFile three = merge_files({newest, older}, {"a", "b"});
  ASSERT_EQ(three.provenance.sessions.size(), 3u);
  EXPECT_EQ(three.provenance.sessions[1].compiler, "Clang 19");
  EXPECT_EQ(three.provenance.sessions[2].compiler, newest.provenance.compiler);

  ResultFile cuda = later;
  cuda.provenance.cuda_compiler = "NVIDIA 12.4";
  EXPECT_TRUE(
      contains(error_of({earlier, cuda}),
               "a.json and b.json cannot be sessions of one file, they differ in CUDA compiler"));
}

TEST(MergeSessions, ACaseThatIsThereTwiceWithoutSessionsIsRefused) {
  ResultFile copied = run_on("one", "2026-11-20T10:00:00Z", {1});
  copied.groups.push_back(copied.groups[0]);
  EXPECT_TRUE(contains(message_of<ResultError>([&] { result_from_json(to_json(copied)); }),
                       "groups[1]: expected a case that is not there yet, found "));
}

TEST(MergeSessions, AnIndexThatNamesNoSessionIsRefused) {
  ResultFile merged = merge_files(
      {run_on("one", "2026-11-20T10:00:00Z", {1}), run_on("two", "2026-11-21T10:00:00Z", {1})},
      {"a", "b"});
  const auto error_with = [&](std::optional<int> session) {
    ResultFile edited = merged;
    edited.groups[1].session = session;
    return message_of<ResultError>([&] { result_from_json(to_json(edited)); });
  };
  EXPECT_TRUE(contains(error_with(2), "groups[1].session: expected one of the 2 sessions"));
  EXPECT_TRUE(contains(error_with(std::nullopt), "groups[1].session: expected one of the 2"));
  EXPECT_TRUE(contains(error_with(0), "groups[1].session: expected another session"));
  ResultFile single = run_on("one", "2026-11-20T10:00:00Z", {1});
  single.groups[0].session = 0;
  EXPECT_TRUE(contains(message_of<ResultError>([&] { result_from_json(to_json(single)); }),
                       "the provenance has no sessions"));
}

const ResultFile a = run_on("one", "2026-11-20T10:00:00Z");

TEST(Sessions, TablesShowTheFirstWithTheLeastRounds) {
  ResultFile few = a, more = run_on("two", "2026-11-20T11:00:00Z"),
             three = run_on("three", "2026-11-21T11:00:00Z");
  few.groups[0].rounds = 8;
  more.groups[0].rounds = 15;
  three.groups[0].rounds = 51;
  ResultFile merged = merge_files({few, more, three}, {"a", "two", "three"});
  const auto shown = [&merged] { return shown_groups(merged).at(0)->session; };
  EXPECT_EQ(shown(), 1);
  std::swap(merged.groups[0], merged.groups[1]);  // in whatever order they stand
  EXPECT_EQ(shown(), 1);
  std::swap(merged.groups[0], merged.groups[1]);
  merged.groups[0].rounds = 15;
  EXPECT_EQ(shown(), 0);
}

TEST(Sessions, TablesShowTheOneWithMoreVariants) {
  ResultFile two = run_on("two", "2026-11-20T11:00:00Z");
  Row more = two.groups[0].rows[2];
  more.variant = "hotspot/cuda_barrier";
  two.groups[0].rows.push_back(more);
  ResultFile three = run_on("three", "2026-11-21T11:00:00Z");
  const ResultFile merged = merge_files({a, two, three}, {"a", "two", "three"});
  ASSERT_EQ(shown_groups(merged).size(), 1u);
  EXPECT_EQ(shown_groups(merged)[0]->session, 1);
  ResultFile disturbed = merged;
  for (GroupResult& group : disturbed.groups) {
    if (group.session == 1) group.invalid = {{InvalidKind::interference, "somebody", "wait"}};
  }
  EXPECT_EQ(shown_groups(disturbed)[0]->session, 0);
  // Of other code it does not stand for the first.
  ResultFile other = merged;
  for (GroupResult& group : other.groups) {
    if (group.session != 1) continue;
    for (Row& row : group.rows) row.source_digest = "another";
  }
  EXPECT_EQ(shown_groups(other)[0]->session, 0);
}

}  // namespace
}  // namespace amasia
