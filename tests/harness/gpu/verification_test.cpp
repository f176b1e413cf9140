// How runs are judged, on an instance in host memory and with the ways to look right without doing
// the work: nothing at all, an output that an earlier run left, work outside the stream.
#include "harness/gpu/verification.hpp"

#include "tests/test.hpp"

namespace amasia {
namespace {

constexpr std::size_t elements = 1000;

/// y = 2 x, of the timed input and a challenge, on which x is negative.
class HostInstance : public Instance {
 public:
  explicit HostInstance(std::size_t n = elements) : x(n), y(n, -1) { fill(); }
  void reset(Stream) override {
    if (poisons) y.assign(y.size(), -1);
  }
  int challenges() const override { return 1; }
  void pose(int challenge) override {
    posed = challenge;
    ++times_posed;
    fill();
  }
  Verdict verify() override {
    Verdict v{true, "exact", 0, 0, static_cast<std::int64_t>(y.size())};
    for (std::size_t i = 0; reads_outputs && i < y.size(); ++i) v.mismatches += y[i] != 2 * x[i];
    v.passed = v.mismatches == 0;
    return v;
  }

  std::vector<int> x, y;
  int posed = 0, times_posed = 0;
  bool poisons = true, reads_outputs = true;

 private:
  void fill() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<int>(i + 1) * (posed == 0 ? 1 : -1);
    }
  }
};

using Way = std::function<void(HostInstance&)>;

void double_all(HostInstance& h) {
  for (std::size_t i = 0; i < h.x.size(); ++i) h.y[i] = 2 * h.x[i];
}

Verdict judged(HostInstance& instance, const Way& work) {
  return verdict_of(instance, instance.challenges(), [&] {
    instance.reset(nullptr);
    work(instance);
  });
}

Verdict of_nothing(HostInstance& instance) {
  instance.reset(nullptr);
  return instance.verify();
}

TEST(Verification, OfSeveralRunsPosesEachChallengeOnce) {
  HostInstance instance;
  std::string order;
  const auto run = [&](char name, Way work) {
    return Performed([&, name, work = std::move(work)] {
      order += name;
      instance.reset(nullptr);
      work(instance);
    });
  };
  const Way magnitudes = [](HostInstance& h) {
    for (std::size_t i = 0; i < h.x.size(); ++i) h.y[i] = 2 * std::abs(h.x[i]);
  };
  const std::vector<Verdict> verdicts = verdicts_of(instance, {{run('a', double_all), 1},
                                                               {run('b', magnitudes), 1},
                                                               {run('c', magnitudes), 0},
                                                               {run('d', double_all), 1}});
  EXPECT_EQ(order, "abdacd") << "the challenge first, who is wrong runs no more";
  EXPECT_EQ(instance.times_posed, 2);
  EXPECT_EQ(instance.posed, 0);
  ASSERT_EQ(verdicts.size(), 4U);
  const auto n = static_cast<std::int64_t>(elements);
  EXPECT_TRUE(verdicts[0].passed && verdicts[2].passed && verdicts[3].passed);
  EXPECT_EQ(verdicts[0].checked, 2 * n);
  EXPECT_EQ(verdicts[2].checked, n) << "a search is not challenged";
  EXPECT_FALSE(verdicts[1].passed);
  EXPECT_EQ(verdicts[1].checked, n);
  EXPECT_TRUE(contains(verdicts[1].norm, "on challenge 1"));
}

TEST(Verification, AVariantThatDoesNothingIsWrong) {
  HostInstance instance;
  ASSERT_TRUE(judged(instance, double_all).passed) << "its output lies there now";
  EXPECT_FALSE(judged(instance, [](HostInstance&) {}).passed);
  EXPECT_FALSE(passes_nothing(of_nothing(instance)));
}

TEST(Verification, AResetThatLeavesAnOldOutputIsFound) {
  HostInstance instance;
  instance.poisons = false;
  ASSERT_TRUE(judged(instance, double_all).passed);
  // Of one input a variant that does nothing is right from now on.
  ASSERT_TRUE(verdict_of(instance, 0, [] {}).passed);
  const auto why = passes_nothing(of_nothing(instance));
  ASSERT_TRUE(why);
  EXPECT_TRUE(contains(*why, "a run that does nothing would pass"));
}

TEST(Verification, AVerificationThatReadsNoOutputIsFound) {
  HostInstance instance;
  instance.reads_outputs = false;
  ASSERT_TRUE(judged(instance, [](HostInstance&) {}).passed);
  EXPECT_TRUE(passes_nothing(of_nothing(instance)));
}

TEST(Verification, AFewValuesCanBeRightByChance) {
  HostInstance one(1);
  one.x[0] = 0;
  one.y[0] = 0;
  one.poisons = false;
  EXPECT_TRUE(one.verify().passed);
  EXPECT_FALSE(passes_nothing(of_nothing(one)));
  HostInstance many(few_values);
  many.poisons = false;
  double_all(many);
  EXPECT_TRUE(passes_nothing(of_nothing(many)));
  Verdict none;  // compares no value at all
  none.passed = true;
  EXPECT_TRUE(passes_nothing(none));
}

TEST(Verification, WorkOutsideTheStreamIsFoundByItsReplay) {
  // What the stream performs, and what a side stream does beside it, which a replay has not.
  const Way in_stream = [](HostInstance& h) {
    for (std::size_t i = 0; i < h.x.size() / 2; ++i) h.y[i] = 2 * h.x[i];
  };
  HostInstance instance;
  ASSERT_TRUE(judged(instance, [&](HostInstance& h) {
                in_stream(h);
                double_all(h);
              }).passed);
  const auto why = works_elsewhere(judged(instance, in_stream));
  ASSERT_TRUE(why);
  EXPECT_TRUE(contains(*why, "outside the stream"));
  EXPECT_FALSE(works_elsewhere(judged(instance, double_all)));
}

}  // namespace
}  // namespace amasia
