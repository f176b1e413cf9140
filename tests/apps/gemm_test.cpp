// gemm without a device: the walk's arithmetic, rounding, the references, the comparison, what the
// harness asks.
#include "apps/gemm/gemm.hpp"
#include "apps/common/tf32.hpp"
#include "apps/common/tile_walk.hpp"
#include "apps/gemm/cpu_reference.hpp"
#include "apps/gemm/fragments.hpp"
#include "apps/gemm/walk.hpp"
#include "tests/apps/tf32x3_replay.hpp"
#include "tests/test.hpp"
#include "variants/geometry/box.hpp"

namespace amasia::gemm {
namespace {

using matrix::Products;
using matrix::three_products;

Parameters size(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& mode = "fp32") {
  return Parameters(parameter_specs(), {{"m", std::to_string(m)},
                                        {"n", std::to_string(n)},
                                        {"k", std::to_string(k)},
                                        {"mode", mode},
                                        {"layout", mode == "e4m3" ? "tn" : "nn"}});
}

TEST(Divisor, DividesAsTheProcessorDoes) {
  constexpr int largest = std::numeric_limits<int>::max();
  std::vector<int> divisors{1 << 30, (1 << 30) - 1, (1 << 29) + 1, 641, 6700417, 715827883};
  for (int d = 1; d <= 600; ++d) divisors.push_back(d);
  for (int d : divisors) {
    const Divisor by(d);
    EXPECT_EQ(by.value, d);
    for (int x = 0; x < 3000; ++x) ASSERT_EQ(by.quotient(x), x / d) << x << " / " << d;
    // Around multiples, where a reciprocal that is a little off shows.
    for (std::int64_t q = 1; q * d - 1 <= largest; q = q * 3 / 2 + 1) {
      for (std::int64_t x = q * d - 1; x <= q * d + 1 && x <= largest; ++x) {
        ASSERT_EQ(by.quotient(static_cast<int>(x)), x / d) << x << " / " << d;
      }
    }
    for (int x = largest; x > largest - 1000; --x) ASSERT_EQ(by.quotient(x), x / d) << x;
  }
  EXPECT_EQ(Divisor().quotient(7), 7);
}

TEST(Walk, ComputesEveryTileOnceInTheOrderOfTileWalk) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  for (const auto& [m, n, tile_m, tile_n] : {std::tuple{std::int64_t{1}, std::int64_t{1}, 128, 256},
                                             {std::int64_t{129}, std::int64_t{257}, 128, 256},
                                             {std::int64_t{2049}, std::int64_t{300}, 128, 128},
                                             {std::int64_t{5000}, std::int64_t{7001}, 64, 128},
                                             {most, most, 64, 128},
                                             {most - 64, std::int64_t{1}, 64, 128},
                                             {std::int64_t{1}, most, 256, 64}}) {
    for (int cluster : {1, 2, 4}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      const Walk walk(m, n, 100, tile_m, tile_n, 32, cluster);
      const matrix::Walk plain(m, n, 100, tile_m, tile_n, 32, cluster);
      ASSERT_EQ(walk.steps(), plain.steps());
      EXPECT_GE(walk.rows * tile_m, m);
      EXPECT_LT(walk.rows * tile_m, m + tile_m * cluster);
      EXPECT_GE(walk.columns * tile_n, n);
      EXPECT_LT((walk.columns - 1) * tile_n, n);
      const int last = walk.steps() - 1, stride = last / 10000 + 1;
      std::set<std::pair<int, int>> seen;
      // Not all of many steps, but the last one.
      for (int step = 0; step <= last; step = std::max(step + 1, std::min(step + stride, last))) {
        for (int rank = 0; rank < cluster; ++rank) {
          const TilePlace p = walk.place(step, rank), expected = plain.place(step, rank);
          ASSERT_TRUE(p.row == expected.row && p.column == expected.column) << "step " << step;
          ASSERT_TRUE(p.row >= 0 && p.row < walk.rows && p.column >= 0 && p.column < walk.columns);
          EXPECT_TRUE(seen.emplace(p.row, p.column).second);
        }
      }
      if (stride == 1) {
        EXPECT_EQ(static_cast<int>(seen.size()), walk.rows * walk.columns);
      }
      EXPECT_TRUE(walk.has(last) && !walk.has(last + 1));
    }
  }
}

TEST(Walk, WhatRunsAtOneTimeIsAboutSquare) {
  for (const auto& [tile_m, tile_n, blocks] :
       {std::tuple{128, 256, 132}, {128, 128, 264}, {256, 128, 132}}) {
    const Walk walk(16384, 16384, 100, tile_m, tile_n, 32, 1);
    std::set<int> rows, columns;
    for (int step = 0; step < blocks; ++step) {
      rows.insert(walk.place(step, 0).row);
      columns.insert(walk.place(step, 0).column);
    }
    const double height = static_cast<double>(rows.size()) * tile_m;
    const double width = static_cast<double>(columns.size()) * tile_n;
    EXPECT_LT(std::abs(std::log2(height / width)), 0.5) << tile_m << " x " << tile_n;
  }
}

// ---- walk.hpp: Turns

/// Fills the ring as the producer does, slice by slice of the walk, and asks each team where it
/// finds those of its steps.
template <int STAGES, int TEAMS, class AnyWalk>
void expect_turns(const AnyWalk& walk, typename AnyWalk::Step first,
                  typename AnyWalk::Step stride) {
  using Step = typename AnyWalk::Step;
  typename AnyWalk::Position at(walk, first);
  PipelineState<STAGES> filling;
  Turns<STAGES, TEAMS> turns;
  int nth = 0;
  for (Step step = first; walk.has(step); step += stride, ++nth) {
    for (int team = 0; team < TEAMS; ++team) EXPECT_EQ(turns.is_of(team), team == nth % TEAMS);
    const Range run = walk.run(step);
    PipelineState<STAGES> state = turns.state();
    for (int slice = run.first; slice < run.end; ++slice, ++state, ++filling) {
      ASSERT_TRUE(at.more(walk));
      EXPECT_EQ(at.step, step);
      EXPECT_EQ(at.slice, slice);
      EXPECT_EQ(state.index, filling.index);
      EXPECT_EQ(state.phase, filling.phase);
      at.advance(walk, stride);
    }
    turns.pass(run.end - run.first);
  }
  EXPECT_FALSE(at.more(walk));
}

TEST(Turns, TeamsFindTheirSlicesWhereTheProducerPutThem) {
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {500, 390, 3000}, {4096, 4096, 640}}) {
    const Walk walk(m, n, k, 128, 128, 64, 1);
    for (int block = 0; block < 132; block += 19) {
      expect_turns<7, 2>(walk, block, 132);
      expect_turns<4, 1>(walk, block, 132);
      const SharedWalk shared(walk, 132, 12);
      if (block < shared.workers) expect_turns<7, 2>(shared, block, shared.workers);
    }
  }
}

// ---- walk.hpp: SharedWalk

struct SharedCase {
  std::int64_t m, n, k;
  int cluster, resident, shortest;
};
std::ostream& operator<<(std::ostream& out, const SharedCase& c) {
  return out << c.m << " x " << c.n << " x " << c.k << ", clusters of " << c.cluster << ", "
             << c.resident << " blocks, shares of " << c.shortest;
}
std::vector<SharedCase> shared_cases() {
  std::vector<SharedCase> all;
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1},
                                {512, 512, 512},
                                {1024, 1024, 1024},
                                {130, 129, 350},
                                {1, 38400, 192},
                                {1024, 1024, 16384},
                                {2048, 2048, 2048},
                                {4096, 4096, 4096},
                                {3000, 3000, 33},
                                {5000, 777, 1000},
                                {128 * 133, 128, 300}}) {
    for (int resident : {1, 2, 7, 66, 108, 132, 264}) {
      for (int cluster : {1, 2}) {
        for (int shortest : {1, 2, 12}) all.push_back({m, n, k, cluster, resident, shortest});
      }
    }
  }
  return all;
}
TEST(SharedWalk, EverySliceOfEverySumIsMultipliedOnce) {
  for (const SharedCase& c : shared_cases()) {
    const SharedWalk walk(Walk(c.m, c.n, c.k, 128, 128, 32, c.cluster), c.resident, c.shortest);
    // Tile and slice of rank 0.
    std::map<std::pair<int, int>, std::vector<int>> times;
    std::map<int, Range> stored;  // slot -> slices of `tile_in`
    std::map<int, int> tile_in;   // slot -> shared tile
    for (int worker = 0; worker < walk.workers; ++worker) {
      SharedWalk::Position copied(walk, worker);  // where a producer is meanwhile
      for (int step = worker; walk.has(step); step += walk.workers) {
        const TilePlace at = walk.place(step, 0);
        const Range run = walk.run(step);
        auto& of_tile = times[{at.row, at.column}];
        of_tile.resize(static_cast<std::size_t>(walk.slices));
        for (int slice = run.first; slice < run.end; ++slice) {
          ++of_tile.at(slice);
          ASSERT_TRUE(copied.more(walk) && copied.step == step && copied.slice == slice) << c;
          ASSERT_EQ(copied.advance(walk, walk.workers), slice + 1 == run.end) << c;
        }
        if (walk.is_whole(step)) {
          ASSERT_TRUE(run.first == 0 && run.end == walk.slices) << c;
        } else {
          const SharedWalk::Piece piece = walk.piece(step);
          ASSERT_TRUE(stored.emplace(piece.slot, run).second) << c;
          tile_in[piece.slot] = piece.tile;
          ASSERT_TRUE(piece.slot >= 0 && piece.slot < walk.pieces()) << c;
        }
      }
      ASSERT_FALSE(copied.more(walk)) << c;
    }
    ASSERT_EQ(static_cast<std::int64_t>(times.size()), walk.steps()) << c;
    for (const auto& [tile, of_tile] : times) {
      for (int n : of_tile) ASSERT_EQ(n, 1) << c;
    }
    // All that was stored is added, in the order of the slices, and nothing else.
    std::size_t added = 0;
    for (int tile = 0; tile < walk.shared; ++tile) {
      const Range slots = walk.slots_of(tile);
      int slice = 0;
      for (int slot = slots.first; slot < slots.end; ++slot, ++added) {
        ASSERT_EQ(tile_in.count(slot), 1u) << c;
        ASSERT_EQ(tile_in[slot], tile) << c;
        ASSERT_EQ(stored[slot].first, slice) << c;
        slice = stored[slot].end;
      }
      ASSERT_EQ(slice, walk.slices) << c;
    }
    ASSERT_EQ(added, stored.size()) << c;
    // Shares are even and long enough.
    EXPECT_EQ(walk.slices, (c.k + 31) / 32) << c;
    EXPECT_EQ(walk.whole % walk.workers, 0) << c;
    EXPECT_LE(walk.workers, c.resident) << c;
    EXPECT_LT(walk.shared, c.resident) << c;
    EXPECT_GE(walk.saved(), 0) << c;
    if (walk.shared == 0) continue;
    EXPECT_EQ(walk.share * walk.sharers + walk.longer, walk.shared * walk.slices) << c;
    EXPECT_GE(walk.share, std::min(c.shortest, walk.slices)) << c;
  }
}

// The kernels of tensor cores walk whole tiles by it, so that one serves both schedules.
TEST(SharedWalk, SharesNothingUnlessAsked) {
  for (const SharedCase& c : shared_cases()) {
    const Walk plain(c.m, c.n, c.k, 128, 128, 32, c.cluster);
    const SharedWalk walk(plain);
    for (int worker = 0; worker < std::min(c.resident, plain.steps()); ++worker) {
      SharedWalk::Position at(walk, worker);
      int step = worker;
      for (; plain.has(step); step += c.resident) {
        ASSERT_TRUE(walk.has(step) && walk.is_whole(step)) << c;
        const Range run = walk.run(step);
        ASSERT_TRUE(run.first == 0 && run.end == plain.slices) << c;
        ASSERT_TRUE(walk.place(step, 0).row == plain.place(step, 0).row &&
                    walk.place(step, 0).column == plain.place(step, 0).column)
            << c;
        for (int slice = 0; slice < plain.slices; ++slice) {
          ASSERT_TRUE(at.more(walk) && at.step == step && at.slice == slice) << c;
          at.advance(walk, c.resident);
        }
      }
      ASSERT_FALSE(walk.has(step) || at.more(walk)) << c;
    }
  }
}

TEST(SharedWalk, SharesTheLastWaveOrAFewTilesAmongAllBlocks) {
  // 1024 tiles of 4096 squared fill 264 blocks three times; the other 232 are shared by all.
  const SharedWalk last(Walk(4096, 4096, 4096, 128, 128, 32, 1), 264, 2);
  EXPECT_TRUE(last.whole == 3 * 264 && last.shared == 232 && last.sharers == 264);
  EXPECT_EQ(last.share, 232 * 128 / 264);
  EXPECT_EQ(last.saved(), 128 - 113);
  const SharedWalk few(Walk(512, 512, 512, 128, 128, 32, 1), 264, 2);
  EXPECT_TRUE(few.whole == 0 && few.workers == 128 && few.share == 2);
  EXPECT_EQ(few.slots_of(3).end - few.slots_of(3).first, 8);
}

TEST(SharedWalk, LargestShapesDoNotOverflow) {
  const std::int64_t most = std::int64_t{1} << 20;
  const SharedWalk walk(Walk(most, most, most, 128, 128, 32, 1), 400, 2);
  EXPECT_EQ(walk.whole + walk.shared, walk.steps());
  const int last = walk.whole + walk.sharers - 1;
  EXPECT_EQ(walk.piece(last).run.end, walk.slices);
  EXPECT_EQ(walk.piece(last).tile, walk.shared - 1);
  EXPECT_EQ(walk.slots_of(walk.shared - 1).end, walk.pieces());
}

TEST(Fragments, EveryColumnHasOnePairInEachOfFourLanes) {
  std::map<int, std::set<int>> lanes;  // by column, which t
  for (int thread = 0; thread < 256; ++thread) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(lanes[pair_column(thread) + i].insert(thread % 4).second);
    }
  }
  EXPECT_EQ(lanes.size(), 128u);
  for (const auto& [column, t] : lanes) EXPECT_TRUE(t.size() == 4 && column >= 0 && column < 128);
}

TEST(Fragments, LieWhereTheBoxPutsThem) {
  for (int thread = 0; thread < 256; ++thread) {
    for (int row = 0; row < 32; ++row) {
      for (int i = 0; i < 2; ++i) {
        const int column = pair_column(thread) + i;
        // Box, row in it, permuted chunk, element.
        const int place =
            column / 32 * 4096 + row * 128 + ((column % 32 / 4) ^ (row & 7)) * 16 + column % 4 * 4;
        EXPECT_EQ(pair_place(thread, row, 32) + 4 * i, place);
      }
    }
  }
}

TEST(Fragments, HalfAWarpTouchesEveryBankOnce) {
  for (int first = 0; first < 256; first += 16) {
    for (int row = 0; row < 32; row += 4) {
      std::set<int> banks;
      for (int thread = first; thread < first + 16; ++thread) {
        const int word = pair_place(thread, row + thread % 4, 32) / 4;
        EXPECT_EQ(word % 2, 0);
        banks.insert(word % 32);
        banks.insert(word % 32 + 1);
      }
      EXPECT_EQ(banks.size(), 32u);
    }
  }
}

// ---- rounding and inputs

TEST(Rounding, IsNearestWithTiesToEvenInBf16AndAwayInTf32) {
  for (const auto& [x, rounded] : {std::pair{1.0f, 1.0f},
                                   {1.0f + 0x1p-9f, 1.0f},  // nearer to 1
                                   {1.0f + 0x1p-8f, 1.0f},  // a tie, 1 is even
                                   {1.0f + 3 * 0x1p-8f, 1.0f + 0x1p-6f},
                                   {-1.0f - 0x1p-8f - 0x1p-20f, -1.0f - 0x1p-7f}}) {
    EXPECT_EQ(from_bf16(round_to_bf16(x)), rounded) << x;
  }
  for (const auto& [x, rounded] : {std::pair{1.0f, 1.0f},
                                   {1.0f + 0x1p-12f, 1.0f},
                                   {1.0f + 0x1p-11f, 1.0f + 0x1p-10f},
                                   {-1.0f - 0x1p-11f, -1.0f - 0x1p-10f}}) {
    EXPECT_EQ(round_to_tf32(x), rounded) << x;
  }
}

/// The values of e4m3 from 0 upwards, by code, as the format is defined.
std::vector<double> sizes_of_e4m3() {
  std::vector<double> all;
  for (int code = 0; code < 0x7f; ++code) {
    const int exponent = code / 8, fraction = code % 8;
    all.push_back(exponent == 0 ? std::ldexp(fraction, -9)
                                : std::ldexp(8 + fraction, exponent - 7 - 3));
  }
  return all;
}

TEST(Rounding, E4m3IsNearestTiesToEvenAndEndsAtItsLargest) {
  const auto sizes = sizes_of_e4m3();
  EXPECT_EQ(sizes.back(), 448);
  for (int sign : {0, 0x80}) {
    const auto of = [&](double x) {
      return int{round_to_e4m3(static_cast<float>(sign != 0 ? -x : x))};
    };
    for (int code = 0; code < 0x7f; ++code) {
      const float value = from_e4m3(static_cast<std::uint8_t>(code | sign));
      EXPECT_EQ(value, sign != 0 ? -sizes[code] : sizes[code]) << code;
      EXPECT_EQ(std::signbit(value), sign != 0) << code;
      EXPECT_EQ(of(sizes[code]), code | sign);
      if (code + 1 == 0x7f) continue;
      const auto middle = static_cast<float>((sizes[code] + sizes[code + 1]) / 2);
      const int even = code % 2 == 0 ? code : code + 1;
      EXPECT_EQ(of(middle), even | sign) << code;
      EXPECT_EQ(of(std::nextafter(middle, 0.0f)), code | sign) << code;
      EXPECT_EQ(of(std::nextafter(middle, 1000.0f)), (code + 1) | sign) << code;
    }
    for (float x : {449.0f, 464.0f, 1e30f, std::numeric_limits<float>::max()}) {
      EXPECT_EQ(of(x), 0x7e | sign) << x;
    }
  }
  EXPECT_EQ(int{round_to_e4m3(std::numeric_limits<float>::denorm_min())}, 0);
}

TEST(Input, IsOfTheModeAndOfBothSigns) {
  int negative = 0;
  for (int i = 0; i < 1000; ++i) {
    const float x = input_element(5, 0, Mode::fp32, 10, i / 10, i % 10);
    negative += x < 0;
    EXPECT_LE(std::abs(x), 1.0f);
    EXPECT_EQ(input_element(5, 0, Mode::tf32, 10, i / 10, i % 10), round_to_tf32(x));
    EXPECT_EQ(input_element(5, 0, Mode::bf16, 10, i / 10, i % 10), from_bf16(round_to_bf16(x)));
    EXPECT_EQ(input_element(5, 0, Mode::e4m3, 10, i / 10, i % 10), from_e4m3(round_to_e4m3(x)));
    EXPECT_NE(x, input_element(5, 1, Mode::fp32, 10, i / 10, i % 10));
    EXPECT_NE(x, input_element(6, 0, Mode::fp32, 10, i / 10, i % 10));
  }
  EXPECT_TRUE(negative > 400 && negative < 600);
}

// ---- tf32.hpp, and the products of mode tf32x3

TEST(Split, LeavesTheLastBitAtMost) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> unit(-2, 2);
  const auto expect_parts = [](float x, double within) {
    const matrix::Parts p = matrix::split(x);
    EXPECT_EQ(bits_of(p.hi) & 0x1fffu, 0u) << x;
    EXPECT_EQ(bits_of(p.lo) & 0x1fffu, 0u) << x;
    EXPECT_LE(std::abs(double{p.hi} + p.lo - x), within) << x;
  };
  for (int i = 0; i < 20000; ++i) {
    const float x = std::ldexp(unit(random), i % 230 - 110);
    // Below 2^-126 there are multiples of 2^-136 alone.
    expect_parts(x, std::max(std::ldexp(std::abs(double{x}), -23), std::ldexp(1.0, -137)));
  }
  for (float x : {1 + 0x1p-11f, 1 - 0x1p-12f, 1 + 0x1p-12f + 0x1p-23f, 0x1.fff001p0f}) {
    expect_parts(x, 0x1p-23);
    expect_parts(-x, 0x1p-23);
  }
  expect_parts(0, 0);
}

TEST(Split, OfTheLargestIsFiniteAndOfAnInfinityNaN) {
  using Limits = std::numeric_limits<float>;
  for (float x : {Limits::max(), -Limits::max()}) {
    const matrix::Parts p = matrix::split(x);
    EXPECT_TRUE(std::isfinite(p.hi) && std::isfinite(p.lo));
    EXPECT_LE(std::abs(double{p.hi} + p.lo - x), std::ldexp(Limits::max(), -22));
  }
  for (float x : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                  from_bits(0x7fffffffu), from_bits(0x7f800001u)}) {
    EXPECT_FALSE(std::isfinite(matrix::split(x).hi));
    EXPECT_TRUE(std::isnan(matrix::split(x).lo));
  }
}

TEST(Split, PutsHiAndLoOfEightRowsIntoGroups) {
  std::set<std::int64_t> places;
  for (std::int64_t row = 0; row < 20; ++row) {
    EXPECT_EQ(matrix::row_of_lo(row), matrix::row_of_hi(row) + 8);
    EXPECT_EQ(matrix::row_of_hi(row) / 16, row / 8);
    places.insert(matrix::row_of_hi(row));
    places.insert(matrix::row_of_lo(row));
  }
  EXPECT_EQ(places.size(), 40u);
  EXPECT_LT(*places.rbegin(), matrix::rows_of_parts(20));
  EXPECT_EQ(matrix::rows_of_parts(20), 48);
  EXPECT_EQ(matrix::rows_of_parts(1), 16);
}

/// Errors of many sums, over the root of the sum of the squared terms.
struct Errors {
  double squares = 0, worst = 0;
  int count = 0;
  void add(float got, const std::vector<float>& a, const std::vector<float>& b) {
    double value = 0, of_squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double term = double{a[i]} * b[i];
      value += term;
      of_squares += term * term;
    }
    const double error = std::abs(got - value) / std::sqrt(of_squares);
    squares += error * error;
    worst = std::max(worst, error);
    ++count;
  }
  double rms() const { return std::sqrt(squares / count); }
};

float by_fma(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum = std::fma(a[i], b[i], sum);
  return sum;
}

/// A kind of sums: what becomes of x and y, uniform in [-1, 1), as term i of a and b.
struct SumsOf {
  const char* name;
  double times;     // how far the error may be above that of FMA, at 64 terms and more
  bool both_signs;  // as the app's inputs, for which the bound is
  void (*term)(std::vector<float>& a, std::vector<float>& b, std::size_t i, float x, float y);
};
std::ostream& operator<<(std::ostream& out, const SumsOf& s) { return out << s.name; }

template <class Term>
void make(std::mt19937_64& random, std::vector<float>& a, std::vector<float>& b, Term&& term) {
  std::uniform_real_distribution<float> unit(-1, 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float x = unit(random), y = unit(random);
    term(a, b, i, x, y);
  }
}

constexpr SumsOf kinds_of_sums[] = {
    {"Random", 1.5, true, [](auto& a, auto& b, auto i, float x, float y) { a[i] = x, b[i] = y; }},
    {"OfOneSign", 2, false,
     [](auto& a, auto& b, auto i, float x, float y) { a[i] = std::abs(x), b[i] = std::abs(y); }},
    // What is left of the sum is 2^-10 of a term: the three products round each of them anew.
    {"Cancelling", 4, true,
     [](auto& a, auto& b, auto i, float x, float y) {
       a[i] = i % 2 == 0 ? x : b[i - 1];
       b[i] = i % 2 == 0 ? y : -a[i - 1] * (1 + std::ldexp(y, -10));
     }},
    {"Growing", 4, true,
     [](auto& a, auto& b, auto i, float x, float y) {
       a[i] = std::ldexp(x, static_cast<int>(40 * i / a.size()) - 20), b[i] = y;
     }},
    {"Shrinking", 4, true,
     [](auto& a, auto& b, auto i, float x, float y) {
       a[i] = std::ldexp(x, 20 - static_cast<int>(40 * i / a.size())), b[i] = y;
     }},
    // The least of which lo loses nothing: 2^-113 and the last bit 2^-136.
    {"Tiny", 1.5, true, [](auto& a, auto& b, auto i, float x, float y) {
       a[i] = std::ldexp(x, -111), b[i] = std::ldexp(y, 60);
     }}};

class ThreeProducts : public testing::TestWithParam<SumsOf> {};

TEST_P(ThreeProducts, AreAboutAsAccurateAsFp32) {
  std::mt19937_64 random(5);
  for (std::int64_t k : {1, 32, 64, 300, 1111, 8192}) {
    std::vector<float> a(static_cast<std::size_t>(k)), b(a.size());
    Errors of_parts, of_fma, of_two;
    for (int i = 0; i < (k > 2000 ? 60 : 300); ++i) {
      make(random, a, b, GetParam().term);
      of_parts.add(three_products(a, b), a, b);
      of_fma.add(by_fma(a, b), a, b);
      of_two.add(three_products(a, b, Products::without_lo_hi), a, b);
    }
    if (k >= 64) {
      EXPECT_LT(of_parts.rms(), GetParam().times * of_fma.rms()) << k;
    }
    EXPECT_GT(of_two.rms(), 4 * of_parts.rms()) << k;
    if (GetParam().both_signs) {
      EXPECT_LT(of_parts.worst, error_bound(Mode::tf32x3, k)) << k;
      EXPECT_LT(of_parts.rms(), rms_bound(Mode::tf32x3, k)) << k;
      EXPECT_GT(of_two.rms(), rms_bound(Mode::tf32x3, k)) << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ThreeProducts, testing::ValuesIn(kinds_of_sums),
                         [](const auto& of) { return std::string(of.param.name); });

// Where lo has few bits or none: as accurate as tf32 at least.
TEST(ThreeProductsOfTiny, LoseBitsOfLo) {
  std::mt19937_64 random(5);
  std::vector<float> a(600), b(600);
  for (const auto& [exponent, error] : {std::pair{-120, 0x1p-16}, {-126, 0x1p-10}}) {
    Errors errors;
    for (int i = 0; i < 200; ++i) {
      make(random, a, b, [exponent = exponent](auto& x_of, auto& y_of, auto j, float x, float y) {
        x_of[j] = std::ldexp(x, exponent), y_of[j] = std::ldexp(y, 60);
      });
      errors.add(three_products(a, b), a, b);
    }
    EXPECT_LT(errors.rms(), error) << exponent;
    EXPECT_GT(errors.rms(), error / 16) << exponent;
  }
}

TEST(Reference, IsTheDefinition) {
  const Parameters p = size(2, 3, 2);
  const std::vector<Sums> c = reference(p, 9);
  const auto a = [](int i, int q) { return double{input_element(9, 0, Mode::fp32, 2, i, q)}; };
  const auto b = [](int q, int j) { return double{input_element(9, 1, Mode::fp32, 3, q, j)}; };
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_DOUBLE_EQ(c[i * 3 + j].value, a(i, 0) * b(0, j) + a(i, 1) * b(1, j));
      EXPECT_DOUBLE_EQ(c[i * 3 + j].scale, std::hypot(a(i, 0) * b(0, j), a(i, 1) * b(1, j)));
    }
  }
}

// ---- the comparison

/// C by its elements.
template <class Element>
std::vector<float> for_each_element(const Parameters& p, Element&& element) {
  std::vector<float> c;
  for (std::int64_t i = 0; i < p.integer("m"); ++i) {
    for (std::int64_t j = 0; j < p.integer("n"); ++j) {
      c.push_back(static_cast<float>(element(i, j)));
    }
  }
  return c;
}

class Comparison : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::int64_t m = 40, n = 50, k = 600;
  Parameters p = size(m, n, k, GetParam());
  std::vector<Sums> expected = reference(p, 5);
  std::vector<float> good = rounded();

  std::vector<float> rounded() const {
    std::vector<float> c;
    for (const Sums& s : expected) c.push_back(static_cast<float>(s.value));
    return c;
  }
  Verdict judge(const std::vector<float>& c) const { return compare(c.data(), n, p, expected); }
  float term(std::int64_t i, std::int64_t q, std::int64_t j) const {
    return input_element(5, 0, mode_of(p), k, i, q) * input_element(5, 1, mode_of(p), n, q, j);
  }
};

TEST_P(Comparison, TheRightResultAndANaiveSumPass) {
  EXPECT_TRUE(judge(good).passed);
  const Verdict v = judge(for_each_element(p, [this](std::int64_t i, std::int64_t j) {
    float sum = 0;
    for (std::int64_t q = 0; q < k; ++q) sum += term(i, q, j);
    return sum;
  }));
  EXPECT_TRUE(v.passed) << v.error << " > " << v.bound;
}

TEST_P(Comparison, OneLostTermOfSixHundredAndNanFail) {
  std::vector<float> c = good;
  ASSERT_GT(std::abs(term(7, 599, 9)), 0.01f);
  c[7 * n + 9] -= term(7, 599, 9);
  const Verdict v = judge(c);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.mismatches, 1);
  EXPECT_NE(v.first_mismatches.at(0).find("(7, 9)"), std::string::npos);
  c = good;
  c[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(judge(c).passed);
}

INSTANTIATE_TEST_SUITE_P(Modes, Comparison,
                         testing::Values("fp32", "tf32", "bf16", "e4m3", "tf32x3"),
                         [](const auto& mode) { return std::string(mode.param); });

/// C of A and B rounded to fewer bits than the mode's, summed without error.
std::vector<float> with_inputs_rounded(Mode lower, const Parameters& p) {
  const std::int64_t n = p.integer("n"), k = p.integer("k");
  const auto coarse = [&](int which, std::int64_t columns, std::int64_t i, std::int64_t j) {
    const float x = input_element(5, which, mode_of(p), columns, i, j);
    if (lower == Mode::e4m3) return double{from_e4m3(round_to_e4m3(x))};
    return double{lower == Mode::bf16 ? from_bf16(round_to_bf16(x)) : round_to_tf32(x)};
  };
  return for_each_element(p, [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t q = 0; q < k; ++q) sum += coarse(0, k, i, q) * coarse(1, n, q, j);
    return sum;
  });
}

TEST(Verdicts, AModeComputedAsALowerOneFails) {
  for (const auto& [mode, lower] : {std::pair{"fp32", Mode::tf32},
                                    {"tf32", Mode::bf16},
                                    {"bf16", Mode::e4m3},
                                    {"tf32x3", Mode::tf32}}) {
    for (std::int64_t k : {1, 8, 600, 16384}) {
      const Parameters p = size(12, 16, k, mode);
      const auto expected = reference(p, 5);
      const auto c = with_inputs_rounded(lower, p);
      EXPECT_FALSE(compare(c.data(), 16, p, expected).passed) << mode << " " << k;
    }
  }
}

// Each element within its bound, and all together not.
TEST(Verdicts, ASmallErrorOfEveryElementFailsByTheRootMeanSquare) {
  const Parameters p = size(40, 50, 600);
  const auto expected = reference(p, 5);
  for (const auto& [share, passes] : {std::pair{0.5, true}, {1.5, false}}) {
    std::vector<float> c;
    for (const Sums& s : expected) {
      c.push_back(static_cast<float>(s.value + share * rms_bound(Mode::fp32, 600) * s.scale));
    }
    const Verdict v = compare(c.data(), 50, p, expected);
    EXPECT_EQ(v.passed, passes) << v.error;
    EXPECT_EQ(v.mismatches, 0);
    EXPECT_EQ(v.first_mismatches.empty(), passes);
    if (!passes) {
      EXPECT_EQ(v.norm, rms_norm);
    }
  }
}

// Eight products with a deviation of 1/3 each, of k: a lost slice of eight terms is
// sqrt(8) / sqrt(k) of the scale. Tensor cores' own errors grow as k, and beyond 32768 terms they
// may hide one. In e4m3 their sums have 14 bits: a lost slice of eight shows up to 2048 terms. Up
// to 8192 an instruction of 32 terms shows, and a slice of 128 by a factor of two.
TEST(Bound, IsBelowALostSlice) {
  const struct {
    Mode mode;
    std::int64_t from, to;
    double terms, factor;
  } cases[] = {{Mode::fp32, 8, 8192, 8, 50},   {Mode::fp32, 16384, 1 << 20, 8, 3},
               {Mode::tf32, 8, 8192, 8, 50},   {Mode::tf32, 16384, 1 << 15, 8, 3},
               {Mode::bf16, 8, 8192, 8, 50},   {Mode::bf16, 16384, 1 << 15, 8, 3},
               {Mode::e4m3, 32, 2048, 8, 1},   {Mode::e4m3, 32, 8192, 32, 1},
               {Mode::e4m3, 128, 8192, 128, 2}};
  for (const auto& c : cases) {
    for (std::int64_t k = c.from; k <= c.to; k *= 2) {
      EXPECT_LT(error_bound(c.mode, k), std::sqrt(c.terms / static_cast<double>(k)) / c.factor)
          << name_of(c.mode) << " " << k;
    }
  }
}

// What is lost of one element may happen to be small: a sum of `terms` products, over the scale,
// lies within the bound with this probability (README.md has that of tf32).
TEST(Bound, LetsSomeLossesOfOneElementPass) {
  struct Loss {
    Mode mode;
    std::int64_t k;
    int terms;
    double passes;
  };
  constexpr int elements = 60000;
  for (const Loss& loss :
       {Loss{Mode::tf32, 8192, 8, 1 / 110.0}, Loss{Mode::e4m3, 2048, 8, 1 / 3.0},
        Loss{Mode::e4m3, 8192, 32, 2 / 3.0}, Loss{Mode::e4m3, 8192, 128, 1 / 3.0}}) {
    const double scale = std::sqrt(static_cast<double>(loss.k)) / 3;
    int within = 0;
    for (int element = 0; element < elements; ++element) {
      double lost = 0;
      for (int q = 0; q < loss.terms; ++q) {
        lost += static_cast<double>(input_element(3, 0, loss.mode, loss.k, element, q)) *
                input_element(3, 1, loss.mode, elements, q, element);
      }
      within += std::abs(lost) / scale <= error_bound(loss.mode, loss.k);
    }
    EXPECT_NEAR(static_cast<double>(within) / elements, loss.passes, loss.passes / 8)
        << name_of(loss.mode) << " " << loss.k << " " << loss.terms;
  }
}

/// A sum as Hopper's tensor cores make it of e4m3: 32 terms and the sum so far, each cut off 13
/// bits below the leading one of the largest.
double sum_in_14_bits(const std::vector<double>& terms) {
  double sum = 0;
  for (std::size_t first = 0; first < terms.size(); first += 32) {
    const std::size_t end = std::min(first + 32, terms.size());
    double largest = std::abs(sum);
    for (std::size_t i = first; i < end; ++i) largest = std::max(largest, std::abs(terms[i]));
    if (largest == 0) continue;
    const double unit = std::ldexp(1.0, std::ilogb(largest) - 13);
    sum = std::trunc(sum / unit) * unit;
    for (std::size_t i = first; i < end; ++i) sum += std::trunc(terms[i] / unit) * unit;
  }
  return sum;
}

TEST(Bound, OfE4m3AcceptsSumsOf14Bits) {
  for (std::int64_t k : {1, 32, 300, 2048, 8192}) {
    const Parameters p = size(20, 20, k, "e4m3");
    const auto expected = reference(p, 5);
    const auto c = for_each_element(p, [k](std::int64_t i, std::int64_t j) {
      std::vector<double> terms;
      for (std::int64_t q = 0; q < k; ++q) {
        terms.push_back(double{input_element(5, 0, Mode::e4m3, k, i, q)} *
                        input_element(5, 1, Mode::e4m3, 20, q, j));
      }
      return sum_in_14_bits(terms);
    });
    const Verdict v = compare(c.data(), 20, p, expected);
    EXPECT_TRUE(v.passed) << k << ": " << v.norm << " " << v.error << " > " << v.bound;
    // And is not so wide that another factor of ten would go unseen.
    if (k >= 2048) {
      EXPECT_GT(v.error, v.bound / 10) << k;
    }
  }
}

// ---- what the harness asks

// So that no shape that the parameters allow fails where a tensor map is made.
TEST(App, EveryShapeHasATensorMap) {
  const std::int64_t most = std::int64_t{1} << 20;
  for (Mode mode : {Mode::fp32, Mode::tf32, Mode::bf16, Mode::e4m3, Mode::tf32x3}) {
    const std::int64_t rows = mode == Mode::tf32x3 ? matrix::rows_of_parts(most) : most;
    for (std::int64_t columns : {std::int64_t{1}, std::int64_t{1001}, most}) {
      const int size = std::max(element_bytes(mode), mode == Mode::e4m3 ? 2 : 1);
      const std::int64_t pitch = pitch_bytes(mode, columns);
      EXPECT_GE(pitch, columns * element_bytes(mode));
      EXPECT_EQ(objection_to({0, rows, pitch / size, pitch / size, size, 256, 128 / size,
                              Swizzle::bytes128}),
                std::nullopt)
          << name_of(mode) << " " << columns;
    }
  }
}

}  // namespace
}  // namespace amasia::gemm
