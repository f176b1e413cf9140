// lavamd without a GPU: the reference against a case done by hand, that the bound sees one wrong
// value, the table, and who takes which group.
#include "apps/lavamd/lavamd.hpp"
#include "apps/lavamd/cpu_reference.hpp"
#include "apps/lavamd/schedules.hpp"
#include "tests/test.hpp"

namespace amasia::lavamd {
namespace {

constexpr std::uint64_t seed = 20240613;

TEST(LavamdReference, OneParticleActsOnItself) {
  const Vector a = input_position(seed, 0, 0);
  const double r2 = 2 * a.v - (a.x * a.x + a.y * a.y + a.z * a.z);
  const Force f = reference_forces({seed, 0, 1, 1}, 0)[0];
  EXPECT_DOUBLE_EQ(f.component[0], input_charge(seed, 0, 0) * std::exp(-0.5 * r2));
  for (int c = 1; c < 4; ++c) EXPECT_EQ(f.component[c], 0);
}

/// What a variant can get wrong with a single particle: its charge moves a sum by at least 0.1
/// e^-1 of at most 2.5 a term.
TEST(LavamdReference, TheBoundSeesOneParticle) {
  const double terms = double{most_neighbours} * most_particles;
  EXPECT_LT(1e5 * error_bound(terms), 0.1 * std::exp(-1.0) / (2.5 * terms));
  Force right{{1, 2, 3, 4}, 1}, wrong = right;
  wrong.component[2] += 1e-9;
  EXPECT_GT(largest_error(wrong, right), error_bound(terms));
  wrong.component[2] = std::nan("");
  EXPECT_FALSE(largest_error(wrong, right) <= error_bound(terms));
}

TEST(LavamdTable, IsSymmetricAndCounts) {
  for (const int n : {1, 2, 3, 5}) {
    double pairs = 0;
    for (int home = 0; home < n * n * n; ++home) {
      const Neighbours row = neighbours_of(home, n);
      EXPECT_EQ(row.box[0], home);
      const std::set<int> boxes(row.box, row.box + row.count);
      EXPECT_EQ(boxes.size(), static_cast<std::size_t>(row.count)) << "no box twice";
      pairs += row.count;
      for (const int box : boxes) {
        ASSERT_TRUE(box >= 0 && box < n * n * n);
        const Neighbours back = neighbours_of(box, n);
        EXPECT_EQ(std::count(back.box, back.box + back.count, home), 1) << box << " of " << home;
      }
    }
    EXPECT_EQ(pairs, box_pairs(n)) << n;
  }
}

TEST(LavamdSchedules, EveryGroupGoesToOneWarpAndWarpsGetEqualShares) {
  for (int particles = 1; particles <= most_particles; ++particles) {
    const int groups = groups_of(particles);
    std::vector<int> of_warp(warps);
    for (int tile = 0; tile < most_neighbours; ++tile) {
      std::vector<int> seen(groups);
      for (int warp = 0; warp < warps; ++warp) {
        for (int g = first_group(tile, groups, warp); g < groups; g += warps) {
          ++seen[g];
          ++of_warp[warp];
        }
      }
      EXPECT_EQ(seen, std::vector<int>(groups, 1)) << particles << " particles, tile " << tile;
    }
    const auto [least, most] = std::ranges::minmax_element(of_warp);
    EXPECT_LE(*most - *least, 1) << particles;
  }
}

}  // namespace
}  // namespace amasia::lavamd
