// pathfinder without a GPU: the reference against others written apart from it, the path, and the
// index arithmetic of both schedules, including a whole strip walk replayed on the CPU with the
// geometry the kernels use.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "apps/pathfinder/cpu_reference.hpp"
#include "apps/pathfinder/geometry.hpp"
#include "apps/pathfinder/instance.hpp"
#include "apps/pathfinder/kernel.cuh"
#include "apps/pathfinder/pathfinder.hpp"
#include "apps/pathfinder/team.hpp"
#include "harness/registry.hpp"

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

TEST(PathfinderReference, AgreesWithRelaxation) {
  for (const auto& [rows, cols] : extents) {
    EXPECT_EQ(last_row_costs(rows, cols, seed), last_row_costs_by_relaxation(rows, cols, seed))
        << rows << " x " << cols;
  }
}

/// A barrier per row is cheap only where each thread has work, and waits for nobody that does not
/// run.
TEST(PathfinderReference, TheTeamGrowsWithTheRowNotWithTheHost) {
  EXPECT_EQ(team_size(10000, 256), 1);
  EXPECT_EQ(team_size(32768, 256), 2);
  EXPECT_EQ(team_size(1'000'000, 256), 16);
  EXPECT_EQ(team_size(1'000'000, 4), 4);
  EXPECT_EQ(team_size(1'000'000, 0), 1);  // hardware_concurrency() may not know
  EXPECT_EQ(team_size(1, 1), 1);
}

TEST(PathfinderReference, AgreesWithEnumeration) {
  for (const std::int64_t cols : {1, 2, 3, 7}) {
    const std::vector<int> costs = last_row_costs(7, cols, seed);
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
    const Path path = cheapest_path(rows, cols, seed);
    const std::vector<int> costs = last_row_costs_by_relaxation(rows, cols, seed);
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
    EXPECT_EQ(path.cost, *std::min_element(costs.begin(), costs.end())) << rows << " x " << cols;
  }
}

TEST(PathfinderApp, ChecksItsReference) {
  const App* app = find_app("pathfinder");
  ASSERT_NE(app, nullptr);
  for (const auto& [rows, cols] : extents) {
    const Parameters p(app->parameters(),
                       {{"rows", std::to_string(rows)}, {"cols", std::to_string(cols)}});
    EXPECT_TRUE(app->check_reference(p, seed).passed) << p.to_string();
  }
}

TEST(PathfinderApp, DeclaresWorkAndMemory) {
  const App* app = find_app("pathfinder");
  const Parameters p(app->parameters(), {{"rows", "1000"}, {"cols", "1000000"}});
  const Work work = app->work(p);
  EXPECT_DOUBLE_EQ(work.bytes_read, 4e9);
  EXPECT_DOUBLE_EQ(work.bytes_written, 4e6);
  EXPECT_DOUBLE_EQ(work.operations, 3.0 * 999 * 1e6);
  EXPECT_DOUBLE_EQ(work.dependent_operations, 2.0 * 999);
  EXPECT_GE(app->device_bytes(p), 4'000'000'000 + 2 * 4'000'000);
  EXPECT_THROW(Parameters(app->parameters(), {{"rows", "0"}}), UsageError);
  EXPECT_THROW(Parameters(app->parameters(), {{"cols", "-3"}}), UsageError);
  EXPECT_THROW(Parameters(app->parameters(), {{"rows", "3000000000"}}), UsageError);
  const Parameters huge(app->parameters(), {{"rows", "2147483647"}, {"cols", "2147483647"}});
  EXPECT_THROW(app->device_bytes(huge), UsageError);
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

TEST(PathfinderApp, ExportsThePath) {
  const App* app = find_app("pathfinder");
  const auto file = std::filesystem::temp_directory_path() / "amasia_pathfinder_path.txt";
  const Parameters p(app->parameters(), {{"rows", "29"}, {"cols", "31"}, {"path", file.string()}});
  FinishedRun run(last_row_costs(29, 31, seed));
  app->export_outputs(p, run);
  std::ifstream in(file);
  std::string header;
  std::getline(in, header);
  EXPECT_NE(header.find("cost " + std::to_string(cheapest_path(29, 31, seed).cost)),
            std::string::npos);
  std::int64_t row = 0, column = 0, wall = 0, lines = 0;
  while (in >> row >> column >> wall) {
    EXPECT_EQ(row, lines++);
    EXPECT_EQ(wall, wall_height(seed, 31, row, column));
  }
  EXPECT_EQ(lines, 29);
  std::filesystem::remove(file);

  FinishedRun wrong(std::vector<int>(31, 1));
  EXPECT_THROW(app->export_outputs(p, wrong), std::runtime_error);
  const Parameters nowhere(app->parameters(),
                           {{"rows", "29"}, {"cols", "31"}, {"path", "/no/such/folder/path.txt"}});
  EXPECT_THROW(app->export_outputs(nowhere, run), UsageError);
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
  EXPECT_EQ(std::count(finished.begin(), finished.end(), 1), columns) << columns << " columns";
}

TEST(PathfinderPyramid, CoversEveryColumnOnce) {
  for (const std::int64_t columns : {1, 2, 215, 216, 217, 1009, 2007, 2008, 2009, 10000}) {
    covers_every_column_once<Pyramid<>>(columns);
    covers_every_column_once<Pyramid<8>>(columns);
  }
}

TEST(PathfinderPyramid, LaunchesCoverTheRows) {
  EXPECT_EQ(Pyramid<>::launches(1), 1);  // copies the first row
  EXPECT_EQ(Pyramid<>::launches(2), 1);
  EXPECT_EQ(Pyramid<>::launches(21), 1);
  EXPECT_EQ(Pyramid<>::launches(22), 2);
  EXPECT_EQ(Pyramid<>::launches(10000), 500);
}

/// Every window as the kernels see it, advanced on the CPU with the kernels' step(), inner and
/// outer exchanges as the geometry says. A wrong halo, keeper or owner gives a wrong last row.
template <class S>
std::vector<int> walk_strips_on_cpu(std::int64_t rows, std::int64_t cols) {
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
    if (column >= 0 && column < cols) costs[g][w][c] = wall_height(seed, cols, 0, column);
  });
  for (std::int64_t row = 1; row < rows; ++row) {
    for (std::int64_t g = 0; g < groups; ++g) {
      for (int w = 0; w < S::windows; ++w) {
        const std::vector<int> above = costs[g][w];
        for (int c = 0; c < S::window; ++c) {
          const std::int64_t column = grid_column(g, w, c);
          const bool inside = column >= 0 && column < cols;
          const int wall = inside ? wall_height(seed, cols, row, column) : highest_wall;
          costs[g][w][c] =
              step(wall, above[c > 0 ? c - 1 : c], above[c], above[c + 1 < S::window ? c + 1 : c]);
        }
      }
    }
    const std::int64_t done = row;  // rows since the start
    if (done % S::halo != 0 || row + 1 == rows) continue;
    const auto before = costs;
    for_each([&](std::int64_t g, int w, int c, std::int64_t) {  // inner
      if (S::keeps(w, c)) return;
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
void strips_agree_with_reference() {
  const std::int64_t outer = S::outer_halo, owned = S::owned;
  for (const Extent e : {Extent{1, 1}, Extent{2, 3}, Extent{outer, owned - 1},
                         Extent{outer + 1, owned}, Extent{outer + 2, owned + 1},
                         Extent{3 * outer + 5, 2 * owned + 37}, Extent{2 * outer + 1, 5}}) {
    EXPECT_EQ(walk_strips_on_cpu<S>(e.rows, e.cols), last_row_costs(e.rows, e.cols, seed))
        << e.rows << " x " << e.cols;
  }
}

TEST(PathfinderStrips, OneWindowPerGroup) {
  strips_agree_with_reference<Strips<1, 4, 96, 1, 4, 2, 2>>();
}
TEST(PathfinderStrips, SeveralWindows) {
  strips_agree_with_reference<Strips<3, 4, 56, 2, 12, 2, 2>>();
}
TEST(PathfinderStrips, OwnedNarrowerThanTheOuterHalo) {
  strips_agree_with_reference<Strips<4, 4, 56, 3, 12, 2, 2>>();  // owns 80, halo 108
}
TEST(PathfinderStrips, WideLanes) { strips_agree_with_reference<Strips<2, 12, 320, 1, 1, 2, 1>>(); }
TEST(PathfinderStrips, Clusters) {
  strips_agree_with_reference<Strips<3, 4, 48, 3, 8, 2, 2, 1, 1, 1, 4>>();
}

TEST(PathfinderStrips, TilesStartOn16BytesAndCoverTheirWindows) {
  using S = Strips<3, 4, 48, 6, 10, 6, 2, 1, 1, 1, 8>;
  for (std::int64_t block = 0; block < 40; ++block) {
    EXPECT_EQ(S::tile_column(block) % 4, 0);
    const std::int64_t group = block / S::cluster;
    EXPECT_EQ(S::tile_column(block),
              S::group_column(group) + block % S::cluster * S::warps * S::stride);
  }
  EXPECT_EQ(S::tile_columns, (S::warps - 1) * S::stride + S::window);
}

TEST(PathfinderStrips, PanelsTileAStage) {
  using S = Strips<4, 4, 48, 2, 8, 8, 2, 1, 1, 2>;
  std::vector<int> used(S::stage_elements, 0);
  for (int row = 0; row < S::stage_rows; ++row) {
    for (int column = 0; column < S::tile_columns; column += 4) {
      const int at = S::stage_offset(column) + row * S::panel_columns;
      EXPECT_EQ(at % 4, 0);
      for (int i = 0; i < 4; ++i) ++used.at(at + i);
    }
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), 1), S::stage_elements);
}

TEST(PathfinderStrips, CountsOuterExchanges) {
  using S = Strips<3, 4, 56, 2, 12, 5, 2>;  // outer halo 72
  EXPECT_EQ(S::outer_exchanges(0), 0);
  EXPECT_EQ(S::outer_exchanges(72), 0);
  EXPECT_EQ(S::outer_exchanges(73), 1);
  EXPECT_EQ(S::outer_exchanges(145), 2);
}

}  // namespace
}  // namespace amasia::pathfinder
