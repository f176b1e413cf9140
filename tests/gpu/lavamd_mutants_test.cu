// Proves that the verification of lavamd can fail (tests/gpu/mutants.hpp): faults of every box, and
// faults of a single particle.
#include "apps/lavamd/lavamd.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::lavamd_mutants_test {
namespace {

using lavamd::Problem;
using lavamd::Vector;

using LavamdMutants = OnDevice<>;

/// What happens to one pair of particles: j is left out, comes twice, has the charge of the
/// particle beside it, is taken from the box before, or its force changes by 1e-9 of itself.
enum class Once { none, lost, twice, charge, wrong_box, rounded };

struct Place {
  int home, i, k, j;
};

__global__ void lavamd_forces(const Problem p, Fault fault, Once once, Place place) {
  const int home = static_cast<int>(blockIdx.x), i = static_cast<int>(threadIdx.x);
  if (i >= p.particles) return;
  if (fault == Fault::skipped_tile && home == p.boxes / 2) return;
  const std::int64_t first = std::int64_t{home} * p.pitch;
  const Vector a = p.positions[first + i];
  const auto& row = p.neighbours[home];
  Vector f{};
  // A loop that ends one too early, in a box that has all neighbours.
  const int count = row.count - (fault == Fault::edge && row.count == lavamd::most_neighbours);
  for (int k = 0; k < count; ++k) {
    // The tile before, where a barrier is missing.
    const bool stale = fault == Fault::stale_halo && k == 3 && home == 0;
    for (int j = 0; j < p.particles; ++j) {
      const bool here =
          once != Once::none && home == place.home && i == place.i && k == place.k && j == place.j;
      if (here && once == Once::lost) continue;
      const int from = k > 0 && (stale || (here && once == Once::wrong_box)) ? k - 1 : k;
      const std::int64_t other = std::int64_t{row.box[from]} * p.pitch + j;
      const Vector b = p.positions[other];
      double q = p.charges[other];
      if (here && once == Once::charge) q = p.charges[j > 0 ? other - 1 : other + 1];
      if (here && once == Once::twice) q *= 2;
      const double r2 = a.v + b.v - (a.x * b.x + a.y * b.y + a.z * b.z);
      const double w = q * exp(-lavamd::exponent_scale * r2);
      f.v += w;
      f.x += 2 * w * (a.x - b.x);
      f.y += 2 * w * (a.y - b.y);
      f.z += 2 * w * (a.z - b.z);
    }
  }
  if (once == Once::rounded && home == place.home && i == place.i) f.v *= 1 + 1e-9;
  p.forces[first + i] = f;
}

void run(const Problem& p, Fault fault, Once once = Once::none, Place place = {}) {
  lavamd_forces<<<static_cast<unsigned>(p.boxes), 128>>>(p, fault, once, place);
}

TEST_F(LavamdMutants, AreCaught) {
  const auto i = instance("lavamd", {{"boxes1d", "4"}, {"particles", "99"}});
  for (int challenge = 0; challenge <= i->challenges(); ++challenge) {
    i->pose(challenge);
    expect_caught(*i, [&](Fault fault) { run(problem_of<Problem>(*i), fault); });
  }
}

class LavamdOnce : public OnDevice<> {};

TEST_F(LavamdOnce, FaultsOfOnePairAreCaught) {
  const auto i = instance("lavamd", {{"boxes1d", "3"}, {"particles", "100"}});
  const Place places[] = {{0, 0, 1, 0}, {13, 57, 26, 99}, {26, 99, 7, 31}};
  for (int input = 0; input <= i->challenges(); ++input) {
    for (const Place& place : places) {
      for (const Once once :
           {Once::none, Once::lost, Once::twice, Once::charge, Once::wrong_box, Once::rounded}) {
        const auto run_once = [&] { run(problem_of<Problem>(*i), Fault::none, once, place); };
        EXPECT_EQ(passes(*i, input, run_once), once == Once::none)
            << "input " << input << ", box " << place.home << ", fault " << static_cast<int>(once);
      }
    }
  }
}

}  // namespace
}  // namespace amasia::lavamd_mutants_test
