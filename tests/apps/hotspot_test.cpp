// hotspot without a GPU: index arithmetic of both geometries, schedules, the update, the
// references, and the comparison that has to catch wrong kernels.
#include "apps/hotspot/hotspot.hpp"
#include "apps/hotspot/cpu_reference.hpp"
#include "apps/hotspot/geometry.hpp"
#include "apps/hotspot/kernel.cuh"
#include "apps/hotspot/schedules.hpp"
#include "tests/test.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::hotspot {
namespace {

Parameters size(std::int64_t rows, std::int64_t cols, int steps, const char* chip = "scaled") {
  return Parameters(parameter_specs(), {{"rows", std::to_string(rows)},
                                        {"cols", std::to_string(cols)},
                                        {"steps", std::to_string(steps)},
                                        {"chip", chip}});
}

// ---- geometry.hpp: strips

template <int STEPS, int WARPS, int STAGES, StageRows ROWS = StageRows::some>
using PlainStrip = Strip<STEPS, WARPS, 1, Movement<STAGES, ROWS>>;
template <int STEPS, int WARPS, int CLUSTER>
using Cluster = ClusterStrip<STEPS, WARPS, 1, Movement<2>, CLUSTER>;

TEST(Mirror, IsThePeriodicReflectionAboutTheEdges) {
  for (int n : {1, 2, 3, 7, 16, 131}) {
    for (int i = -40; i < n + 40; ++i) {
      const int period = 2 * n;
      const int in_period = ((i % period) + period) % period;
      EXPECT_EQ(mirror(i, n), in_period < n ? in_period : period - 1 - in_period)
          << i << " of " << n;
    }
  }
}

template <class S>
void every_column_is_finished_once(int columns) {
  std::vector<int> finished(columns);
  const int blocks = static_cast<int>(ceil_div(columns, S::block_columns));
  for (int block = 0; block < blocks; ++block) {
    // All that is copied of a tile: what is inside of what the computation reads.
    const int first = S::first_column(block);
    const Span span = columns_inside<S>(first, columns);
    EXPECT_EQ(span.begin % 4, 0);
    EXPECT_EQ(span.end % 4, 0);
    EXPECT_LT(span.begin, span.end);
    EXPECT_LE(span.end, S::tile_columns);
    EXPECT_LE(first + span.end, round_up(columns, 32));  // the padding belongs to the input
    EXPECT_LE(first + span.begin, std::max(first, 0));
    EXPECT_GE(first + span.end, std::min(first + S::tile_columns, columns));
    for (int warp = 0; warp < S::warps; ++warp) {
      for (int lane = 0; lane < lanes; ++lane) {
        const int column = S::lane_column(block, warp, lane);
        EXPECT_EQ(column % columns_per_lane, 0);
        // The lane's cells lie in the block's tile.
        EXPECT_GE(column, first);
        EXPECT_LE(column + columns_per_lane, first + S::tile_columns);
        if (!S::lane_finishes(lane)) continue;
        // As many columns of the window lie beside a finished one as the pass has steps.
        EXPECT_GE(lane * columns_per_lane, S::steps);
        EXPECT_LE((lane + 1) * columns_per_lane, window - S::steps);
        for (int c = 0; c < columns_per_lane; ++c) {
          if (column + c < columns) ++finished[column + c];
        }
      }
    }
  }
  for (int c = 0; c < columns; ++c) ASSERT_EQ(finished[c], 1) << c << " of " << columns;
}

TEST(Strip, FinishesEveryColumnOnceWithAHaloOfTheSteps) {
  for (int columns : {1, 2, 3, 4, 5, 103, 104, 105, 112, 113, 449, 520, 521, 997, 2049}) {
    every_column_is_finished_once<PlainStrip<1, 4, 1>>(columns);
    every_column_is_finished_once<PlainStrip<2, 8, 2>>(columns);
    every_column_is_finished_once<PlainStrip<5, 4, 2>>(columns);
    every_column_is_finished_once<PlainStrip<5, 5, 2>>(columns);
    every_column_is_finished_once<PlainStrip<8, 8, 2>>(columns);
    every_column_is_finished_once<PlainStrip<10, 8, 1>>(columns);
    every_column_is_finished_once<PlainStrip<12, 4, 2>>(columns);
  }
}

// Whatever travels together, the registers are back in their roles after at most 20 rows of code.
TEST(StageRows, DivideThePeriodOfTheRegisterRoles) {
  const auto check = [](auto strip) {
    using S = decltype(strip);
    EXPECT_EQ(S::unroll % S::rows, 0);
    EXPECT_EQ(S::unroll % S::steps, 0);
    EXPECT_EQ(S::unroll % 2, 0);
    EXPECT_LE(S::unroll, 20);
    EXPECT_EQ(S::warm_up % S::rows, 0);
    EXPECT_GE(S::warm_up, 2 * S::steps);
  };
  const auto check_all = [&]<int... T>(std::integer_sequence<int, T...>) {
    (check(PlainStrip<T, 4, 2, StageRows::some>{}), ...);
    (check(PlainStrip<T, 4, 2, StageRows::period>{}), ...);
    EXPECT_TRUE(((PlainStrip<T, 4, 2, StageRows::period>::rows ==
                  PlainStrip<T, 4, 2, StageRows::period>::unroll) &&
                 ...));
  };
  check_all(std::integer_sequence<int, 1, 2, 4, 5, 8, 10, 12>{});
  check(PlainStrip<5, 8, 2, StageRows::one>{});
}

template <class S>
void every_column_of_a_cluster_is_finished_once(int columns) {
  std::vector<int> finished(columns);
  const int clusters = static_cast<int>(ceil_div(columns, S::cluster_columns));
  for (int cluster = 0; cluster < clusters; ++cluster) {
    for (int w = 0; w < S::windows; ++w) {
      for (int lane = 0; lane < lanes; ++lane) {
        const int column = S::lane_column(cluster, w, lane);
        if (!S::lane_finishes(w, lane)) continue;
        // At the ends of a cluster the full halo, between its windows one lane.
        if (w == 0) {
          EXPECT_GE(lane * columns_per_lane, S::steps);
        }
        if (w == S::windows - 1) {
          EXPECT_LE((lane + 1) * columns_per_lane, window - S::steps);
        }
        for (int c = 0; c < columns_per_lane; ++c) {
          if (column + c < columns) ++finished[column + c];
        }
      }
      // The lane that sends to a neighbour holds the columns of the lane that receives there.
      if (w > 0) {
        EXPECT_EQ(S::lane_column(cluster, w, 1), S::lane_column(cluster, w - 1, lanes - 1));
        EXPECT_EQ(S::lane_column(cluster, w, 0), S::lane_column(cluster, w - 1, lanes - 2));
      }
    }
  }
  for (int c = 0; c < columns; ++c) ASSERT_EQ(finished[c], 1) << c << " of " << columns;
}

TEST(ClusterStrip, FinishesEveryColumnOnce) {
  for (int columns : {1, 3, 104, 919, 1009, 2049, 4099}) {
    every_column_of_a_cluster_is_finished_once<Cluster<1, 4, 2>>(columns);
    every_column_of_a_cluster_is_finished_once<Cluster<5, 4, 2>>(columns);
    every_column_of_a_cluster_is_finished_once<Cluster<10, 4, 3>>(columns);
    every_column_of_a_cluster_is_finished_once<Cluster<12, 4, 2>>(columns);
  }
}

template <class S>
void row_runs_cover(int rows, int chunk_rows) {
  int next = 0;
  for (int chunk = 0; chunk < ceil_div(rows, chunk_rows); ++chunk) {
    const RowRun run = row_run<S>(chunk, chunk_rows, rows);
    EXPECT_EQ(run.begin, next);
    EXPECT_GT(run.end, run.begin);
    EXPECT_LE(run.first, run.begin - S::steps);                  // the halo above has arrived ...
    EXPECT_EQ((run.begin + S::steps - run.first) % S::rows, 0);  // ... in whole row-blocks
    EXPECT_GE(run.first + run.blocks * S::rows, run.end + S::steps);  // and the halo below
    EXPECT_LT(run.first + run.blocks * S::rows, run.end + S::steps + S::rows);
    next = run.end;
  }
  EXPECT_EQ(next, rows);
}

TEST(RowRun, ChunksAndTheirHalosCoverTheGrid) {
  for (int rows : {1, 2, 5, 59, 60, 61, 509}) {
    for (int chunk : {20, 60, 520}) {
      row_runs_cover<PlainStrip<1, 4, 1>>(rows, chunk);
      row_runs_cover<PlainStrip<5, 4, 1>>(rows, chunk);
      row_runs_cover<PlainStrip<8, 4, 1>>(rows, chunk);
      row_runs_cover<PlainStrip<10, 4, 1>>(rows, chunk);
      row_runs_cover<PlainStrip<12, 4, 1>>(rows, chunk);
      row_runs_cover<PlainStrip<10, 4, 2, StageRows::period>>(rows, chunk);
    }
  }
}

TEST(BestChunkRows, AreWholeRowBlocksThatFillTheDevice) {
  using S = PlainStrip<5, 4, 2>;
  for (int rows : {1, 7, 1000, 8192, 1 << 20}) {
    for (int across : {1, 19, 300, 5000}) {
      const int chunk = best_chunk_rows<S>(rows, across, 528);
      EXPECT_GT(chunk, 0);
      EXPECT_EQ(chunk % S::rows, 0);
      EXPECT_EQ(chunk % 2, 0);
      EXPECT_LT(chunk, rows + 2 * S::rows);
    }
  }
  // One wave on 528 slots: 27 chunks of 19 blocks.
  EXPECT_EQ(best_chunk_rows<S>(8192, 19, 528), 310);
  // A device that holds not even one row of blocks, or nothing at all, still gets a chunk.
  EXPECT_EQ(best_chunk_rows<S>(8192, 5000, 528) % S::rows, 0);
  EXPECT_GT(best_chunk_rows<S>(8192, 19, 1), 0);
}

// ---- schedules.hpp

TEST(PlanPasses, UsesAsFewAndAsEvenPassesAsPossible) {
  EXPECT_EQ(plan_passes(5, {1, 5, 8, 12}), (std::vector<int>{5}));
  EXPECT_EQ(plan_passes(20, {1, 5, 8, 12}), (std::vector<int>{12, 8}));
  EXPECT_EQ(plan_passes(20, {1, 2, 5, 10, 12}), (std::vector<int>{10, 10}));
  EXPECT_EQ(plan_passes(60, {1, 5, 8, 12}), (std::vector<int>{12, 12, 12, 12, 12}));
  EXPECT_EQ(plan_passes(1, {1, 2, 5}), (std::vector<int>{1}));
  EXPECT_EQ(plan_passes(7, {1, 2, 5}), (std::vector<int>{5, 2}));
  for (int steps = 1; steps < 200; ++steps) {
    int sum = 0;
    for (int pass : plan_passes(steps, {1, 2, 5, 8})) sum += pass;
    EXPECT_EQ(sum, steps);
  }
}

TEST(PingPong, EndsInTheResultAndNeverWritesAnInput) {
  float temperature, power, result, scratch;
  Problem p;
  p.temperature = {&temperature, 1, 1, 1};
  p.power = {&power, 1, 1, 1};
  p.result = {&result, 1, 1, 1};
  p.scratch = {&scratch, 1, 1, 1};
  for (int n = 1; n < 6; ++n) {
    const std::vector<Pass> passes = ping_pong(p, std::vector<int>(n, 3));
    ASSERT_EQ(passes.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(passes.front().source.data, &temperature);
    EXPECT_EQ(passes.back().destination.data, &result);
    for (int i = 1; i < n; ++i) EXPECT_EQ(passes[i].source.data, passes[i - 1].destination.data);
    for (const Pass& pass : passes) {
      EXPECT_NE(pass.source.data, pass.destination.data);
      EXPECT_TRUE(pass.destination.data == &result || pass.destination.data == &scratch);
    }
  }
}

// ---- geometry.hpp: pyramid

TEST(TileWalk, VisitsEveryTileOnceInStepsOfTheWalkers) {
  for (auto [across, down] :
       std::vector<std::pair<int, int>>{{1, 1}, {1, 37}, {37, 1}, {5, 7}, {683, 3}}) {
    for (int walkers : {1, 2, 4, 5, 6, 34, 35, 36}) {
      std::vector<int> visits(across * down);
      for (int walker = 0; walker < walkers; ++walker) {
        int index = walker;
        for (TileWalk tile(walker, walkers, across, down); !tile.done(); tile.next()) {
          EXPECT_EQ(tile.row * across + tile.column, index);
          index += walkers;
          ++visits.at(tile.row * across + tile.column);
        }
      }
      for (int count : visits) ASSERT_EQ(count, 1);
    }
  }
}

// A grid of blocks ends at 65,535 in y: 786,420 rows.
TEST(TileRows, CoverGridsOfAnyHeight) {
  for (std::int64_t rows : {std::int64_t{1}, std::int64_t{12}, std::int64_t{13},
                            std::int64_t{786420}, std::int64_t{786421}, std::int64_t{1} << 30}) {
    const std::int64_t tile_rows = ceil_div(rows, core);
    std::int64_t next = 0;
    for (const TileRows& band : bands_of(tile_rows)) {
      EXPECT_EQ(band.first, next);
      EXPECT_GT(band.count, 0);
      EXPECT_LE(band.count, 65535);
      // The last row of the band's last tile is within what a coordinate of the copy engine holds.
      EXPECT_LT(pyramid_origin(band.first + band.count - 1, 0).row + tile_size, INT32_MAX);
      next += band.count;
    }
    EXPECT_EQ(next, tile_rows);
  }
  EXPECT_EQ(bands_of(65535).size(), 1u);
  EXPECT_EQ(bands_of(65536).size(), 2u);
}

TEST(TileCell, FinishesEveryCellOnceAndNeverLooksOutside) {
  for (auto [rows, cols] :
       std::vector<std::pair<int, int>>{{1, 1}, {1, 37}, {12, 12}, {13, 11}, {29, 50}}) {
    std::vector<int> finished(rows * cols);
    for (int tr = 0; tr < ceil_div(rows, core); ++tr) {
      for (int tc = 0; tc < ceil_div(cols, core); ++tc) {
        const TileOrigin origin = pyramid_origin(tr, tc);
        for (int t = 0; t < tile_threads; ++t) {
          for (auto [stride, shift] : {std::pair{tile_size, 0}, std::pair{tile_size + 4, 2}}) {
            const TileCell cell(origin, t, rows, cols, stride, shift);
            EXPECT_EQ(cell.index, t / tile_size * stride + t % tile_size + shift);
            const int in_row = t % tile_size, in_column = t / tile_size;
            EXPECT_EQ(cell.west, in_row > 0 && cell.column > 0 ? -1 : 0);
            EXPECT_EQ(cell.east, in_row < 15 && cell.column < cols - 1 ? 1 : 0);
            EXPECT_EQ(cell.north, in_column > 0 && cell.row > 0 ? -stride : 0);
            EXPECT_EQ(cell.south, in_column < 15 && cell.row < rows - 1 ? stride : 0);
            if (cell.finishes && shift == 0) ++finished.at(cell.row * cols + cell.column);
          }
        }
      }
    }
    for (int count : finished) ASSERT_EQ(count, 1);
  }
}

// ---- geometry.hpp: squares

void squares_cover(int extent, int halo, int align) {
  const SquareAxis axis = SquareAxis::of(extent, halo);
  int next = 0;
  for (int i = 0; i < axis.count; ++i) {
    const int first = axis.first(i, align), end = first + square;
    EXPECT_GE(first, 0);
    EXPECT_EQ(first % align, 0);
    EXPECT_EQ(axis.begin(i), next);
    EXPECT_EQ((axis.begin(i) - (i > 0 ? halo : 0)) % align, 0);
    EXPECT_GT(axis.end(i), axis.begin(i));
    // As many cells of the square lie beside a finished one as a pass has steps, or the grid ends.
    EXPECT_GE(axis.begin(i) - first, first > 0 ? halo : 0);
    EXPECT_GE(end - axis.end(i), end < extent ? halo : 0);
    // A square whose side is no edge of the grid does not stick out of it either, but for columns
    // that are no multiple of four and for an odd row.
    if (extent >= square) {
      EXPECT_LT(end, extent + align);
    }
    next = axis.end(i);
  }
  EXPECT_EQ(next, extent);
}

TEST(SquareAxis, FinishesEveryCellOnceWithAHaloOfTheSteps) {
  for (int extent :
       {1, 3, 40, 63, 64, 65, 66, 68, 87, 88, 89, 100, 127, 128, 130, 256, 1001, 8192}) {
    for (int steps = 1; steps <= most_square_steps; ++steps) {
      squares_cover(extent, steps, 2);
      squares_cover(extent, column_halo(steps), patch);
      EXPECT_GE(column_halo(steps), steps);
    }
  }
}

TEST(BestSquareSteps, TakeSmallGridsInOneLaunch) {
  EXPECT_EQ(best_square_steps(64, 64, 20, squares_per_sm * 132), 20);
  EXPECT_EQ(best_square_steps(256, 256, 20, squares_per_sm * 132), 20);
  EXPECT_EQ(best_square_steps(1, 1, 7, 1), 7);
  for (int steps : {1, 2, 19, 21, 60, 1000}) {
    for (int n : {1, 64, 500, 8192}) {
      const int pass = best_square_steps(n, n, steps, squares_per_sm * 132);
      EXPECT_GE(pass, 1);
      EXPECT_LE(pass, std::min(steps, most_square_steps));
    }
  }
}

// ---- the update and the references

// The update in fp32 on a clamped grid, cell by cell.
std::vector<float> advance_grid(const HostGrid& temperature, const HostGrid& power,
                                const Coefficients& k, int steps) {
  const int rows = static_cast<int>(temperature.rows), cols = static_cast<int>(temperature.cols);
  std::vector<float> now = temperature.cells, next(now.size());
  const auto at = [&](int r, int c) {
    return now[std::min(std::max(r, 0), rows - 1) * cols + std::min(std::max(c, 0), cols - 1)];
  };
  for (int s = 0; s < steps; ++s) {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        const int west = is_even(r, c) ? -1 : 1;
        next[r * cols + c] = by_isotropy(k, [&](auto isotropic) {
          return advance<isotropic.value>(at(r, c), at(r - 1, c), at(r + 1, c), at(r, c + west),
                                          at(r, c - west),
                                          source_term(power.cells[r * cols + c], k), k);
        });
      }
    }
    now.swap(next);
  }
  return now;
}

TEST(Update, StaysWithinTheBoundOfTheReference) {
  for (const Parameters& p :
       {size(1, 1, 9), size(1, 61, 3), size(53, 1, 4), size(37, 41, 60), size(97, 101, 7),
        size(512, 384, 20), size(1021, 509, 5, "rodinia")}) {
    const HostGrid t = host_temperature(p, 7), w = host_power(p, 7);
    const ExactCoefficients k = exact_coefficients(t.rows, t.cols, chip_of(p));
    const int steps = static_cast<int>(p.integer("steps"));
    const std::vector<float> got = advance_grid(t, w, rounded(k), steps);
    const Verdict v =
        compare(got.data(), reference(t, w, k, steps), error_bound(steps, chip_of(p)));
    EXPECT_TRUE(v.passed) << p.to_string() << ": " << v.error << " > " << v.bound;
    EXPECT_EQ(v.checked, t.rows * t.cols);
  }
}

// Reflecting temperature and power about the edges instead of clamping: the claim of geometry.hpp.
TEST(Update, MirroredHaloEqualsClampedEdges) {
  for (auto [rows, cols] : std::vector<std::pair<int, int>>{{1, 1}, {3, 2}, {13, 17}}) {
    const int steps = 6, wide = cols + 2 * steps;
    const Parameters p = size(rows, cols, steps);
    const HostGrid t = host_temperature(p, 3), w = host_power(p, 3);
    const ExactCoefficients k = exact_coefficients(rows, cols, Chip::scaled);
    HostGrid mt{rows + 2 * steps, wide, {}}, mw{rows + 2 * steps, wide, {}};
    for (int r = -steps; r < rows + steps; ++r) {
      for (int c = -steps; c < cols + steps; ++c) {
        mt.cells.push_back(t.cells[mirror(r, rows) * cols + mirror(c, cols)]);
        mw.cells.push_back(w.cells[mirror(r, rows) * cols + mirror(c, cols)]);
      }
    }
    const std::vector<float> got = advance_grid(mt, mw, rounded(k), steps);
    const std::vector<float> clamped = advance_grid(t, w, rounded(k), steps);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {  // bit for bit
        EXPECT_EQ(got[(r + steps) * wide + c + steps], clamped[r * cols + c]) << r << ", " << c;
      }
    }
  }
}

TEST(Coefficients, KeepEquilibriumAndMatchRodiniasInputSize) {
  for (Chip chip : {Chip::scaled, Chip::rodinia}) {
    const ExactCoefficients k = exact_coefficients(1024, 1024, chip);
    // At the ambient temperature without power nothing changes.
    EXPECT_NEAR(k.centre * 80 + 2 * (k.vertical + k.horizontal) * 80 + k.ambient, 80, 1e-10);
    // A square cell of 16 mm / 1024: step = 1e-3 K / (3e6 / (0.5 * 0.5 mm * 1.75e6)) = 145.8 ns,
    // heat capacity 106.8 nJ/K, resistances 10 K/W.
    EXPECT_NEAR(k.power, 1.365333, 1e-5);
    EXPECT_NEAR(k.vertical, 0.1365333, 1e-6);
    EXPECT_NEAR(k.horizontal, 0.1365333, 1e-6);
  }
  // Explicit steps are stable while centre > -1: 'scaled' at any size, 'rodinia' up to about 1390.
  EXPECT_GT(exact_coefficients(1 << 20, 1 << 20, Chip::scaled).centre, 0);
  EXPECT_LT(exact_coefficients(8192, 8192, Chip::rodinia).centre, -1);
}

TEST(Window, AreAdvancedAsTheWholeGrid) {
  for (auto [rows, cols] : std::vector<std::pair<int, int>>{{1, 1}, {5, 90}, {61, 47}}) {
    const int steps = 6;
    const Parameters p = size(rows, cols, steps);
    const HostGrid t = host_temperature(p, 3), w = host_power(p, 3);
    const ExactCoefficients k = exact_coefficients(rows, cols, Chip::scaled);
    const HostGrid whole = reference(t, w, k, steps);
    for (int i = 0; i < 16; ++i) {
      const Window v = window_of(i, 16, rows, cols, 16, steps, 9);
      EXPECT_LE(v.row + v.rows, rows);
      EXPECT_LE(v.column + v.cols, cols);
      const auto part = [&](const HostGrid& grid) {
        return cut(grid, {0, 0, 0, 0, v.row, v.column, v.rows, v.cols});
      };
      const HostGrid got = cut(reference(part(t), part(w), k, steps), v);
      const HostGrid right = cut(whole, {0, 0, 0, 0, v.row + v.inner_row, v.column + v.inner_column,
                                         v.inner_rows, v.inner_cols});
      EXPECT_EQ(got.cells, right.cells) << rows << " x " << cols << ", window " << i;
      EXPECT_EQ(got.cells.size(),
                static_cast<std::size_t>(std::min(16, rows) * std::min(16, cols)));
    }
  }
  const Window corner = window_of(3, 16, 50001, 50003, 16, 5, 1);
  EXPECT_EQ(corner.row + corner.inner_row + corner.inner_rows, 50001);
  EXPECT_EQ(corner.column + corner.inner_column + corner.inner_cols, 50003);
}

// ---- the comparison catches wrong kernels

class Mutants : public testing::Test {
 protected:
  static constexpr int rows = 131, cols = 127, steps = 5;
  Parameters p = size(rows, cols, steps);
  HostGrid t = host_temperature(p, 5), w = host_power(p, 5);
  ExactCoefficients k = exact_coefficients(rows, cols, Chip::scaled);
  HostGrid expected = reference(t, w, k, steps);
  std::vector<float> good = advance_grid(t, w, rounded(k), steps);

  Verdict judge(const std::vector<float>& got) const {
    return compare(got.data(), expected, error_bound(steps, Chip::scaled));
  }
};

TEST_F(Mutants, NothingDone) {
  EXPECT_TRUE(judge(good).passed);
  const std::vector<float> poison(rows * cols, std::numeric_limits<float>::quiet_NaN());
  const Verdict v = judge(poison);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.mismatches, rows * cols);
  EXPECT_EQ(v.first_mismatches.size(), 5u);
  EXPECT_FALSE(judge(t.cells).passed);  // the input instead of the output
}

TEST_F(Mutants, OneCellAtAnEdge) {
  for (int cell : {0, cols - 1, (rows - 1) * cols, rows * cols - 1}) {
    std::vector<float> got = good;
    got[cell] = got[cell == 0 ? 1 : cell - 1];
    const Verdict v = judge(got);
    EXPECT_FALSE(v.passed);
    EXPECT_EQ(v.mismatches, 1);
    got[cell] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(judge(got).passed);
  }
}

TEST_F(Mutants, AnotherNumberOfStepsOrAnotherPower) {
  EXPECT_FALSE(judge(advance_grid(t, w, rounded(k), steps - 1)).passed);
  EXPECT_FALSE(judge(advance_grid(t, w, rounded(k), steps + 1)).passed);
  HostGrid none = w, shifted = w;  // forgotten, or of the row below
  for (float& watt : none.cells) watt = 0;
  std::rotate(shifted.cells.begin(), shifted.cells.begin() + cols, shifted.cells.end());
  EXPECT_FALSE(judge(advance_grid(t, none, rounded(k), steps)).passed);
  EXPECT_FALSE(judge(advance_grid(t, shifted, rounded(k), steps)).passed);
}

TEST_F(Mutants, SkippedTileAndStaleHalo) {
  std::vector<float> skipped = good;
  for (int r = 48; r < 60; ++r) {
    for (int c = 24; c < 36; ++c) skipped[r * cols + c] = t.cells[r * cols + c];
  }
  EXPECT_FALSE(judge(skipped).passed);
  // Two halves that never hear of each other: each clamps at the seam.
  std::vector<float> stale = good;
  const HostGrid top_t{64, cols, {t.cells.begin(), t.cells.begin() + 64 * cols}};
  const HostGrid top_w{64, cols, {w.cells.begin(), w.cells.begin() + 64 * cols}};
  const std::vector<float> top = advance_grid(top_t, top_w, rounded(k), steps);
  std::copy(top.begin(), top.end(), stale.begin());
  const Verdict v = judge(stale);
  EXPECT_FALSE(v.passed);
  EXPECT_GE(v.mismatches, cols);
}

TEST(HotspotFiles, FeedTheProblem) {
  const TemporaryFolder folder;
  const std::string path = folder / "grid.txt";
  write_text(path, "330\n331\n332\n333\n334\n335\n");
  const Parameters p(parameter_specs(), {{"rows", "2"}, {"cols", "3"}, {"temp_file", path}});
  EXPECT_EQ(host_temperature(p, 1).cells, (std::vector<float>{330, 331, 332, 333, 334, 335}));
  EXPECT_EQ(host_power(p, 1).cells.size(), 6u);
}

}  // namespace
}  // namespace amasia::hotspot
