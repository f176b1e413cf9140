// lud without a device: the schedule's arithmetic, the references, the comparison, what the harness
// asks.
#include "apps/lud/lud.hpp"
#include "apps/lud/blocked.hpp"
#include "apps/lud/cpu_reference.hpp"
#include "apps/lud/matrices.hpp"
#include "harness/registry.hpp"
#include "inputs/formats/matrix.hpp"
#include "tests/apps/lud_matrices.hpp"
#include "tests/test.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::lud {
namespace {

// ---- blocked.hpp

using Place = std::pair<int, int>;  // row and column, in squares of warp_edge

constexpr int orders[] = {1, 32, 127, 128, 129, 192, 193, 300, 1025, 2047};
// SMs: with none every tile is large, with so many every tile of the chain is small.
constexpr int devices[] = {0, 20, 132, 1 << 20};
constexpr PanelTiles panel_tiles[] = {PanelTiles::small, PanelTiles::large_where_many};
constexpr Grouping groupings[] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, shrinking, {3, 5}};

std::string describe(const Grouping& g) {
  return "groups of 1/" + std::to_string(g.share) + ", at most " + std::to_string(g.most);
}

TEST(Schedule, GroupsShrinkWithTheMatrix) {
  const Grouping fixed{4, 1};
  EXPECT_EQ(fixed.panels(64), 4);
  EXPECT_EQ(fixed.panels(3), 3);  // what is left
  EXPECT_EQ(shrinking.panels(200), 10);
  EXPECT_EQ(shrinking.panels(64), 5);
  EXPECT_EQ(shrinking.panels(23), 1);
  EXPECT_EQ(shrinking.panels(1), 1);
}

/// The squares of warp_edge of an area that are in the matrix.
std::vector<Place> squares(int n, const Area& area) {
  std::vector<Place> found;
  for (int i = area.row; i < area.row + area.rows && i < n; i += warp_edge) {
    for (int j = area.column; j < area.column + area.columns && j < n; j += warp_edge) {
      found.emplace_back(i / warp_edge, j / warp_edge);
    }
  }
  return found;
}

Area area_of(const TileProduct& t) { return {t.c_row, t.c_column, t.rows, t.columns}; }

std::vector<Place> diagonal_squares(const Products& p) {
  const int corner = p.first * panel_width;
  return squares(p.n, {corner, corner, panel_width, panel_width});
}

/// What a block reads of the matrix besides its own tile.
std::vector<Place> operands(const Products& p, const TileProduct& t) {
  std::vector<Place> found;
  const auto add = [&](const Area& area) {
    const std::vector<Place> more = squares(p.n, area);
    found.insert(found.end(), more.begin(), more.end());
  };
  if (t.a_source == Source::matrix) add({t.a_row, t.a_column, t.rows, t.depth});
  if (t.b_source == Source::matrix) add({t.b_row, t.b_column, t.depth, t.columns});
  return found;
}

/// The block that writes each square of a launch; each comes once.
std::map<Place, int> writers(const Launched& l, int cluster) {
  std::map<Place, int> found;
  const Products& p = l.products;
  if (l.diagonal) {
    for (const Place& s : diagonal_squares(p)) found[s] = 0;
    return found;
  }
  for (int b = 0; b < p.blocks(cluster); ++b) {
    const TileProduct t = p.tile(cluster, b);
    EXPECT_EQ(t.inside, t.c_row < p.n && t.c_column < p.n);
    for (const Place& s : squares(p.n, area_of(t))) {
      EXPECT_TRUE(found.emplace(s, b).second) << s.first << ", " << s.second;
    }
  }
  return found;
}

/// Replays a run: what a launch reads must be finished, what it updates must have every earlier
/// column's and row's update once and in order. Results overwrite their operands, so no block may
/// read what another block of its launch writes.
class Replay {
 public:
  explicit Replay(int n) : n_(n) {}

  void operator()(const Launched& l, int cluster) {
    const Products& p = l.products;
    const std::map<Place, int> writer = writers(l, cluster);
    if (l.diagonal) {
      for (const auto& [s, block] : writer) finish(s, p.first * panel_width);
      return;
    }
    EXPECT_EQ(p.blocks(cluster) % cluster, 0);
    EXPECT_GT(p.blocks(cluster), 0);
    for (int b = 0; b < p.blocks(cluster); ++b) {
      const TileProduct t = p.tile(cluster, b);
      EXPECT_EQ(t.rows % warp_edge + t.columns % warp_edge, 0);
      // A square for each warp of a small tile.
      EXPECT_EQ(t.rows / warp_edge * (t.columns / warp_edge), p.small ? chain_warps : 16);
      shared(t, p.tile(cluster, b / cluster * cluster));
      for (const Place& s : operands(p, t)) {
        const auto found = writer.find(s);
        EXPECT_TRUE(found == writer.end() || found->second == b) << s.first << ", " << s.second;
      }
      for (const Place& s : squares(p.n, area_of(t))) product(p, t, s);
    }
  }
  void expect_complete() const {
    const auto side = static_cast<std::size_t>(ceil_div(n_, warp_edge));
    EXPECT_EQ(finished_.size(), side * side);
  }

 private:
  /// Blocks of a cluster share an operand.
  static void shared(const TileProduct& t, const TileProduct& first) {
    EXPECT_EQ(t.shares_a, first.shares_a);
    if (t.shares_a) {
      EXPECT_TRUE(t.a_source == first.a_source && t.a_row == first.a_row &&
                  t.a_column == first.a_column);
    } else {
      EXPECT_TRUE(t.b_source == first.b_source && t.b_row == first.b_row &&
                  t.b_column == first.b_column);
    }
  }
  void product(const Products& p, const TileProduct& t, const Place& c) {
    EXPECT_EQ(t.subtract, p.region != Region::panels);
    if (t.subtract) {
      EXPECT_EQ(t.a_row, t.c_row);
      EXPECT_EQ(t.b_column, t.c_column);
      EXPECT_EQ(t.a_column, t.b_row);
      for (int k = t.a_column; k < t.a_column + t.depth; k += panel_width) {
        EXPECT_TRUE(finished_.count({c.first, k / warp_edge}) &&
                    finished_.count({k / warp_edge, c.second}));
        EXPECT_EQ(updates_[c], k);
        updates_[c] += panel_width;
      }
    } else {
      panel(t, c);
    }
  }
  void panel(const TileProduct& t, const Place& c) {
    const bool beside = c.first < c.second;
    const int corner = std::min(c.first, c.second) * warp_edge / panel_width * panel_width;
    EXPECT_TRUE(finished_.count({corner / warp_edge, corner / warp_edge}));
    EXPECT_EQ(t.a_source, beside ? Source::lower : Source::matrix);
    EXPECT_EQ(t.b_source, beside ? Source::matrix : Source::upper);
    EXPECT_EQ(t.a_row, beside ? 0 : t.c_row);
    EXPECT_EQ(t.a_column, beside ? 0 : corner);
    EXPECT_EQ(t.b_row, beside ? corner : 0);
    EXPECT_EQ(t.b_column, beside ? t.c_column : 0);
    EXPECT_EQ(beside ? t.c_row : t.c_column, corner);
    EXPECT_EQ(beside ? t.rows : t.columns, panel_width);
    EXPECT_EQ(t.depth, panel_width);
    finish(c, corner);
  }
  void finish(const Place& c, int updates) {
    EXPECT_EQ(updates_[c], updates);
    EXPECT_TRUE(finished_.insert(c).second);
  }
  int n_;
  std::map<Place, int> updates_;  // columns of L that were subtracted
  std::set<Place> finished_;
};

TEST(Schedule, UpdatesEveryTileByEveryEarlierPanelOnce) {
  for (int cluster : {1, 2, 3, 4}) {
    for (int sms : devices) {
      for (const Grouping& grouping : groupings) {
        for (int n : orders) {
          SCOPED_TRACE(std::to_string(n) + ", " + describe(grouping) +
                       ", SMs: " + std::to_string(sms));
          for (PanelTiles panels : panel_tiles) {
            Replay replay(n);
            for (const Launched& l : schedule(n, grouping, sms, panels)) replay(l, cluster);
            replay.expect_complete();
          }
        }
      }
    }
  }
}

TEST(Schedule, TheChainTakesSmallTilesWhereLargeOnesLeaveSmsIdle) {
  std::map<Region, int> large;
  for (PanelTiles panels : panel_tiles) {
    for (int n : {2048, 16384}) {
      for (const Launched& l : schedule(n, shrinking, 132, panels)) {
        Products p = l.products;
        if (l.diagonal) continue;
        const bool small = std::exchange(p.small, false);
        large[p.region] += !small;
        if (p.region == Region::rest) {
          EXPECT_FALSE(small);
        } else if (p.region == Region::strip) {
          EXPECT_EQ(small, p.blocks(1) <= 66) << n << ": " << p.blocks(1);
        } else {
          EXPECT_EQ(small, panels == PanelTiles::small || p.blocks(1) < 34)
              << n << ": " << p.blocks(1);
        }
      }
    }
  }
  EXPECT_GT(large[Region::strip], 0);
  EXPECT_GT(large[Region::panels], 0);
}

/// Launches of the two streams that no wait orders touch no tile in common, but to read it.
TEST(Schedule, StreamsThatRunBesideEachOtherDoNotMeet) {
  struct Touched {
    std::set<Place> read, written;
  };
  const auto touched = [](const Launched& l) {
    Touched t;
    for (const auto& [s, block] : writers(l, 1)) t.written.insert(s);
    if (l.diagonal) return t;
    for (int b = 0; b < l.products.blocks(1); ++b) {
      for (const Place& s : operands(l.products, l.products.tile(1, b))) t.read.insert(s);
    }
    return t;
  };
  const auto meet = [](const std::set<Place>& a, const std::set<Place>& b) {
    return std::ranges::any_of(a, [&](const Place& p) { return b.count(p) > 0; });
  };
  for (const Grouping& grouping : groupings) {
    const std::vector<Launched> launches =
        schedule(35 * panel_width - 70, grouping, 132, PanelTiles::large_where_many);
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
    std::vector<Touched> of_launch;
    std::transform(launches.begin(), launches.end(), std::back_inserter(of_launch), touched);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Touched& late = of_launch[i];
      for (std::size_t j = done[i]; j < i; ++j) {
        if (launches[j].ahead == launches[i].ahead) continue;
        const Touched& early = of_launch[j];
        EXPECT_FALSE(meet(late.written, early.written) || meet(late.written, early.read) ||
                     meet(late.read, early.written))
            << "launches " << j << " and " << i << ", " << describe(grouping);
      }
    }
  }
}

/// A launch that may start early waits for the one before it on its stream, and for nothing else.
TEST(Schedule, FollowersNeedNoOtherStream) {
  for (const Grouping& grouping : groupings) {
    int followers = 0;
    bool first = true;  // on the stream that runs ahead
    for (const Launched& l : schedule(4500, grouping, 132, PanelTiles::small)) {
      if (!l.ahead) continue;
      EXPECT_EQ(l.follows, !l.waits && !first);
      first = false;
      followers += l.follows;
    }
    EXPECT_GT(followers, 2 * blocks_of(4500) - 2);
  }
}

/// An update may multiply while the one before it writes C, and while that one reads its panels as
/// parts. It begins behind the chain that waited for the one before that.
TEST(Schedule, UpdatesNeedTheOneBeforeForCAlone) {
  for (const Grouping& grouping : groupings) {
    const Launched* before = nullptr;
    int updates = 0;
    const std::vector<Launched> launches =
        schedule(4500, grouping, 132, PanelTiles::large_where_many);
    for (const Launched& l : launches) {
      if (l.ahead) continue;
      EXPECT_TRUE(l.waits);
      EXPECT_EQ(l.follows, before != nullptr);
      if (before != nullptr) {
        EXPECT_NE(l.products.room, before->products.room);
        const std::map<Place, int> written = writers(*before, 1);
        for (int b = 0; b < l.products.blocks(1); ++b) {
          for (const Place& s : operands(l.products, l.products.tile(1, b))) {
            EXPECT_EQ(written.count(s), 0u) << s.first << ", " << s.second;
          }
        }
      }
      before = &l;
      ++updates;
    }
    EXPECT_GT(updates, 2);
  }
}

// ---- references and input

TEST(Input, TheRandomMatrixIsStrictlyDominant) {
  for (std::int64_t n : {1, 2, 17, 63, 64, 65, 300, 1200}) {
    const HostMatrix m = generated(n, "random", 3);
    for (std::int64_t i = 0; i < n; ++i) {
      double others = 0;
      for (std::int64_t j = 0; j < n; ++j) others += j == i ? 0 : std::abs(m.elements[i * n + j]);
      EXPECT_GT(std::abs(m.elements[i * n + i]), others) << n << ", row " << i;
    }
    EXPECT_FALSE(trial_of(m).objection);
  }
}

TEST(Input, RodiniasMatrixIsSymmetricAndAccepted) {
  const HostMatrix m = generated(100, "rodinia", 3);
  EXPECT_EQ(m.elements[0], 10.0f);
  EXPECT_EQ(m.elements[7], m.elements[700]);
  EXPECT_NEAR(m.elements[99], 10 * std::exp(-0.099), 1e-5);
  EXPECT_FALSE(trial_of(m).objection);
}

/// Row by row, the first `rows` rows of U with the inverse of L's leading triangle instead of
/// substitution; the rest follows by elimination, so that only these rows bear its error.
std::vector<float> solved_with_inverse(const HostMatrix& m, std::int64_t rows) {
  std::vector<float> lu = eliminated(m);
  std::vector<float> inverse(rows * rows);
  for (std::int64_t c = 0; c < rows; ++c) {
    for (std::int64_t i = c; i < rows; ++i) {
      float x = i == c ? 1.0f : 0.0f;
      for (std::int64_t k = c; k < i; ++k) x = std::fma(-lu[i * m.n + k], inverse[k * rows + c], x);
      inverse[i * rows + c] = x;
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = rows; j < m.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k <= i; ++k) {
        sum = std::fma(inverse[i * rows + k], m.elements[k * m.n + j], sum);
      }
      lu[i * m.n + j] = sum;
    }
  }
  return lu;
}

/// The matrices that test stability are decomposed by plain elimination far within the bound, and
/// what multiplies by an inverse of L's first triangle, of 32 lines or of four, is refused.
TEST(Input, IllConditionedTrianglesTellSubstitutionFromInverses) {
  for (std::int64_t n : {40, 131, 256}) {
    const HostMatrix m = generated(n, "ill_conditioned", 3);
    EXPECT_FALSE(trial_of(m).objection);
    const auto judge = [&](const std::vector<float>& lu) {
      return compare(lu.data(), n, m, Normalisation::unit_lower);
    };
    const Verdict plain = judge(eliminated(m));
    EXPECT_TRUE(plain.passed);
    EXPECT_LT(plain.error, 0.5 * plain.bound);
    for (std::int64_t lines : {4, 32}) {
      const Verdict v = judge(solved_with_inverse(m, lines));
      EXPECT_FALSE(v.passed) << n << ", " << lines;
      EXPECT_GT(v.error, 4 * v.bound) << n << ", " << lines;
    }
  }
}

/// The factors are what the matrix decomposes into: F L and U G, with L and U of the random one.
TEST(Input, TheIllConditionedMatrixHasThePivotsOfTheRandomOne) {
  constexpr std::int64_t n = 100;
  const std::vector<double> random = reference(generated(n, "random", 3));
  const std::vector<double> lu = reference(generated(n, "ill_conditioned", 3));
  for (std::int64_t k = 0; k < n; ++k) {
    EXPECT_NEAR(lu[k * n + k] / random[k * n + k], 1, 0.05) << k;
  }
  EXPECT_NEAR(lu[3 * n + 2], 32, 2);     // F in the first sub-block
  EXPECT_NEAR(lu[40 * n + 39], 0, 0.1);  // none in the second, which has G's
  EXPECT_NEAR(lu[33 * n + 34] / lu[33 * n + 33], 32, 2);
}

TEST(Input, OnlyALibrarysResultIsGivenSlackAndOnlyOnTestsOfStability) {
  for (const Input input :
       {Input::random, Input::rodinia, Input::uniform, Input::graded, Input::ill_conditioned}) {
    EXPECT_EQ(slack_of(Normalisation::unit_lower, input), 1);
    const bool tests_stability = input != Input::random && input != Input::rodinia;
    EXPECT_EQ(slack_of(Normalisation::unit_upper, input), tests_stability ? 32768 : 1);
  }
}

/// Elimination with what is multiplied in an update rounded to `bits` bits behind the point.
std::vector<float> eliminated_with(const HostMatrix& m, int bits) {
  const auto rounded = [bits](float x) {
    int exponent = 0;
    const float fraction = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, bits + 1)), exponent - bits - 1);
  };
  return eliminated(m, [&](float c, float l, float u) { return c - rounded(l) * rounded(u); });
}

/// A result with the unit diagonal in U, as a library leaves it.
std::vector<float> scaled_as_crout(std::vector<float> lu, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    const float pivot = lu[k * n + k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      lu[i * n + k] *= pivot;
      lu[k * n + i] /= pivot;
    }
  }
  return lu;
}

class IllConditionedFile : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Orders, IllConditionedFile, testing::Values(32, 64, 256));

TEST_P(IllConditionedFile, ReferencesAreRightByTheirBackwardError) {
  const std::int64_t n = GetParam();
  const TemporaryFolder folder;
  const std::string path = folder / "matrix.dat";
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    formats::write_matrix_file(path, n, product_of_triangles(n, seed).elements);
    const Parameters p(parameter_specs(), {{"n", std::to_string(n)}, {"matrix_file", path}});
    const Verdict v = find_app("lud")->check_reference(p, 1);
    EXPECT_TRUE(v.passed) << n << ": " << v.error << " > " << v.bound;
    EXPECT_TRUE(contains(v.norm, "max |A - LU| / (|L||U|)")) << v.norm;
  }
}

TEST_P(IllConditionedFile, RightResultsPassAndWrongOnesAreRefused) {
  const std::int64_t n = GetParam();
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    HostMatrix m = product_of_triangles(n, seed);
    const Trial trial = trial_of(m);
    ASSERT_FALSE(trial.objection) << *trial.objection;
    m.condition = trial.condition;
    const std::vector<float> right = eliminated(m);
    std::vector<float> lost = right;  // the last square misses a slice of 16 columns of L
    for (std::int64_t i = n - 16; i < n; ++i) {
      for (std::int64_t j = n - 16; j < n; ++j) {
        for (std::int64_t k = n - 32; k < n - 16; ++k) {
          lost[i * n + j] += right[i * n + k] * right[k * n + j];
        }
      }
    }
    const auto error_over_bound = [&](const std::vector<float>& lu, Normalisation which) {
      const Verdict v = compare(lu.data(), n, m, which, slack_of(which, m));
      EXPECT_EQ(v.passed, v.error <= v.bound);
      return v.error / v.bound;
    };
    constexpr auto unit_lower = Normalisation::unit_lower, unit_upper = Normalisation::unit_upper;
    EXPECT_LT(error_over_bound(right, unit_lower), 0.15);
    EXPECT_GT(error_over_bound(lost, unit_lower), 1000);
    EXPECT_GT(error_over_bound(eliminated_with(m, 10), unit_lower), 50);  // tf32
    EXPECT_GT(error_over_bound(m.elements, unit_lower), 100);             // nothing done
    // A library's result has slack, but not that much.
    EXPECT_GT(slack_of(unit_upper, m), 100);
    EXPECT_LT(error_over_bound(scaled_as_crout(right, n), unit_upper), 0.25);
    EXPECT_GT(error_over_bound(scaled_as_crout(lost, n), unit_upper), 1);
  }
}

TEST(Input, ConditionOfAFilesTriangles) {
  // L has 8 below the diagonal, its inverse -8 and 64; U has 1 above the diagonal.
  const HostMatrix m{3, {1, 1, 0, 8, 9, 1, 0, 8, 9}};
  EXPECT_EQ(trial_of(m).condition, 128);
  EXPECT_EQ(trial_of(generated(100, "random", 3)).condition, 1);  // dominant
  EXPECT_LT(trial_of(generated(100, "rodinia", 3)).condition, 10);
}

TEST(Input, SingularAndUnstableMatricesAreRefused) {
  // Beyond fp32, within fp64: 1 / 3 * 3 in fp32 differs from 1 by its rounding.
  const float third = 1.0f / 3;
  const std::vector<std::pair<HostMatrix, const char*>> refused{
      {{2, {3, 1, 1, third}}, "pivot of row 2 is "},
      {{2, {3, 1, 1, third}}, "nearly singular"},
      {{2, {1, 1, 1, 1}}, "zero pivot in row 2"},
      {{2, {0, 1, 1, 0}}, "zero pivot in row 1"},
      {{1, {0}}, "zero pivot"},
      {{2, {1e-6f, 1, 1, 1}}, "grow"}};
  for (const auto& [m, part] : refused) {
    EXPECT_TRUE(contains(trial_of(m).objection.value_or(""), part));
  }
}

// ---- the comparison

class Comparison : public testing::Test {
 protected:
  static constexpr std::int64_t n = 150;
  HostMatrix matrix = generated(n, "random", 5);
  std::vector<float> good = [this] {
    const std::vector<double> lu = reference(matrix);
    return std::vector<float>(lu.begin(), lu.end());
  }();

  Verdict judge(const std::vector<float>& lu) const {
    return compare(lu.data(), n, matrix, Normalisation::unit_lower);
  }
};

/// Numbers of 16 bits behind the point in products: every element is within its bound.
TEST_F(Comparison, WhatIsALittleWrongEverywhereIsRefused) {
  EXPECT_TRUE(judge(eliminated_with(matrix, 23)).passed);
  const Verdict v = judge(eliminated_with(matrix, 16));
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.mismatches, 0);
  EXPECT_EQ(v.bound, rms_bound(n));
  EXPECT_GT(v.error, v.bound);
  EXPECT_TRUE(contains(v.norm, "RMS of |A - LU|")) << v.norm;
  EXPECT_EQ(v.first_mismatches.size(), 1u);
}

TEST(Growth, IsReportedWithTheSmallestPivotAndItsStep) {
  // L = (1 0; -8 1), U = (0.5 4; 0 32.25); |L| |U| = (0.5 4; 4 64.25).
  const HostMatrix m{2, {0.5f, 4, -4, 0.25f}};
  const std::vector<float> lu = {0.5f, 4, -8, 32.25f};
  const Verdict v = compare(lu.data(), 2, m, Normalisation::unit_lower);
  EXPECT_TRUE(v.passed);
  EXPECT_TRUE(contains(v.norm, "growth 16.1, smallest pivot 0.12 of the largest element in step 1"))
      << v.norm;
}

TEST_F(Comparison, CroutsNormalisationIsRecognised) {
  const std::vector<float> crout = scaled_as_crout(good, n);
  EXPECT_EQ(normalisation_of(good.data(), n, matrix), Normalisation::unit_lower);
  EXPECT_EQ(normalisation_of(crout.data(), n, matrix), Normalisation::unit_upper);
  EXPECT_TRUE(compare(crout.data(), n, matrix, Normalisation::unit_upper).passed);
  EXPECT_FALSE(judge(crout).passed);
}

TEST_F(Comparison, TheRightResultPassesAndWrongOnesFail) {
  EXPECT_TRUE(judge(good).passed);
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

TEST(LudFiles, FeedTheProblemAndAreRefusedWhenTheyNeedPivoting) {
  const TemporaryFolder folder;
  const std::string path = folder / "matrix.dat";
  const auto matrix = [&] {
    return host_matrix(Parameters(parameter_specs(), {{"n", "2"}, {"matrix_file", path}}), 1);
  };
  write_text(path, "2\n4 -1\n2.5 3\n");
  EXPECT_EQ(matrix().elements, (std::vector<float>{4, -1, 2.5f, 3}));
  write_text(path, "2\n0 1\n1 0\n");
  EXPECT_TRUE(contains(message_of<UsageError>([&] { (void)matrix(); }), "zero pivot in row 1"));
}

}  // namespace
}  // namespace amasia::lud
