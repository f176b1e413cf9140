#include "harness/results/upgrade.hpp"

#include <gtest/gtest.h>

#include "harness/results/agreement.hpp"
#include "harness/results/compare.hpp"
#include "harness/results/content_digest.hpp"
#include "harness/results/journal.hpp"
#include "harness/results/merge.hpp"
#include "harness/statistics/interval_rule.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

/// Results as they were before rows ran twice in a round and intervals were widened.
ResultFile of_before() {
  ResultFile file = sample_results();
  for (GroupResult& group : file.groups) {
    group.interval_rule.reset();
    for (Row& row : group.rows) row.repeat_samples.clear();
    recompute(group, 0.95);
  }
  return file;
}

/// The same as they are judged now.
ResultFile judged_anew() {
  ResultFile file = of_before();
  for (GroupResult& group : file.groups) judge_anew(group, 0.95);
  return file;
}

/// The same results as version 1 had them.
Json version_1() {
  Json json = to_json(of_before());
  json["version"] = 1;
  json.erase("digest");
  for (Json& group : json["groups"]) {
    for (Json& comparison : group["comparisons"]) comparison.erase("claim");
  }
  return json;
}

bool mentions(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(Version1, IsReadAndItsClaimsAreComputed) {
  const ResultFile file = result_from_json(version_1()), now = sample_results();
  EXPECT_EQ(file.provenance.digests, DigestKind::by_path);
  ASSERT_EQ(file.groups[0].comparisons.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(file.groups[0].comparisons[i].claim, now.groups[0].comparisons[i].claim) << i;
  }
  EXPECT_EQ(file.groups[0].comparisons[4].claim, SpeedClaim::within_noise);
}

TEST(Version1, AStopReasonInOtherWordsIsNone) {
  Json json = version_1();
  json["groups"][1]["stop_reason"] = "an illegal memory access was encountered";
  EXPECT_FALSE(result_from_json(json).groups[1].stop_reason.has_value());
  json["version"] = 2;
  EXPECT_THROW(result_from_json(json), ResultError);
}

TEST(Version2, MustHaveItsClaims) {
  Json json = version_1();
  json["version"] = 2;
  EXPECT_EQ(message_of<ResultError>([&] { result_from_json(json); }),
            "groups[0].comparisons[0].claim: is missing");
}

TEST(Version2, IsReadWithoutADigest) {
  Json json = to_json(of_before());
  json["version"] = 2;
  json.erase("digest");
  const ResultFile file = result_from_json(json);
  EXPECT_EQ(file.version, 2);
  EXPECT_FALSE(has_content_digest(file.version));
  EXPECT_EQ(file.provenance.digests, DigestKind::by_content);
  EXPECT_EQ(to_json(file), to_json(judged_anew()));
}

TEST(Version3, MustHaveItsDigest) {
  Json json = to_json(sample_results());
  json.erase("digest");
  EXPECT_EQ(message_of<ResultError>([&] { result_from_json(json); }), "digest: is missing");
}

TEST(Version3, IsCheckedAsExactWhateverItsMembersSayAndJudgedAnew) {
  Json json = to_json(of_before());
  json["version"] = 3;
  json["groups"][0]["interval_rule"] = "widened";
  json["groups"][0]["rows"][2]["repeat_samples"] = json["groups"][0]["rows"][2]["samples"];
  const GroupResult group = result_from_json(with_digest(json)).groups[0];
  EXPECT_EQ(group.interval_rule, newest_rule);
  EXPECT_TRUE(group.rows[2].repeat_samples.empty());
}

TEST(Upgrade, GivesTheFileOfThisVersion) {
  ResultFile file = result_from_json(version_1());
  std::map<std::string, std::string> known = sample_provenance().sources;
  known["harness"] = sample_provenance().harness_digest;
  upgrade(file, known);
  EXPECT_EQ(dump_json(to_json(file)), dump_json(to_json(judged_anew())));
}

TEST(Upgrade, ADigestThatNobodyKnowsIsNone) {
  ResultFile file = result_from_json(version_1());
  upgrade(file, {{"hotspot/tma", "c0ffee"}});
  EXPECT_EQ(file.provenance.sources.at("hotspot/tma"), "c0ffee");
  EXPECT_EQ(file.provenance.sources.at("hotspot/baseline"), "");
  EXPECT_EQ(file.groups[0].rows[0].source_digest, "");
  EXPECT_EQ(file.groups[0].rows[2].source_digest, "c0ffee");
  EXPECT_EQ(file.provenance.harness_digest, "");
  const Json before = to_json(file);
  upgrade(file, {{"hotspot/tma", "another"}});  // once only
  EXPECT_EQ(to_json(file), before);
}

TEST(DigestsOfTwoKinds, ArePutInOneSentence) {
  const ResultFile old = result_from_json(version_1()), now = sample_results();
  const std::string phrase =
      "the kind of the digests of the code: by path (schema version 1, see amasia upgrade) against "
      "by content";
  EXPECT_EQ(disagreement(old.provenance, now.provenance, {"hotspot/tma"}, true), phrase);

  const FileComparison compared = compare_files(old, now, 0.95);
  EXPECT_TRUE(mentions(compared.warnings,
                       "whether the sources differ is not known: the digests "
                       "are by path (schema version 1, see amasia upgrade) in "
                       "A, by content in B"));
  EXPECT_FALSE(mentions(compared.warnings, "the sources of "));

  ResultFile other = now;
  for (GroupResult& group : other.groups) group.key.launch = LaunchMode::graph;
  EXPECT_TRUE(contains(message_of<ResultError>([&] {
                         merge_files({old, other}, {"a.json", "b.json"});
                       }),
                       phrase));
}

TEST(DigestsOfTwoKinds, ResumingSaysSo) {
  TemporaryFolder folder;
  write_text(folder / "run.json", dump_json(version_1()));
  const std::string refusal = message_of<ResultError>(
      [&] { Journal::open(folder / "run.json", sample_provenance(), Existing::resume); });
  EXPECT_TRUE(contains(refusal,
                       "cannot be resumed, it differs from this run in the kind of the "
                       "digests of the code"));
  EXPECT_TRUE(is_one_line(refusal));
}

TEST(DigestsOfOneKind, TwoFilesOfVersion1CanBeMerged) {
  Json second = version_1();
  second["groups"][0]["key"]["launch"] = "graph";
  second["groups"][1]["key"]["launch"] = "stream";
  const ResultFile merged =
      merge_files({result_from_json(version_1()), result_from_json(second)}, {"a.json", "b.json"});
  EXPECT_EQ(merged.groups.size(), 4u);
  EXPECT_EQ(merged.groups[0].rows[0].source_digest, "");
  EXPECT_NO_THROW(to_json(merged));
}

TEST(ReadDigests, TakesTheObjectThatListPrints) {
  TemporaryFolder folder;
  write_text(folder / "digests.json", R"({"hotspot/tma": "c0ffee"})");
  EXPECT_EQ(read_digests(folder / "digests.json").at("hotspot/tma"), "c0ffee");
  write_text(folder / "digests.json", R"({"hotspot/tma": 7})");
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_digests(folder / "digests.json"); }),
                       "digests.json: hotspot/tma: expected text, found 7"));
}

}  // namespace
}  // namespace amasia
