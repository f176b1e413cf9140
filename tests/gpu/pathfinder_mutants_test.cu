// Proves that the verification of pathfinder can fail (tests/gpu/mutants.hpp). Some faults repeat
// in every row on the timed input. Others happen once, in one cell or one exchange: the challenges
// have to show them (apps/pathfinder/walls.hpp).
#include <functional>
#include <optional>

#include "apps/pathfinder/cpu_reference.hpp"
#include "apps/pathfinder/pathfinder.hpp"
#include "apps/pathfinder/walls.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::pathfinder_mutants_test {
namespace {

using pathfinder::Problem;
using pathfinder::Walls;

class PathfinderMutants : public Mutants {};

constexpr int tile = 64;  // the tile that a fault pretends to have

__global__ void pathfinder_row(Grid<const int> wall, const int* above, const int* stale, int* below,
                               std::int64_t row, Fault fault) {
  const std::int64_t j = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (j >= wall.columns) return;
  if (fault == Fault::skipped_tile && row == wall.rows / 2 && j / tile == 1) return;
  // The halo of a tile from two rows ago: what a missing barrier or exchange would leave there.
  const int* left = fault == Fault::stale_halo && j % tile == 0 ? stale : above;
  if (fault == Fault::edge && j == wall.columns - 1) return;  // a loop that ends one too early
  int least = above[j];
  if (j > 0) least = min(least, left[j - 1]);
  if (j < wall.columns - 1) least = min(least, above[j + 1]);
  below[j] = wall.at(row, j) + least;
}

/// Three rows of costs, in turn; all hold row 0 at first.
struct Costs {
  DeviceArray<int> rows[3];
  explicit Costs(const Problem& p) {
    for (auto& row : rows) {
      row = DeviceArray<int>(static_cast<std::size_t>(p.wall.columns));
      AMASIA_CUDA(cudaMemcpy(row.data(), p.wall.data, row.bytes(), cudaMemcpyDeviceToDevice));
    }
  }
  int* of(std::int64_t row) const { return rows[(row + 3) % 3].data(); }
  void finish(const Problem& p, std::int64_t row) const {
    AMASIA_CUDA(cudaMemcpy(p.result, of(row), rows[0].bytes(), cudaMemcpyDeviceToDevice));
  }
};

unsigned blocks_of(const Problem& p) { return static_cast<unsigned>((p.wall.columns + 255) / 256); }

TEST_P(PathfinderMutants, AreCaught) {
  const auto i = instance("pathfinder", {{"rows", "301"}, {"cols", "1000"}});
  const auto& p = dynamic_cast<InstanceOf<Problem>&>(*i).problem();
  i->reset(nullptr);
  if (GetParam() == Fault::nothing) return expect_verdict(*i);
  const Costs costs(p);
  for (std::int64_t row = 1; row < p.wall.rows; ++row) {
    pathfinder_row<<<blocks_of(p), 256>>>(p.wall, costs.of(row - 1), costs.of(row + 1),
                                          costs.of(row), row, GetParam());
    AMASIA_CUDA(cudaGetLastError());
  }
  costs.finish(p, p.wall.rows - 1);
  expect_verdict(*i);
}

INSTANTIATE_TEST_SUITE_P(Faults, PathfinderMutants, every_fault, fault_name);

// --- one fault, once
// -------------------------------------------------------------------------------

enum class Once {
  none,
  misread_wall,  // one cell gets the wall of the cell above it
  stale_left,    // one cell takes this neighbour from a row too early
  stale_above,
  stale_right,
  lost_left,  // it does not see this neighbour
  lost_above,
  lost_right,
  skipped_cell  // it keeps the cost of three rows before
};

struct Place {
  std::int64_t row, column;
};

__global__ void row_with_fault(Grid<const int> wall, const int* above, const int* stale, int* below,
                               std::int64_t row, Once once, Place place) {
  const std::int64_t j = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (j >= wall.columns) return;
  const bool here = once != Once::none && row == place.row && j == place.column;
  if (here && once == Once::skipped_cell) return;
  int least = pathfinder::unreachable;
  for (int from = -1; from <= 1; ++from) {
    if (j + from < 0 || j + from >= wall.columns) continue;
    if (here && static_cast<int>(once) == static_cast<int>(Once::lost_above) + from) continue;
    const bool old = here && static_cast<int>(once) == static_cast<int>(Once::stale_above) + from;
    least = min(least, (old ? stale : above)[j + from]);
  }
  int height = wall.at(row, j);
  if (here && once == Once::misread_wall) {
    const int other = wall.at(row - 1, j);
    height = other != height ? other : other + 1;
  }
  below[j] = height + least;
}

void run_with_fault(const Problem& p, Once once, Place place) {
  const Costs costs(p);
  for (std::int64_t row = 1; row < p.wall.rows; ++row) {
    row_with_fault<<<blocks_of(p), 256>>>(p.wall, costs.of(row - 1), costs.of(row + 1),
                                          costs.of(row), row, once, place);
  }
  AMASIA_CUDA(cudaGetLastError());
  costs.finish(p, p.wall.rows - 1);
}

// Windows of a strip kernel: a block keeps `kept` columns, knows `halo` more at each end, and takes
// those from its neighbours every `halo` rows.
constexpr int kept = 64, halo = 32;

/// The rows first_row ... first_row + steps - 1, from the costs `source` of the row above. The
/// block `missing` got nothing at the last exchange: it goes on from `old_source`, the costs of
/// `old_steps` rows before, over as many rows more. Or one side of its halo is stale: it holds the
/// costs of the exchange before.
enum class Exchange { all, missed, stale_left, stale_right };

__global__ void window_rows(Grid<const int> wall, const int* source, const int* old_source,
                            int* result, std::int64_t first_row, int steps, Exchange exchange,
                            std::int64_t missing) {
  __shared__ int costs[kept + 2 * halo];
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t j = blockIdx.x * std::int64_t{kept} - halo + t;
  const bool inside = j >= 0 && j < wall.columns;
  const bool here = blockIdx.x == missing;
  if (here && exchange == Exchange::missed) {
    source = old_source;
    first_row -= halo;
    steps += halo;
  }
  const bool stale = here && ((exchange == Exchange::stale_left && t < halo) ||
                              (exchange == Exchange::stale_right && t >= halo + kept));
  costs[t] = inside ? (stale ? old_source : source)[j] : pathfinder::unreachable;
  for (int i = 0; i < steps; ++i) {
    __syncthreads();
    int least = costs[t];
    if (t > 0 && j > 0) least = min(least, costs[t - 1]);
    if (t < kept + 2 * halo - 1 && j < wall.columns - 1) least = min(least, costs[t + 1]);
    __syncthreads();
    if (inside) costs[t] = least + wall.at(first_row + i, j);
  }
  if (inside && t >= halo && t < halo + kept) result[j] = costs[t];
}

/// The exchange before pass `faulty` of `halo` rows goes wrong for one block. 0: none does.
void run_with_missed_exchange(const Problem& p, Exchange exchange, std::int64_t faulty,
                              std::int64_t block) {
  const Costs costs(p);
  const auto blocks = static_cast<unsigned>((p.wall.columns + kept - 1) / kept);
  std::int64_t pass = 0;
  for (std::int64_t row = 1; row < p.wall.rows; row += halo, ++pass) {
    const std::int64_t left = p.wall.rows - row;
    window_rows<<<blocks, kept + 2 * halo>>>(
        p.wall, costs.of(pass), costs.of(pass - 1), costs.of(pass + 1), row,
        static_cast<int>(left < halo ? left : halo),
        faulty > 0 && pass == faulty ? exchange : Exchange::all, block);
  }
  AMASIA_CUDA(cudaGetLastError());
  costs.finish(p, pass);
}

class PathfinderOnce : public Mutants {
 protected:
  void SetUp() override {
    Mutants::SetUp();
    if (IsSkipped()) return;
    instance_ = instance("pathfinder", {{"rows", "1301"}, {"cols", "1999"}});
  }
  const Problem& problem() const {
    return dynamic_cast<InstanceOf<Problem>&>(*instance_).problem();
  }
  /// The first input, of all, on which `run` fails the verification: -1 when it passes on all.
  int caught_by(const std::function<void()>& run) {
    int caught = -1;
    for (int challenge = 0; challenge <= instance_->challenges() && caught < 0; ++challenge) {
      if (!passes(challenge, run)) caught = challenge;
    }
    return caught;
  }
  bool passes(int challenge, const std::function<void()>& run) {
    instance_->pose(challenge);
    instance_->reset(nullptr);
    run();
    AMASIA_CUDA(cudaDeviceSynchronize());
    return instance_->verify().passed;
  }
  static std::int64_t anywhere(std::uint64_t i, std::int64_t from, std::int64_t to) {
    return from + random_below(99, 7, i, static_cast<std::uint32_t>(to - from));
  }

  std::unique_ptr<Instance> instance_;
};

constexpr int places = 24;

TEST_F(PathfinderOnce, NothingWrongPassesOnEveryInput) {
  EXPECT_EQ(instance_->challenges(), 17);
  EXPECT_EQ(caught_by([&] { run_with_fault(problem(), Once::none, {}); }), -1);
  EXPECT_EQ(caught_by([&] { run_with_missed_exchange(problem(), Exchange::all, 0, 0); }), -1);
  EXPECT_EQ(caught_by([] {}), 0);
}

TEST_F(PathfinderOnce, OneWrongCellIsCaught) {
  int by_timed_input = 0;
  for (int once = 1; once <= static_cast<int>(Once::skipped_cell); ++once) {
    for (int i = 0; i < places; ++i) {
      const auto at = static_cast<std::uint64_t>(100 * once + 2 * i);
      const Place place{anywhere(at, 3, problem().wall.rows),
                        anywhere(at + 1, 1, problem().wall.columns - 1)};
      const int caught =
          caught_by([&] { run_with_fault(problem(), static_cast<Once>(once), place); });
      by_timed_input += caught == 0;
      EXPECT_GE(caught, 0) << "fault " << once << " in row " << place.row << ", column "
                           << place.column;
    }
  }
  RecordProperty("caught_by_the_timed_input", by_timed_input);
}

/// In the grid's edges and corners as well.
TEST_F(PathfinderOnce, OneWrongCellAtAnEdgeIsCaught) {
  const std::int64_t rows = problem().wall.rows, columns = problem().wall.columns;
  for (const Place place :
       {Place{1, 0}, Place{1, columns - 1}, Place{rows - 1, 0}, Place{rows - 1, columns - 1},
        Place{rows / 2, 0}, Place{rows / 2, columns - 1}, Place{1, 1}, Place{rows - 1, 1}}) {
    for (const Once once : {Once::misread_wall, Once::lost_above, Once::skipped_cell}) {
      EXPECT_GE(caught_by([&] { run_with_fault(problem(), once, place); }), 0)
          << static_cast<int>(once) << " " << place.row << " " << place.column;
    }
  }
}

TEST_F(PathfinderOnce, OneMissedExchangeIsCaught) {
  const std::int64_t passes = (problem().wall.rows - 1) / halo;
  const std::int64_t blocks = problem().wall.columns / kept;
  int by_timed_input = 0;
  for (const Exchange exchange : {Exchange::missed, Exchange::stale_left, Exchange::stale_right}) {
    for (int i = 0; i < places; ++i) {
      const auto at = static_cast<std::uint64_t>(5000 + 100 * static_cast<int>(exchange) + 2 * i);
      // The pass after it has to be a whole one: what is missed later than that, nobody needs.
      const std::int64_t pass = anywhere(at, 1, passes - 1);
      const std::int64_t block = anywhere(at + 1, 2, blocks - 2);
      const int caught =
          caught_by([&] { run_with_missed_exchange(problem(), exchange, pass, block); });
      by_timed_input += caught == 0;
      EXPECT_GE(caught, 0) << "exchange " << static_cast<int>(exchange) << " before pass " << pass
                           << ", block " << block;
    }
  }
  RecordProperty("caught_by_the_timed_input", by_timed_input);
}

/// What is posed is restored, and what is expected of a challenge is what the CPU computes, too.
TEST_F(PathfinderOnce, ChallengesAreWhatTheCpuSays) {
  const Problem& p = problem();
  const auto cells = static_cast<std::size_t>(p.wall.rows * p.wall.pitch);
  std::vector<int> before(cells), now(cells);
  const auto download = [&](std::vector<int>& to) {
    AMASIA_CUDA(cudaMemcpy(to.data(), p.wall.data, cells * sizeof(int), cudaMemcpyDeviceToHost));
  };
  download(before);
  for (int challenge = 1; challenge <= instance_->challenges(); ++challenge) {
    const Walls walls{p.wall.rows, p.wall.columns, 7, challenge};
    const std::vector<int> expected = pathfinder::last_row_costs(walls);
    EXPECT_TRUE(passes(challenge, [&] {
      AMASIA_CUDA(cudaMemcpy(p.result, expected.data(), expected.size() * sizeof(int),
                             cudaMemcpyHostToDevice));
    })) << challenge;
    download(now);
    for (const Place at : {Place{0, 0}, Place{700, 1000}, Place{1300, 1998}}) {
      EXPECT_EQ(now[static_cast<std::size_t>(at.row * p.wall.pitch + at.column)],
                walls.height(at.row, at.column));
    }
  }
  instance_->pose(0);
  download(now);
  EXPECT_EQ(now, before);
}

}  // namespace
}  // namespace amasia::pathfinder_mutants_test
