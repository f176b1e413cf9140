#include "harness/results/recomputed.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

template <class Edit>
std::string refusal_of(const Edit& edit) {
  ResultFile file = sample_results();
  edit(file.groups[0]);
  return message_of<ResultError>([&] { check_summaries(file); });
}

TEST(CheckSummaries, TakesWhatFollowsFromTheSamples) {
  EXPECT_NO_THROW(check_summaries(sample_results()));
}

TEST(CheckSummaries, RefusesAnEditedNumberAndNamesIt) {
  EXPECT_TRUE(contains(refusal_of([](GroupResult& g) { g.comparisons[1].speedup.ratio = 9.99; }),
                       "groups[0].comparisons[1].speedup.ratio: expected 1.2"));
  EXPECT_TRUE(contains(refusal_of([](GroupResult& g) { g.comparisons[1].speedup.low /= 2; }),
                       "groups[0].comparisons[1].speedup.low: expected"));
  EXPECT_TRUE(
      contains(refusal_of([](GroupResult& g) { g.comparisons[1].speedup.resolved = false; }),
               "groups[0].comparisons[1].verdict: expected not resolved"));
  EXPECT_TRUE(contains(refusal_of([](GroupResult& g) { g.rows[2].time_ms->median *= 0.9; }),
                       "groups[0].rows[2].time_ms.median: expected"));
  EXPECT_TRUE(contains(refusal_of([](GroupResult& g) { g.rows[2].time_ms->n = 8; }),
                       "groups[0].rows[2].time_ms.n: expected 9"));
  EXPECT_TRUE(contains(refusal_of([](GroupResult& g) { g.rows[2].samples[4].time_ms *= 2; }),
                       "groups[0].rows[2].time_ms."));
}

TEST(CheckSummaries, RefusesWordsThatTheNumbersDoNotSay) {
  EXPECT_EQ(refusal_of([](GroupResult& g) {
              g.comparisons[1].verdict = SpeedVerdict::slower;
              g.comparisons[1].claim = SpeedClaim::slower;
            }),
            "groups[0].comparisons[1].verdict: expected faster, as the samples have it, found "
            "slower");
  // Slower by its own interval, and no slower than the baseline is than itself.
  EXPECT_EQ(refusal_of([](GroupResult& g) {
              for (Comparison& c : g.comparisons) {
                if (c.claim == SpeedClaim::within_noise) c.claim = SpeedClaim::slower;
              }
            }),
            "groups[0].comparisons[4].claim: expected within A/A noise, as the samples have it, "
            "found slower");
}

TEST(CheckSummaries, RefusesAMedianWithoutSamples) {
  EXPECT_TRUE(contains(refusal_of([](GroupResult& g) { g.rows[2].samples.clear(); }),
                       "groups[0].rows[2].time_ms: expected nothing"));
}

/// The recorded files, whatever their version: each is read, so each says what its samples say.
TEST(RecordedFiles, SayWhatTheirSamplesSay) {
  const std::filesystem::path folder = std::filesystem::path(AMASIA_SOURCE_DIR) / "results";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "tuning.json") continue;
    EXPECT_NO_THROW(read_result_file(entry.path().string())) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace amasia
