#include "harness/conclusions/comparison.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/report/report.hpp"
#include "tests/sample_results.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

TEST(Markdown, IsTheRecordedOne) { expect_golden("result.md", to_markdown(sample_results())); }

TEST(Markdown, PrintsTimesThatDivideToTheSpeedups) {
  const ResultFile file = sample_results();
  std::size_t divided = 0;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      const Comparison* c = comparison_of(group, row);
      if (c == nullptr) continue;
      const auto pair = rows_of(group.rows, *c);
      ASSERT_TRUE(pair.has_value());
      ASSERT_EQ(pair->row, &row);  // the time in the same line of the table
      const double quotient = pair->reference->time_ms->median / row.time_ms->median;
      EXPECT_GE(quotient, 0.998 * c->speedup.low) << row.variant;
      EXPECT_LE(quotient, 1.002 * c->speedup.high) << row.variant;
      ++divided;
    }
  }
  EXPECT_GT(divided, 3u);
}

TEST(Csv, IsTheRecordedOne) {
  const ResultFile file = sample_results();
  expect_golden("summary.csv", to_csv(summary_table(file)));
}

constexpr auto faster = SpeedClaim::faster, slower = SpeedClaim::slower,
               open = SpeedClaim::not_resolved, noise = SpeedClaim::within_noise;

/// A group that compares these strategies with the baseline.
struct Compared {
  const char* strategy;
  SpeedClaim claim;
  double ratio, low, high;
  Role role = Role::best;
};

void add(GroupResult& group, const Compared& of, const char* schedule = "4-warps",
         const char* against_schedule = "4-warps") {
  Comparison c;
  c.variant = "hotspot/" + std::string(of.strategy);
  c.role = of.role;
  c.schedule = schedule;
  c.against = "hotspot/baseline";
  c.against_schedule = against_schedule;
  c.speedup = {of.ratio, of.low, of.high, 0.99, 15, true};
  c.claim = of.claim;
  group.comparisons.push_back(std::move(c));
}

GroupResult group_of(const std::vector<Compared>& comparisons, int size = 512) {
  GroupResult group = sample_group(size);
  group.comparisons.clear();
  group.rounds = 20;
  for (const Compared& of : comparisons) add(group, of);
  return group;
}

/// Behind the name of the group.
std::string answer_of(GroupResult group) {
  ResultFile file;
  const std::string label = group.key.to_string() + ": ";
  file.groups.push_back(std::move(group));
  const std::vector<Answer> list = answers(file);
  if (list.empty()) return "";
  EXPECT_TRUE(list[0].text.starts_with(label)) << list[0].text;
  return list[0].text.substr(label.size());
}

TEST(Answers, SayWhoWinsInALine) {
  const struct {
    std::vector<Compared> compared;
    const char* says;
  } cases[] = {
      {{{"tma", faster, 1.17, 1.15, 1.19}, {"dsm", slower, 0.8, 0.7, 0.9}},
       "tma 1.17× [1.15, 1.19] faster than the tuned baseline (one run)"},
      {{{"tma", faster, 1.17, 1.15, 1.19},
        {"dsm", faster, 1.14, 1.12, 1.16},
        {"overlap", faster, 1.1, 1.09, 1.12}},
       "tma 1.17× [1.15, 1.19] faster than the tuned baseline; ties with dsm (one run)"},
      {{{"tma", faster, 1.004, 1.001, 1.007}},
       "tma 1.004× [1.001, 1.007] faster than the tuned baseline (one run)"},
      {{{"tma", slower, 0.8, 0.7, 0.9}, {"dsm", slower, 0.9, 0.8, 0.95}},
       "the tuned baseline wins: every other one is slower (one run)"},
      {{{"tma", open, 1.001, 0.997, 1.0081},
        {"dsm", noise, 1.001, 0.998, 1.002},
        {"overlap", open, 1, 0.999, 1.001}},
       "a tie: tma, dsm, overlap and the tuned baseline differ by at most 0.9 % (one run)"},
      {{{"tma", open, 1.1, 0.9, 1.3}, {"dsm", slower, 0.9, 0.8, 0.95}},
       "not resolved between tma and the tuned baseline (one run)"},
      {{{"tma", faster, 1.5, 1.4, 1.6, Role::iso}},
       "tma 1.50× [1.40, 1.60] faster than the baseline (one run)"},
      {{}, ""}};
  for (const auto& c : cases) EXPECT_EQ(answer_of(group_of(c.compared)), c.says);
}

TEST(Answers, NameAGainThatIsOfTheScheduleAlone) {
  GroupResult group = group_of({});
  add(group, {"tma", faster, 2, 1.9, 2.1}, "8-warps");
  add(group, {"baseline", faster, 2, 1.9, 2.1, Role::matched}, "8-warps");
  add(group, {"tma", noise, 1, 0.99, 1.01, Role::matched}, "8-warps", "8-warps");
  EXPECT_EQ(
      answer_of(group),
      "tma 2.00× [1.90, 2.10] faster than the tuned baseline by its schedule alone (one run)");
  group.comparisons[2].claim = faster;
  EXPECT_EQ(answer_of(group), "tma 2.00× [1.90, 2.10] faster than the tuned baseline (one run)");
}

TEST(Answers, AreSortedAndNotGivenForAnInvalidGroup) {
  ResultFile file;
  file.groups = {group_of({{"tma", slower, 0.8, 0.7, 0.9}}, 256),
                 group_of({{"tma", faster, 1.2, 1.1, 1.3}}, 512),
                 group_of({{"tma", faster, 1.4, 1.3, 1.5}}, 1024),
                 group_of({{"tma", SpeedClaim::invalid, 9, 8, 10}}, 2048)};
  file.provenance.sessions.resize(2);
  const std::vector<Answer> list = answers(file);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_TRUE(contains(list[0].text, "rows=1024") &&
              list[0].text.ends_with("(the first of 2 runs)"));
  EXPECT_TRUE(list[1].faster && !list[2].faster && contains(list[2].text, "wins"));
}

TEST(NotResolved, IsWhatRanFasterThanTheWinner) {
  GroupResult group = group_of({{"tma", faster, 2, 1.9, 2.1}, {"dsm", open, 2.5, 0.9, 2.6}});
  ASSERT_EQ(not_resolved(group).size(), 1u);
  EXPECT_TRUE(not_resolved(group)[0].ends_with(
      "dsm ran 2.50× [0.90, 2.60], not resolved; more rounds (--min-rounds 41 --max-rounds 41) "
      "may resolve it"));
  group.comparisons[1].claim = noise;
  EXPECT_TRUE(contains(not_resolved(group).at(0), "baseline differs less from itself may"));
  group.comparisons[1].speedup.ratio = 1.5;
  EXPECT_TRUE(not_resolved(group).empty());
}

TEST(Sentence, NamesBothSidesAndWhatIsNotClaimed) {
  GroupResult group = group_of({{"tma", open, 1.001, 0.9969, 1.0081}});
  Comparison& c = group.comparisons[0];
  EXPECT_EQ(sentence_of(c, "mine", "theirs"),
            "mine against theirs: no difference larger than 0.9 %, 1.001x [0.9969, 1.008]");
  c.claim = noise;
  c.speedup.high = 1.03;
  EXPECT_EQ(sentence_of(c, "mine", "theirs"),
            "mine against theirs: within A/A noise, 1.001x [0.9969, 1.030]");
  c.claim = slower;
  c.speedup = {0.8, 0.5, 0.9, 0.99, 9, true};
  EXPECT_EQ(sentence_of(c, "mine", "theirs"), "mine ran 1.250x [1.111, 2.000] slower than theirs");
}

}  // namespace
}  // namespace amasia
