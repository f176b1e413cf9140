// lud without a device: the schedule's arithmetic, the references, the comparison, what the harness
// asks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/lud/blocked.hpp"
#include "apps/lud/lud.hpp"
#include "harness/registry.hpp"

namespace amasia::lud {
namespace {

Parameters size(std::int64_t n, const char* input = "random") {
  return Parameters(parameter_specs(), {{"n", std::to_string(n)}, {"input", input}});
}

// ---- blocked.hpp

using Place = std::pair<int, int>;  // row and column, in tiles

constexpr std::int64_t orders[] = {1, 127, 128, 129, 500, 1025, 2000, 4500};
constexpr Grouping groupings[] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {8, 16}, {3, 5}};

std::string describe(const Grouping& g) {
  return "groups of 1/" + std::to_string(g.share) + ", at most " + std::to_string(g.most);
}

TEST(Schedule, GroupsShrinkWithTheMatrix) {
  const Grouping fixed{4, 1}, shrinking{8, 16};
  EXPECT_EQ(fixed.panels(64), 4);
  EXPECT_EQ(fixed.panels(3), 3);  // what is left
  EXPECT_EQ(shrinking.panels(200), 8);
  EXPECT_EQ(shrinking.panels(64), 4);
  EXPECT_EQ(shrinking.panels(31), 1);
  EXPECT_EQ(shrinking.panels(1), 1);
}

/// A launch's tiles, each of which must come once.
std::set<Place> places(const Products& products, int cluster) {
  std::set<Place> found;
  for (int b = 0; b < products.blocks(cluster); ++b) {
    const TileProduct t = products.tile(cluster, b);
    if (!t.inside) continue;
    const Place place{t.c_row / panel_width, t.c_column / panel_width};
    EXPECT_TRUE(found.insert(place).second) << place.first << ", " << place.second;
  }
  return found;
}

/// Replays a run tile by tile: what a launch reads must be finished, what it updates must have
/// every earlier panel's update once and in order.
class Replay {
 public:
  explicit Replay(int tiles) : tiles_(tiles) {}

  void operator()(const Launched& l, int cluster) {
    const Products& p = l.products;
    if (l.diagonal) {
      EXPECT_EQ(updates_[Place(p.first, p.first)], p.first);
      EXPECT_TRUE(finished_.insert(Place(p.first, p.first)).second);
      return;
    }
    EXPECT_EQ(p.blocks(cluster) % cluster, 0);
    EXPECT_GT(p.blocks(cluster), 0);
    for (int b = 0; b < p.blocks(cluster); ++b) {
      const TileProduct t = p.tile(cluster, b);
      if (t.inside) product(p, t);
    }
  }
  void expect_complete() const { EXPECT_EQ(static_cast<int>(finished_.size()), tiles_ * tiles_); }

 private:
  void product(const Products& p, const TileProduct& t) {
    const Place c{t.c_row / panel_width, t.c_column / panel_width};
    EXPECT_EQ(t.subtract, p.region != Region::panels);
    if (t.subtract) {
      EXPECT_EQ(t.a_row, t.c_row);
      EXPECT_EQ(t.b_column, t.c_column);
      EXPECT_EQ(t.a_column, t.b_row);
      for (int k = t.a_column / panel_width; k < t.a_column / panel_width + t.panels; ++k) {
        EXPECT_TRUE(finished_.count({c.first, k}) && finished_.count({k, c.second}));
        EXPECT_EQ(updates_[c]++, k);
      }
    } else {
      const int step = std::min(c.first, c.second);
      EXPECT_EQ(t.a_source == Source::lower_inverse, c.first == step);
      EXPECT_EQ(t.b_source == Source::upper_inverse, c.second == step);
      EXPECT_TRUE(finished_.count({step, step}));
      EXPECT_EQ(updates_[c], step);
      EXPECT_TRUE(finished_.insert(c).second);
    }
  }
  int tiles_;
  std::map<Place, int> updates_;
  std::set<Place> finished_;
};

TEST(Schedule, UpdatesEveryTileByEveryEarlierPanelOnce) {
  for (int cluster : {1, 2, 3}) {
    for (const Grouping& grouping : groupings) {
      for (std::int64_t n : orders) {
        SCOPED_TRACE(std::to_string(n) + ", " + describe(grouping));
        Replay replay(tiles_of(n));
        for (const Launched& l : schedule(tiles_of(n), grouping)) replay(l, cluster);
        replay.expect_complete();
      }
    }
  }
}

/// Launches of the two streams that no wait orders touch no tile in common, but to read it.
TEST(Schedule, StreamsThatRunBesideEachOtherDoNotMeet) {
  struct Touched {
    std::set<Place> read, written;
  };
  const auto touched = [](const Launched& l) {
    Touched t;
    if (l.diagonal) {
      t.written.insert({l.products.first, l.products.first});
      return t;
    }
    t.written = places(l.products, 1);
    for (const Place& c : t.written) {
      for (int k = l.products.first; k < l.products.first + l.products.count; ++k) {
        t.read.insert({c.first, k});
        t.read.insert({k, c.second});
      }
    }
    return t;
  };
  const auto meet = [](const std::set<Place>& a, const std::set<Place>& b) {
    return std::any_of(a.begin(), a.end(), [&](const Place& p) { return b.count(p) > 0; });
  };
  for (const Grouping& grouping : groupings) {
    const std::vector<Launched> launches = schedule(35, grouping);
    // For each launch, how many launches of the other stream are done for certain when it begins:
    // as far as its own stream has waited, all up to the one that signalled.
    std::size_t known[2] = {0, 0}, signalled[2] = {0, 0};
    std::vector<std::size_t> done(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Launched& l = launches[i];
      if (l.waits) known[l.ahead] = signalled[!l.ahead];
      done[i] = known[l.ahead];
      if (l.signals) signalled[l.ahead] = i + 1;
    }
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Touched late = touched(launches[i]);
      for (std::size_t j = done[i]; j < i; ++j) {
        if (launches[j].ahead == launches[i].ahead) continue;
        const Touched early = touched(launches[j]);
        EXPECT_FALSE(meet(late.written, early.written) || meet(late.written, early.read) ||
                     meet(late.read, early.written))
            << "launches " << j << " and " << i << ", " << describe(grouping);
      }
    }
  }
}

TEST(Schedule, BlocksOfAClusterShareAnOperand) {
  for (int cluster : {2, 4}) {
    for (const Launched& l : schedule(20, {2, 1})) {
      if (l.diagonal) continue;
      for (int b = 0; b < l.products.blocks(cluster); ++b) {
        const TileProduct first = l.products.tile(cluster, b / cluster * cluster);
        const TileProduct t = l.products.tile(cluster, b);
        EXPECT_EQ(t.shares_a, first.shares_a);
        if (t.shares_a) {
          EXPECT_EQ(t.a_source, first.a_source);
          EXPECT_EQ(t.a_row, first.a_row);
          EXPECT_EQ(t.a_column, first.a_column);
        } else {
          EXPECT_EQ(t.b_source, first.b_source);
          EXPECT_EQ(t.b_row, first.b_row);
          EXPECT_EQ(t.b_column, first.b_column);
        }
      }
    }
  }
}

// ---- references and input

TEST(Reference, AgreesWithTheSecondOne) {
  const App* app = find_app("lud");
  ASSERT_NE(app, nullptr);
  for (const Parameters& p : app->sizes(Preset::smoke)) {
    const Verdict v = app->check_reference(p, 11);
    EXPECT_TRUE(v.passed) << p.to_string() << ": " << v.error << " > " << v.bound;
  }
}

TEST(Input, TheRandomMatrixIsStrictlyDominant) {
  for (std::int64_t n : {1, 2, 17, 63, 64, 65, 300, 1200}) {
    const HostMatrix m = host_matrix(size(n), 3);
    for (std::int64_t i = 0; i < n; ++i) {
      double others = 0;
      for (std::int64_t j = 0; j < n; ++j) others += j == i ? 0 : std::abs(m.elements[i * n + j]);
      EXPECT_GT(std::abs(m.elements[i * n + i]), others) << n << ", row " << i;
    }
    EXPECT_FALSE(objection_to(m).has_value());
  }
}

TEST(Input, RodiniasMatrixIsSymmetricAndAccepted) {
  const HostMatrix m = host_matrix(size(100, "rodinia"), 3);
  EXPECT_EQ(m.elements[0], 10.0f);
  EXPECT_EQ(m.elements[7], m.elements[700]);
  EXPECT_NEAR(m.elements[99], 10 * std::exp(-0.099), 1e-5);
  EXPECT_FALSE(objection_to(m).has_value());
}

TEST(Input, SingularAndUnstableMatricesAreRefused) {
  EXPECT_TRUE(objection_to({2, {1, 1, 1, 1}})->find("zero pivot in row 2") != std::string::npos);
  EXPECT_TRUE(objection_to({2, {0, 1, 1, 0}})->find("zero pivot in row 1") != std::string::npos);
  EXPECT_TRUE(objection_to({1, {0}})->find("zero pivot") != std::string::npos);
  EXPECT_TRUE(objection_to({2, {1e-6f, 1, 1, 1}})->find("grow") != std::string::npos);
}

// ---- the comparison

class Comparison : public testing::Test {
 protected:
  static constexpr std::int64_t n = 150;
  HostMatrix matrix = host_matrix(size(n), 5);
  std::vector<float> good = rounded(reference(matrix));

  static std::vector<float> rounded(const std::vector<double>& lu) {
    return {lu.begin(), lu.end()};
  }
  Verdict judge(const std::vector<float>& lu) const {
    return compare(lu.data(), n, matrix, Normalisation::unit_lower);
  }
};

TEST_F(Comparison, TheRightResultPasses) { EXPECT_TRUE(judge(good).passed); }

TEST_F(Comparison, CroutsNormalisationIsRecognised) {
  std::vector<float> crout = good;
  for (std::int64_t k = 0; k < n; ++k) {
    const float pivot = good[k * n + k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      crout[i * n + k] *= pivot;
      crout[k * n + i] /= pivot;
    }
  }
  EXPECT_EQ(normalisation_of(good.data(), n, matrix), Normalisation::unit_lower);
  EXPECT_EQ(normalisation_of(crout.data(), n, matrix), Normalisation::unit_upper);
  EXPECT_TRUE(compare(crout.data(), n, matrix, Normalisation::unit_upper).passed);
  EXPECT_FALSE(judge(crout).passed);
}

TEST_F(Comparison, WrongResultsFail) {
  EXPECT_FALSE(judge(matrix.elements).passed);  // nothing done
  for (std::size_t i : {std::size_t{0}, std::size_t{n - 1}, good.size() - 1}) {
    std::vector<float> wrong = good;
    wrong[i] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(judge(wrong).passed);
    wrong[i] = good[i] * 1.001f + 0.001f;
    EXPECT_FALSE(judge(wrong).passed);
  }
  std::vector<float> skipped = good;  // the last tile misses its last update by a panel of 16
  for (std::int64_t i = 144; i < n; ++i) {
    for (std::int64_t j = 128; j < 144; ++j) {
      for (int k = 112; k < 128; ++k) skipped[i * n + j] += good[i * n + k] * good[k * n + j];
    }
  }
  const Verdict v = judge(skipped);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.first_mismatches.size(), 5u);
}

// ---- what the harness asks

TEST(App, WorkAndBytes) {
  const App* app = find_app("lud");
  ASSERT_NE(app, nullptr);
  EXPECT_EQ(app->work(size(2)).operations, 1 + 2);  // one division, one update
  EXPECT_NEAR(app->work(size(8192)).operations / (2.0 / 3 * 8192. * 8192 * 8192), 1, 1e-3);
  EXPECT_EQ(app->device_bytes(size(33)), 2 * 33 * 64 * 4 + 2 * 128 * 128 * 4);
  EXPECT_THROW(size(0), UsageError);
  EXPECT_THROW(size((std::int64_t{1} << 20) + 1), UsageError);
}

}  // namespace
}  // namespace amasia::lud
