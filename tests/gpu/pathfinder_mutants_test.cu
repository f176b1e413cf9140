// Proves that the verification of pathfinder can fail (tests/gpu/mutants.hpp). Some faults repeat
// in every row on the timed input. Others happen once, in one cell or one exchange: the challenges
// have to show them (apps/pathfinder/walls.hpp).
#include "apps/pathfinder/cpu_reference.hpp"
#include "apps/pathfinder/pathfinder.hpp"
#include "apps/pathfinder/walls.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::pathfinder_mutants_test {
namespace {

using pathfinder::Problem;
using pathfinder::Walls;

using PathfinderMutants = OnDevice<>;

constexpr int tile = 64;  // the tile that a fault pretends to have

/// What goes wrong in one cell, once.
enum class Once {
  none,
  misread_wall,  // it gets the wall of the cell above it
  stale_left,    // it takes this neighbour from a row too early
  stale_above,
  stale_right,
  lost_left,  // it does not see this neighbour
  lost_above,
  lost_right,
  skipped_cell  // it keeps the cost of three rows before
};

__global__ void pathfinder_row(Grid<const int> wall, const int* above, const int* stale, int* below,
                               std::int64_t row, Fault fault, Single<Once> once) {
  const std::int64_t j = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (j >= wall.columns) return;
  const Once here = once.at(row, j);
  if (here == Once::skipped_cell) return;
  if (fault == Fault::skipped_tile && row == wall.rows / 2 && j / tile == 1) return;
  if (fault == Fault::edge && j == wall.columns - 1) return;  // a loop that ends one too early
  int least = pathfinder::unreachable;
  for (int from = -1; from <= 1; ++from) {
    if (j + from < 0 || j + from >= wall.columns) continue;
    if (static_cast<int>(here) == static_cast<int>(Once::lost_above) + from) continue;
    // The halo of a tile from two rows ago: what a missing barrier or exchange would leave there.
    const bool old = (fault == Fault::stale_halo && from < 0 && j % tile == 0) ||
                     static_cast<int>(here) == static_cast<int>(Once::stale_above) + from;
    least = min(least, (old ? stale : above)[j + from]);
  }
  int height = wall.at(row, j);
  if (here == Once::misread_wall) {
    const int other = wall.at(row - 1, j);
    height = other != height ? other : other + 1;
  }
  below[j] = height + least;
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

void run(const Problem& p, Fault fault, const Single<Once>& once = {}) {
  const Costs costs(p);
  const auto blocks = static_cast<unsigned>((p.wall.columns + 255) / 256);
  for (std::int64_t row = 1; row < p.wall.rows; ++row) {
    pathfinder_row<<<blocks, 256>>>(p.wall, costs.of(row - 1), costs.of(row + 1), costs.of(row),
                                    row, fault, once);
  }
  costs.finish(p, p.wall.rows - 1);
}

TEST_F(PathfinderMutants, AreCaught) {
  const auto i = instance("pathfinder", {{"rows", "301"}, {"cols", "1000"}});
  expect_caught(*i, [&](Fault fault) { run(problem_of<Problem>(*i), fault); });
}

// ---- one fault, once

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
  costs.finish(p, pass);
}

class PathfinderOnce : public OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice<>::SetUp();
    if (IsSkipped()) return;
    instance_ = instance("pathfinder", {{"rows", "1301"}, {"cols", "1999"}});
  }
  const Problem& problem() const { return problem_of<Problem>(*instance_); }
  static std::int64_t place(std::uint64_t i, std::int64_t from, std::int64_t to) {
    return from + random_below(99, 7, i, static_cast<std::uint32_t>(to - from));
  }

  std::unique_ptr<Instance> instance_;
};

constexpr int places = 24;

TEST_F(PathfinderOnce, NothingWrongPassesOnEveryInput) {
  EXPECT_EQ(instance_->challenges(), 17);
  EXPECT_EQ(caught_by(*instance_, [&] { run(problem(), Fault::none); }), -1);
  EXPECT_EQ(
      caught_by(*instance_, [&] { run_with_missed_exchange(problem(), Exchange::all, 0, 0); }), -1);
  EXPECT_EQ(caught_by(*instance_, [] {}), 0);
}

/// Anywhere, and in the grid's edges and corners.
TEST_F(PathfinderOnce, OneWrongCellIsCaught) {
  const std::int64_t rows = problem().wall.rows, columns = problem().wall.columns;
  std::vector<Single<Once>> all;
  for (int what = 1; what <= static_cast<int>(Once::skipped_cell); ++what) {
    for (int i = 0; i < places; ++i) {
      const auto at = static_cast<std::uint64_t>(100 * what + 2 * i);
      all.push_back(
          {static_cast<Once>(what), 0, place(at, 3, rows), place(at + 1, 1, columns - 1)});
    }
  }
  for (const Once what : {Once::misread_wall, Once::lost_above, Once::skipped_cell}) {
    for (const std::int64_t row : {std::int64_t{1}, rows / 2, rows - 1}) {
      for (const std::int64_t column : {std::int64_t{0}, std::int64_t{1}, columns - 1}) {
        all.push_back({what, 0, row, column});
      }
    }
  }
  for (const Single<Once>& once : all) {
    expect_caught_once(*instance_, once, [&](auto& o) { run(problem(), Fault::none, o); });
  }
}

TEST_F(PathfinderOnce, OneMissedExchangeIsCaught) {
  const std::int64_t passes = (problem().wall.rows - 1) / halo;
  const std::int64_t blocks = problem().wall.columns / kept;
  for (const Exchange exchange : {Exchange::missed, Exchange::stale_left, Exchange::stale_right}) {
    for (int i = 0; i < places; ++i) {
      const auto at = static_cast<std::uint64_t>(5000 + 100 * static_cast<int>(exchange) + 2 * i);
      // The pass after it has to be a whole one: what is missed later than that, nobody needs.
      const std::int64_t pass = place(at, 1, passes - 1);
      const std::int64_t block = place(at + 1, 2, blocks - 2);
      const auto miss = [&] { run_with_missed_exchange(problem(), exchange, pass, block); };
      EXPECT_GE(caught_by(*instance_, miss), 0) << "exchange " << static_cast<int>(exchange)
                                                << " before pass " << pass << ", block " << block;
    }
  }
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
    EXPECT_TRUE(passes(*instance_, challenge, [&] {
      AMASIA_CUDA(cudaMemcpy(p.result, expected.data(), expected.size() * sizeof(int),
                             cudaMemcpyHostToDevice));
    })) << challenge;
    download(now);
    for (const auto& [row, column] : {std::pair{0, 0}, {700, 1000}, {1300, 1998}}) {
      EXPECT_EQ(now[static_cast<std::size_t>(row * p.wall.pitch + column)],
                walls.height(row, column));
    }
  }
  instance_->pose(0);
  download(now);
  EXPECT_EQ(now, before);
}

}  // namespace
}  // namespace amasia::pathfinder_mutants_test
