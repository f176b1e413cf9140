// pathfinder without a GPU: the reference against others written apart from it, the path, and the
// index arithmetic of both schedules, including a whole strip walk replayed on the CPU with the
// geometry the kernels use.
#include <fmt/format.h>

#include "apps/pathfinder/cpu_reference.hpp"
#include "apps/pathfinder/geometry.hpp"
#include "apps/pathfinder/input.hpp"
#include "apps/pathfinder/kernel.cuh"
#include "apps/pathfinder/pathfinder.hpp"
#include "apps/pathfinder/schedules.hpp"
#include "apps/pathfinder/walls.hpp"
#include "harness/registry.hpp"
#include "tests/test.hpp"

namespace amasia::pathfinder {
namespace {

constexpr std::uint64_t seed = 20240613;

struct Extent {
  std::int64_t rows, cols;
};
const Extent extents[] = {{1, 1},   {1, 7},    {7, 1},    {2, 2},     {3, 5},    {17, 19},  {31, 2},
                          {2, 101}, {97, 101}, {101, 97}, {23, 4999}, {3, 8209}, {9, 70001}};

/// Third implementation, for tiny grids: the minimum over every path, one by one.
int cheapest_by_enumeration(std::int64_t cols, std::int64_t row, std::int64_t column) {
  const int here = wall_height(seed, cols, row, column);
  if (row == 0) return here;
  int best = std::numeric_limits<int>::max();
  for (std::int64_t from = column - 1; from <= column + 1; ++from) {
    if (from < 0 || from >= cols) continue;
    best = std::min(best, cheapest_by_enumeration(cols, row - 1, from));
  }
  return here + best;
}

TEST(PathfinderReference, AgreesWithEnumeration) {
  for (const std::int64_t cols : {1, 2, 3, 7}) {
    const std::vector<int> costs = last_row_costs({7, cols, seed});
    for (std::int64_t j = 0; j < cols; ++j) {
      EXPECT_EQ(costs[j], cheapest_by_enumeration(cols, 6, j)) << cols << " columns, column " << j;
    }
  }
}

TEST(PathfinderReference, WallsFillTheirRange) {
  std::vector<int> seen(highest_wall + 1, 0);
  for (std::int64_t i = 0; i < 10000; ++i) {
    const int wall = wall_height(seed, 100, i / 100, i % 100);
    ASSERT_GE(wall, 0);
    ASSERT_LE(wall, highest_wall);
    ++seen[wall];
  }
  for (const int count : seen) EXPECT_GT(count, 800);  // 1000 expected, sigma 30
}

TEST(PathfinderReference, WallsDifferBeyond32BitPositions) {
  // Positions 2^32 apart must not repeat: an index cut to 32 bits would.
  const std::int64_t cols = std::int64_t{1} << 20;
  int same = 0;
  for (std::int64_t j = 0; j < 1000; ++j) {
    same += wall_height(seed, cols, 0, j) == wall_height(seed, cols, 4096, j);
  }
  EXPECT_LT(same, 200);  // 100 expected
}

TEST(PathfinderReference, ComparisonFindsWhatDiffers) {
  const std::vector<int> expected{4, 5, 6};
  EXPECT_TRUE(compare(expected, expected).passed);
  const Verdict wrong = compare({4, 7, 6}, expected);
  EXPECT_FALSE(wrong.passed);
  EXPECT_EQ(wrong.mismatches, 1);
  EXPECT_EQ(wrong.first_mismatches.at(0), "(column 1): got 7, expected 5");
  EXPECT_FALSE(compare({4, 5}, expected).passed);
  EXPECT_FALSE(compare({4, 5, 6, 7}, expected).passed);
}

TEST(PathfinderPath, ConnectsTheRowsAtTheLeastCost) {
  for (const auto& [rows, cols] : extents) {
    const Path path = cheapest_path({rows, cols, seed});
    const std::vector<int> costs = last_row_costs_by_relaxation({rows, cols, seed});
    ASSERT_EQ(static_cast<std::int64_t>(path.column.size()), rows);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      ASSERT_GE(path.column[i], 0);
      ASSERT_LT(path.column[i], cols);
      if (i > 0) {
        ASSERT_LE(std::abs(path.column[i] - path.column[i - 1]), 1) << "row " << i;
      }
      sum += wall_height(seed, cols, i, path.column[i]);
    }
    EXPECT_EQ(sum, path.cost) << rows << " x " << cols;
    EXPECT_EQ(path.cost, *std::ranges::min_element(costs)) << rows << " x " << cols;
  }
}

/// An instance that has been "run" on the CPU, for the export.
class FinishedRun : public Instance, public ResultSource {
 public:
  explicit FinishedRun(std::vector<int> row) : row_(std::move(row)) {}
  void reset(Stream) override {}
  Verdict verify() override { return {}; }
  std::vector<int> last_row() const override { return row_; }
  std::uint64_t seed() const override { return pathfinder::seed; }

 private:
  std::vector<int> row_;
};

TEST(PathfinderApp, ExportsLastRowAndPath) {
  const App* app = find_app("pathfinder");
  const TemporaryFolder folder;
  const auto with_files = [&](std::map<std::string, std::string> files) {
    files.insert({{"rows", "29"}, {"cols", "31"}});
    return Parameters(app->parameters(), files);
  };
  const std::string row_file = folder / "row.txt", path_file = folder / "path.txt";
  const Parameters p = with_files({{"out_file", row_file}, {"path_file", path_file}});
  const std::vector<int> expected = last_row_costs({29, 31, seed});
  FinishedRun run(expected);
  app->export_outputs(p, run);
  std::istringstream in(read_text(path_file)), costs(read_text(row_file));
  std::int64_t row = 0, column = 0, wall = 0, lines = 0, sum = 0;
  while (in >> row >> column >> wall) {
    EXPECT_EQ(row, lines++);
    EXPECT_EQ(wall, wall_height(seed, 31, row, column));
    sum += wall;
  }
  EXPECT_EQ(lines, 29);
  EXPECT_EQ(sum, *std::ranges::min_element(expected));
  EXPECT_EQ(std::vector<int>(std::istream_iterator<int>(costs), {}), expected);

  // A path that the device's costs do not confirm is not written.
  FinishedRun wrong(std::vector<int>(31, 1));
  EXPECT_THROW(app->export_outputs(p, wrong), std::runtime_error);
  for (const char* parameter : {"out_file", "path_file"}) {
    EXPECT_THROW(app->export_outputs(with_files({{parameter, folder / "no/a.txt"}}), run),
                 UsageError);
  }
}

TEST(WallFile, IsReadRowAfterRow) {
  const TemporaryFolder folder;
  const std::string path = folder / "wall.txt";
  write_text(path, "1\n-2\n3\r\n+4\n5\n-6\n\n");
  EXPECT_EQ(read_wall_file(path, 2, 3), (std::vector<std::int32_t>{1, -2, 3, 4, 5, -6}));
  const Parameters p(find_app("pathfinder")->parameters(),
                     {{"rows", "2"}, {"cols", "3"}, {"wall_file", path}});
  const InputWalls input(p, seed);
  EXPECT_EQ(input.walls().height(1, 1), 5);
  EXPECT_EQ(last_row_costs(input.walls()), (std::vector<int>{2, 3, -8}));
  EXPECT_TRUE(check_references(p, seed).passed);
}

TEST(WallFile, IsRefusedWithLineAndValue) {
  const TemporaryFolder folder;
  const std::string path = folder / "wall.txt", largest = std::to_string(outside_wall);
  write_text(path, "1\n" + largest + "\n-" + largest + "\n4\n");
  EXPECT_NO_THROW(read_wall_file(path, 2, 2));
  struct Case {
    const char *text, *line, *part;
  };
  for (const auto& [text, line, part] : std::initializer_list<Case>{
           {"1\n8388608\n3\n4\n", ":2", "a wall from -8388607 to 8388607"},
           {"1\n2\n-8388608\n4\n", ":3", "found '-8388608'"},
           {"1\n2\n3\n99999999999999999999999\n", ":4", "found '99999999999999999999999'"},
           {"1\n2.5\n3\n4\n", ":2", "one integer"},
           {"1\n2\n3\n", ":4", "expected 4 walls (2 rows x 2 cols), the file ends after 3"}}) {
    write_text(path, text);
    const std::string said = message_of<UsageError>([&] { read_wall_file(path, 2, 2); });
    EXPECT_EQ(said.find(path + line), 0u) << said;
    EXPECT_TRUE(contains(said, part));
    EXPECT_TRUE(is_one_line(said));
  }
  EXPECT_THROW(read_wall_file(folder / "none.txt", 2, 2), UsageError);
}

/// No sum of walls may leave the range in which `unreachable` is larger than any cost.
TEST(PathfinderWalls, RangeKeepsCostsFromOverflowing) {
  EXPECT_EQ(largest_wall(1), outside_wall);
  EXPECT_EQ(largest_wall(128), outside_wall);
  EXPECT_EQ(largest_wall(10000), 107374);
  for (const std::int64_t rows : {1, 2, 127, 128, 129, 1000, 10000, 1 << 20, 119304647}) {
    EXPECT_LT(largest_wall(rows) * rows, unreachable) << rows;
    EXPECT_GE(largest_wall(rows), highest_wall) << rows;
  }
  EXPECT_GE(unreachable, 127LL * outside_wall);
  EXPECT_LE(unreachable + 127LL * outside_wall, std::numeric_limits<int>::max());
  EXPECT_LT(pad_wall, -largest_wall(1));
}

// --- challenges: inputs on which every cell counts ---

/// All costs of a grid, with one fault on the way.
struct GridFault {
  enum class Kind { none, wall, link, stale } kind = Kind::none;
  std::int64_t row = 0, column = 0;
  int from = 0;    // the neighbour, -1, 0 or 1, that is left out or read a row too early
  int change = 0;  // of the wall
};

std::vector<int> last_row_with(const Walls& walls, const GridFault& fault) {
  std::vector<std::vector<int>> cost(static_cast<std::size_t>(walls.rows));
  for (std::int64_t i = 0; i < walls.rows; ++i) {
    for (std::int64_t j = 0; j < walls.cols; ++j) {
      const bool here = i == fault.row && j == fault.column;
      int least = i == 0 ? 0 : std::numeric_limits<int>::max();
      for (int from = -1; i > 0 && from <= 1; ++from) {
        if (j + from < 0 || j + from >= walls.cols) continue;
        const bool wrong = here && from == fault.from;
        if (wrong && fault.kind == GridFault::Kind::link) continue;
        const bool stale = wrong && fault.kind == GridFault::Kind::stale;
        least = std::min(least, cost[i - (stale && i > 1 ? 2 : 1)][j + from]);
      }
      const bool misread = here && fault.kind == GridFault::Kind::wall;
      cost[i].push_back(walls.height(i, j) + (misread ? fault.change : 0) + least);
    }
  }
  return cost.back();
}

/// In how many inputs, of the first `count` challenges, the fault shows.
int shows(Walls walls, const GridFault& fault, int count) {
  int seen = 0;
  for (walls.challenge = 1; walls.challenge <= count; ++walls.challenge) {
    seen += last_row_with(walls, fault) != last_row_with(walls, {});
  }
  return seen;
}

/// The proof that one wrong cell anywhere is seen: every wall of a grid misread once, every
/// neighbour of every cell left out once or read a row too early once.
TEST(PathfinderChallenges, ShowEverySingleFault) {
  for (const auto& [rows, cols] : {Extent{14, 17}, Extent{26, 5}, Extent{9, 12}, Extent{13, 1},
                                   Extent{13, 2}, Extent{13, 3}, Extent{13, 4}}) {
    const Walls walls{rows, cols, seed};
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) {
        SCOPED_TRACE(fmt::format("row {} of {}, column {} of {}", i, rows, j, cols));
        for (const int change : {-1, 1, 1000}) {
          EXPECT_GE(shows(walls, {GridFault::Kind::wall, i, j, 0, change}, swings), 1);
        }
        for (int from = -1; i > 0 && from <= 1; ++from) {
          if (j + from < 0 || j + from >= cols) continue;
          EXPECT_GE(shows(walls, {GridFault::Kind::link, i, j, from}, swings), 1) << from;
          if (i < 2) continue;
          EXPECT_GE(shows(walls, {GridFault::Kind::stale, i, j, from}, swings), 1) << from;
        }
      }
    }
  }
}

/// A narrow grid whose corridors all wait at an edge would consist of barriers, and overflow.
TEST(PathfinderChallenges, NeverRunOutOfCorridors) {
  for (const std::int64_t cols : {1, 2, 3, 4, 5, 17, 100, 400}) {
    Walls walls{1500, cols, seed};
    for (walls.challenge = 1; walls.challenge <= challenges_of(walls.rows); ++walls.challenge) {
      const std::vector<int> costs = last_row_costs(walls);
      EXPECT_LT(*std::ranges::max_element(costs), 4 * outside_wall)
          << cols << " columns, challenge " << walls.challenge;
      EXPECT_LT(*std::ranges::min_element(costs), outside_wall)
          << cols << " columns, challenge " << walls.challenge;
    }
  }
}

TEST(PathfinderChallenges, StayWithinTheRangeOfCosts) {
  for (const std::int64_t rows : {1, 100, 2048, 10000, 1 << 20, outside_wall - 1}) {
    EXPECT_GE(open_wall(rows), 1) << rows;
    EXPECT_LT(rows * open_wall(rows), outside_wall) << rows;  // a corridor beats any barrier
    EXPECT_EQ(challenges_of(rows), 17) << rows;
  }
  EXPECT_EQ(challenges_of(outside_wall), 0);
}

template <class P>
void covers_every_column_once(std::int64_t columns) {
  std::vector<int> finished(static_cast<std::size_t>(columns), 0);
  for (std::int64_t block = 0; block < P::blocks(columns); ++block) {
    for (int thread = 0; thread < P::threads; ++thread) {
      const std::int64_t column = P::column(block, thread);
      if (column < 0 || column >= columns) continue;
      finished[column] += P::correct(P::position(block, thread), P::height);
    }
  }
  EXPECT_EQ(std::ranges::count(finished, 1), columns) << columns << " columns";
}

TEST(PathfinderPyramid, CoversEveryColumnOnce) {
  for (const std::int64_t columns : {1, 2, 215, 216, 217, 1009, 2007, 2008, 2009, 10000}) {
    covers_every_column_once<Pyramid<>>(columns);
    covers_every_column_once<Pyramid<8>>(columns);
  }
}

/// Every window as the kernels see it, advanced on the CPU with the kernels' step(), inner and
/// outer exchanges as the geometry says. A wrong halo, keeper or owner gives a wrong last row.
/// `miss`: an inner exchange in which one window of one group gets nothing.
struct Miss {
  std::int64_t row = -1, group = 0;
  int window = 0;
};
template <class S>
std::vector<int> walk_strips_on_cpu(const Walls& walls, const Miss& miss = {}) {
  const std::int64_t rows = walls.rows, cols = walls.cols;
  const std::int64_t groups = S::blocks(cols) / S::cluster;
  // costs[group][window][column of the window]
  std::vector<std::vector<std::vector<int>>> costs(
      static_cast<std::size_t>(groups),
      std::vector<std::vector<int>>(S::windows, std::vector<int>(S::window, unreachable)));
  const auto grid_column = [](std::int64_t g, int w, int c) {
    return S::group_column(g) + w * S::stride + c;
  };
  const auto for_each = [&](auto body) {
    for (std::int64_t g = 0; g < groups; ++g) {
      for (int w = 0; w < S::windows; ++w) {
        for (int c = 0; c < S::window; ++c) body(g, w, c, grid_column(g, w, c));
      }
    }
  };
  for_each([&](std::int64_t g, int w, int c, std::int64_t column) {
    if (column >= 0 && column < cols) costs[g][w][c] = walls.height(0, column);
  });
  for (std::int64_t row = 1; row < rows; ++row) {
    for (std::int64_t g = 0; g < groups; ++g) {
      for (int w = 0; w < S::windows; ++w) {
        const std::vector<int> above = costs[g][w];
        for (int c = 0; c < S::window; ++c) {
          const std::int64_t column = grid_column(g, w, c);
          const bool inside = column >= 0 && column < cols;
          const int wall = inside ? walls.height(row, column) : outside_wall;
          costs[g][w][c] =
              step(wall, above[c > 0 ? c - 1 : c], above[c], above[c + 1 < S::window ? c + 1 : c]);
        }
      }
    }
    const std::int64_t done = row;  // rows since the start
    if (done % S::halo != 0 || row + 1 == rows) continue;
    for_each([&](std::int64_t g, int w, int c, std::int64_t) {
      costs[g][w][c] = std::min(costs[g][w][c], unreachable);
    });
    const auto before = costs;
    for_each([&](std::int64_t g, int w, int c, std::int64_t) {  // inner
      if (S::keeps(w, c) || (row == miss.row && g == miss.group && w == miss.window)) return;
      const int from = c < S::halo ? w - 1 : w + 1;
      const int there = c + (w - from) * S::stride;
      EXPECT_TRUE(S::keeps(from, there));
      costs[g][w][c] = before[g][from][there];
    });
    if (done % S::outer_halo != 0) continue;
    std::vector<int> words(static_cast<std::size_t>(cols), -1);
    for_each([&](std::int64_t g, int w, int c, std::int64_t column) {
      if (column < 0 || column >= cols || !S::keeps(w, c)) return;
      if (!S::is_published(w * S::stride + c)) return;
      EXPECT_EQ(words[column], -1) << "two windows publish column " << column;
      words[column] = before[g][w][c];
    });
    for_each([&](std::int64_t g, int w, int c, std::int64_t column) {
      if (column < 0 || column >= cols || S::is_owned(w * S::stride + c)) return;
      EXPECT_NE(words[column], -1) << "nobody publishes column " << column;
      costs[g][w][c] = words[column];
    });
  }
  std::vector<int> result(static_cast<std::size_t>(cols), -1);
  for_each([&](std::int64_t g, int w, int c, std::int64_t column) {
    if (column < 0 || column >= cols) return;
    if (!S::keeps(w, c) || !S::is_owned(w * S::stride + c)) return;
    EXPECT_EQ(result[column], -1) << "two windows finish column " << column;
    result[column] = costs[g][w][c];
  });
  return result;
}

template <class S>
class WalkOf : public testing::Test {};
using Walks = testing::Types<
    // One window a group, several, owned columns fewer than the outer halo (80 of 108), wide lanes.
    Strips<StripSchedule<1, 8, 88, 1, 1>, Movement<28, 2>>,
    Strips<StripSchedule<1, 4, 96, 1, 2>, Movement<4, 2>>, Strips<Tall2, Movement<28, 2>>,
    Strips<Tall3, Movement<12, 2>>, Strips<StripSchedule<4, 4, 56, 3, 2>, Movement<12, 2>>,
    Strips<StripSchedule<2, 12, 320, 1, 1>, Movement<1, 2>>,
    // Clusters.
    Strips<Tall3Close, Movement<8, 2, 1, 0, 4, 3>>, Strips<Tall2, Movement<28, 2, 1, 0, 4, 4>>>;
TYPED_TEST_SUITE(WalkOf, Walks);

TYPED_TEST(WalkOf, GivesTheReferencesCosts) {
  using S = TypeParam;
  const std::int64_t outer = S::outer_halo, owned = S::owned;
  for (const Extent e : {Extent{1, 1}, Extent{2, 3}, Extent{outer, owned - 1},
                         Extent{outer + 1, owned}, Extent{outer + 2, owned + 1},
                         Extent{3 * outer + 5, 2 * owned + 37}, Extent{2 * outer + 1, 5}}) {
    for (const int challenge : {0, 5, 11, 16}) {  // random, and corridors that go to either side
      const Walls walls{e.rows, e.cols, seed, challenge};
      EXPECT_EQ(walk_strips_on_cpu<S>(walls), last_row_costs(walls))
          << e.rows << " x " << e.cols << ", challenge " << challenge;
    }
  }
}

/// One window that gets nothing in one exchange, once: the random walls may hide it, the challenges
/// with long runs show it.
TEST(PathfinderStrips, AMissedExchangeShows) {
  using S = Strips<StripSchedule<3, 4, 96, 3, 2>, Movement<4, 2>>;  // halo 16
  const std::int64_t rows = 300, cols = 3 * S::owned;
  for (std::int64_t i = 0; i < 24; ++i) {
    const Miss miss{S::halo * (1 + i * 7 % 16), i % 3, static_cast<int>(i % S::warps)};
    bool seen = false;
    for (int challenge = swings + 1; challenge <= challenges_of(rows) && !seen; ++challenge) {
      const Walls walls{rows, cols, seed, challenge};
      seen = walk_strips_on_cpu<S>(walls, miss) != last_row_costs(walls);
    }
    EXPECT_TRUE(seen) << "row " << miss.row << ", group " << miss.group << ", window "
                      << miss.window;
  }
}

TEST(PathfinderStrips, TilesStartOn16BytesAndCoverTheirWindows) {
  using S = Strips<Tall3Close, Movement<10, 6, 1, 0, 8, 6>>;
  for (std::int64_t block = 0; block < 40; ++block) {
    EXPECT_EQ(S::tile_column(block) % 4, 0);
    const std::int64_t group = block / S::cluster;
    EXPECT_EQ(S::tile_column(block),
              S::group_column(group) + block % S::cluster * S::warps * S::stride);
  }
  EXPECT_EQ(S::tile_columns, (S::warps - 1) * S::stride + S::window);
  EXPECT_EQ(S::lane_column(S::walkers - 1), S::tile_columns - S::lane_columns);
}

template <class Box>
void boxes_tile_a_stage(int tile_columns) {
  EXPECT_EQ(Box::rows * Box::columns % 32, 0);  // 128 bytes
  EXPECT_LE(Box::columns, 256);
  std::vector<int> used(Box::elements, 0);
  for (int row = 0; row < Box::rows; ++row) {
    for (int column = 0; column < tile_columns; column += 4) {
      const int at = Box::offset(column) + row * Box::columns;
      EXPECT_EQ(at % 4, 0);
      for (int i = 0; i < 4; ++i) ++used.at(at + i);
    }
  }
  EXPECT_EQ(std::ranges::count(used, 1), Box::rows * tile_columns);
  EXPECT_EQ(std::ranges::count(used, 0), Box::elements - Box::rows * tile_columns);
}

TEST(PathfinderStrips, BoxesTileAStage) {
  boxes_tile_a_stage<Boxes<40, 272>>(272);
  boxes_tile_a_stage<Boxes<28, 200>>(200);
  boxes_tile_a_stage<Boxes<4, 1024>>(1024);
  boxes_tile_a_stage<Boxes<2, 2624>>(2624);
  boxes_tile_a_stage<Boxes<1, 8064>>(8064);
  EXPECT_EQ((Boxes<1, 8064>::elements), 8064);  // 36 of 224: none reads too much
  EXPECT_EQ((Boxes<4, 1024>::count), 4);
}

}  // namespace
}  // namespace amasia::pathfinder
