// nw on the CPU: Rodinia's generator, the recurrence, the references against each other, the way
// back, and the index arithmetic of both schedules.
#include "apps/nw/nw.hpp"
#include "apps/nw/cpu_reference.hpp"
#include "apps/nw/geometry.hpp"
#include "apps/nw/kernel.cuh"
#include "apps/nw/scores.hpp"
#include "harness/parameters.hpp"
#include "harness/registry.hpp"
#include "tests/test.hpp"

namespace amasia::nw {
namespace {

Sequences letters_of(const std::string& rows, const std::string& cols) {
  const auto encode = [](const std::string& text) {
    std::vector<signed char> made;
    for (char c : text) made.push_back(static_cast<signed char>(alphabet.find(c)));
    return made;
  };
  return {encode(rows), encode(cols)};
}

std::vector<int> all_scores(const Sequences& s, int penalty) {
  std::vector<int> all, row = border_row(static_cast<std::int64_t>(s.cols.size()), penalty);
  for (std::size_t r = 0; r < s.rows.size(); ++r) {
    advance_row(s, static_cast<std::int64_t>(r), penalty, row);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

class HostScores : public ScoreSource {
 public:
  HostScores(Sequences s, int penalty)
      : letters_(std::move(s)), score(all_scores(letters_, penalty)) {}
  std::int64_t rows() const override { return static_cast<std::int64_t>(letters_.rows.size()); }
  std::int64_t cols() const override { return static_cast<std::int64_t>(letters_.cols.size()); }
  std::vector<int> score_rows(std::int64_t first, std::int64_t count) const override {
    return {score.begin() + first * cols(), score.begin() + (first + count) * cols()};
  }
  const Sequences& sequences() const override { return letters_; }

 private:
  Sequences letters_;

 public:
  std::vector<int> score;
};

TEST(Blosum62, IsSymmetricAndBounded) {
  for (int i = 0; i < letters; ++i) {
    for (int j = 0; j < letters; ++j) {
      EXPECT_EQ(blosum62.score[i][j], blosum62.score[j][i]) << i << " " << j;
      EXPECT_LE(blosum62.score[i][j], best_match);
      EXPECT_GE(blosum62.score[i][j], -worst_mismatch);
    }
  }
  EXPECT_EQ(blosum62.score[alphabet.find('W')][alphabet.find('W')], 11);
  EXPECT_EQ(blosum62.score[alphabet.find('N')][alphabet.find('D')], 1);
  EXPECT_EQ(blosum62.score[alphabet.find('E')][alphabet.find('Z')], 4);
}

// What glibc 2.36 returns.
TEST(GlibcRandom, IsGlibcs) {
  GlibcRandom one(1);
  EXPECT_EQ(one.next(), 1804289383);
  EXPECT_EQ(one.next(), 846930886);
  EXPECT_EQ(one.next(), 1681692777);
  GlibcRandom seven(7);
  for (const int expected : {1045618677, 1863967299, 1272579899, 461085871, 21961325, 1105564443})
    EXPECT_EQ(seven.next(), expected);
  GlibcRandom later(7);
  int last = 0;
  for (int i = 0; i < 1000; ++i) last = later.next();
  EXPECT_EQ(last, 1850767143);
}

TEST(RodiniaInput, DrawsRowsThenColumns) {
  GlibcRandom random(7);
  const Sequences s = rodinia_sequences(3, 2);
  for (const int letter : {s.rows[0], s.rows[1], s.rows[2], s.cols[0], s.cols[1]}) {
    EXPECT_EQ(letter, random.next() % 10 + 1);
  }
}

// By hand: A against A 4, everything else a gap of 10.
TEST(Reference, MatchesAnExampleByHand) {
  EXPECT_EQ(all_scores(letters_of("A", "A"), 10), (std::vector<int>{4}));
  EXPECT_EQ(all_scores(letters_of("AR", "AR"), 10), (std::vector<int>{4, -6, -6, 9}));
  EXPECT_EQ(all_scores(letters_of("A", "WA"), 1), (std::vector<int>{-2, 3}));
}

TEST(Traceback, RefusesScoresThatNothingExplains) {
  HostScores host(letters_of("ARND", "ARNDC"), 10);
  host.score.back() += 1;
  EXPECT_THROW(trace_back(host, 10), std::runtime_error);
}

TEST(Traceback, RefusesWhatIsNoPath) {
  const Sequences s = letters_of("AR", "AR");
  EXPECT_THROW(score_of({}, s, 10), std::runtime_error);
  EXPECT_THROW(score_of({{{2, 2}, {0, 0}}, 0}, s, 10), std::runtime_error);
  EXPECT_THROW(score_of({{{2, 2}, {1, 1}}, 0}, s, 10), std::runtime_error);
  EXPECT_EQ(score_of({{{2, 2}, {1, 1}, {0, 0}}, 0}, s, 10), 9);
  EXPECT_EQ(score_of({{{2, 2}, {1, 2}, {1, 1}, {0, 1}, {0, 0}}, 0}, s, 10), -40);
}

TEST(Compare, CountsAndNamesMismatches) {
  Verdict v;
  const std::vector<int> expected{1, 2, 3};
  const int got[] = {1, 5, 3};
  compare_row(expected.data(), expected, 0, v);
  EXPECT_TRUE(v.passed);
  compare_row(got, expected, 7, v);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.mismatches, 1);
  EXPECT_EQ(v.checked, 6);
  EXPECT_EQ(v.first_mismatches.at(0), "(row 7, column 1): got 5, expected 2");
}

// --- geometry.hpp

template <class D>
void expect_every_tile_once(std::int64_t rows, std::int64_t cols) {
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t d = 0; d < D::launches(rows, cols); ++d) {
    const std::int64_t count = D::count(d, rows, cols);
    EXPECT_GT(count, 0);
    for (std::int64_t b = 0; b < count; ++b) {
      const std::int64_t x = D::first(d, rows) + b, y = d - x;
      EXPECT_TRUE(x >= 0 && x < D::across(cols) && y >= 0 && y < D::down(rows));
      EXPECT_TRUE(seen.emplace(y, x).second);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), D::across(cols) * D::down(rows));
}

constexpr std::pair<int, int> grids[] = {{1, 1},    {16, 16},   {17, 160},
                                         {160, 17}, {100, 100}, {33, 500}};

TEST(Diagonals, TakeEveryTileOnce) {
  for (const auto& [rows, cols] : grids) {
    expect_every_tile_once<Diagonals<Iso>>(rows, cols);
    expect_every_tile_once<Diagonals<IsoPairs>>(rows, cols);
  }
  EXPECT_EQ(Diagonals<Iso>::launches(16384, 16384), 2047);
  EXPECT_EQ(Diagonals<IsoPairs>::launches(16384, 16384), 1535);
}

// dsm at iso: a cluster is two neighbours of a launch. Where the second one has a tile, the first
// one has the tile below the one between them, whole, and hands its right edge on.
TEST(Diagonals, NeighboursShareTheTileBetweenThem) {
  using D = Diagonals<Iso>;
  for (const auto& [rows, cols] : grids) {
    for (std::int64_t d = 0; d < D::launches(rows, cols); ++d) {
      const std::int64_t count = D::count(d, rows, cols);
      for (std::int64_t b = 0; b < round_up(count, 2); ++b) {
        const std::int64_t x = D::first(d, rows) + b, y = d - x;
        const bool exists = y >= 0 && x < D::across(cols);
        EXPECT_EQ(exists, b < count);
        if (b % 2 == 1 && exists) {
          const std::int64_t upper_y = y + 1, left_x = x - 1;  // the first block's tile
          EXPECT_GE(left_x, 0);
          EXPECT_LT(upper_y, D::down(rows));
          EXPECT_LT((left_x + 1) * D::tile, cols);  // what the kernel asks before it hands on
        }
      }
    }
  }
}

template <class B>
class BandsOf : public testing::Test {};
using EveryBands = testing::Types<Bands<Bands128x32, 1, 4>, Bands<Bands128x32, 1, 12>,
                                  Bands<Bands128x32, 2, 4>, Bands<Bands128x32, 2, 6>>;
TYPED_TEST_SUITE(BandsOf, EveryBands);

// What the walk adds to a lane's address from step to step leads to its next chunk.
TYPED_TEST(BandsOf, AddressesFollowTheChunks) {
  using B = TypeParam;
  const int row_bytes = 4 * B::tile_columns, steps = B::hand_steps;
  for (int place = 0; place < B::group_lanes; ++place) {
    // Places of stages in the ring, from stage -1 on
    const auto stage = [](int k) { return (k + B::stages) % B::stages * B::stage_bytes; };
    const auto jump_to = [&](int k) { return stage(k) - stage(k - 1) - row_bytes; };
    const auto enters = [&](int s) { return s == place % steps; };
    const auto in_hand = [&](int q) { return q == place / steps; };
    int at = stage(B::entered(0, place) ? 0 : -1) + B::chunk_offset(0, place);
    for (int k = 0; k < 3 * B::stages; ++k) {
      for (int q = 0; q < B::hands; ++q) {
        for (int s = 0; s < steps; ++s) {
          const int step = q * steps + s, in = B::entered(step, place) ? k : k - 1;
          EXPECT_EQ(at + 16 * s, stage(in) + 16 * B::chunk(step, place)) << k << " " << step;
          const int t = (s + 1) % steps;
          const int then = t > 0               ? jump_to(k) * in_hand(q)
                           : q == B::hands - 1 ? jump_to(k + 1) * in_hand(0)
                                               : jump_to(k) * in_hand(q + 1);
          at += then * enters(t) + (t == 0 ? 16 * steps : 0);
        }
      }
    }
  }
}

// Producer threads: every chunk of a stage that the grid has is moved once.
template <class B, int THREADS>
void expect_every_chunk_once() {
  using Of = ChunksOfThread<B, THREADS>;
  const int cols = 3 * B::tile_columns - 37;
  const unsigned pitch = static_cast<unsigned>(padded_pitch<int>(cols));
  for (int n = 0; n < B::filled(cols); ++n) {
    std::set<std::pair<int, int>> seen;
    for (int thread = 0; thread < THREADS; ++thread) {
      for (int i = 0; i < Of::count; ++i) {
        const int r = Of::row(thread, i), c = Of::grid_column(n, r, Of::column(thread));
        if (r >= B::rows || static_cast<unsigned>(c) >= pitch) continue;
        EXPECT_TRUE(seen.emplace(r, c).second);
        EXPECT_EQ(c / B::tile_columns, B::tile_of(n, r / B::group_rows));
      }
    }
    std::size_t expected = 0;
    for (int r = 0; r < B::rows; ++r) {
      const int tile = B::tile_of(n, r / B::group_rows);
      for (int c = 0; c < B::tile_columns; c += 4) {
        const int column = tile * B::tile_columns + c;
        expected += column >= 0 && column < static_cast<int>(pitch) ? 1 : 0;
      }
    }
    EXPECT_EQ(seen.size(), expected);
  }
}

TYPED_TEST(BandsOf, ProducersMoveEveryChunkOnce) {
  expect_every_chunk_once<TypeParam, 96>();
  expect_every_chunk_once<TypeParam, 192>();
}

// The walk of walk.cuh, lane by lane, with the producers of tma_stages.cuh and the words of
// link.cuh, band after band: every score is the reference's, whatever the ring and however ragged
// the grid.
template <class B>
struct EmulatedBands {
  static constexpr int producers = 2, lane_rows = B::lane_rows, steps = B::hand_steps;
  const HostScores& host;
  const int penalty;
  const std::int64_t rows = host.rows(), cols = host.cols(), pitch = padded_pitch<int>(cols);
  const int stages = B::periods(cols);
  std::vector<int> got = std::vector<int>(static_cast<std::size_t>(rows * cols), 12345);
  std::vector<int> memory = std::vector<int>(B::stages * B::stage_elements, 54321);
  std::vector<int> above = std::vector<int>(static_cast<std::size_t>(pitch));  // row above the band
  std::vector<int> below = {};                                                 // its own last row
  int first_slot = 0;  // of this walk: the ring goes on from band to band
  struct Producer {
    int stored, loaded;
  } producer[producers] = {};

  int* stage(int n) {
    return memory.data() + (n + first_slot + B::stages) % B::stages * B::stage_elements;
  }
  template <class F>
  void each_cell(int band, int n, int parity, F f) {
    for (int r = 0; r < B::rows; ++r) {
      const int group = r / B::group_rows, tile = B::tile_of(n, group);
      if (group % producers != parity || tile < 0 || tile >= B::tiles(cols)) continue;
      for (int c = 0; c < B::tile_columns; ++c) {
        f(stage(n)[r * B::tile_columns + c], std::int64_t{band} * B::rows + r,
          std::int64_t{tile} * B::tile_columns + c);
      }
    }
  }
  void fill(int band, int m, int places) {
    for (Producer& it = producer[m]; it.loaded < stages && it.loaded < places; ++it.loaded) {
      each_cell(band, it.loaded, m, [&](int& at, std::int64_t r, std::int64_t c) {
        at = r < rows && c < cols ? host.sequences().ref(r, c) : 0;
      });
    }
  }
  // What the producers do until they have to wait for the walker, who has left `left` stages
  void produce(int band, int left) {
    for (int m = 0; m < producers; ++m) {
      for (Producer& it = producer[m]; it.stored < stages && it.stored < left; ++it.stored) {
        each_cell(band, it.stored, m, [&](int at, std::int64_t r, std::int64_t c) {
          if (r < rows && c < cols) got[r * cols + c] = at;
        });
        fill(band, m, it.stored + B::stages);
      }
    }
  }
  void walk(int band) {
    struct Lane {
      Edge<lane_rows> edge{};
      int north[4], ref[lane_rows][4];
    };
    std::vector<Lane> lanes(32);
    for (int m = 0; m < producers; ++m) {
      producer[m] = {};
      fill(band, m, B::stages - 1);
    }
    below.assign(static_cast<std::size_t>(pitch), 99);
    int row[B::hand_columns], taken = 0;
    const auto take = [&] {
      for (int c = 0; c < B::hand_columns; ++c, ++taken)
        row[c] = taken < pitch ? above[taken] : 777;
    };
    const auto chunk = [&](int k, int step, int l) {
      const int place = l % B::group_lanes;
      return stage(B::entered(step, place) ? k : k - 1) + l * lane_rows * B::tile_columns +
             4 * B::chunk(step, place);
    };
    const auto fetch = [&](int k, int step, int l) {
      for (int r = 0; r < lane_rows; ++r) {
        for (int c = 0; c < 4; ++c) lanes[l].ref[r][c] = chunk(k, step, l)[r * B::tile_columns + c];
      }
    };
    take();
    for (int c = 0; c < 4; ++c) lanes[0].north[c] = row[c];
    for (int l = 0; l < 32; ++l) fetch(0, 0, l);
    for (int k = 0; k < stages; ++k) {
      for (int step = 0; step < B::period; ++step) {
        const int q = step / steps, s = step % steps, t = (s + 1) % steps;
        if (step == B::period - 1) {
          produce(band, k);  // stage k - 1 is the last that the walker has left
          for (const Producer& it : producer) ASSERT_GT(it.loaded, std::min(k + 1, stages - 1));
        }
        if (s == steps - 1) take();
        for (int l = 0; l < 32; ++l) {
          Lane& lane = lanes[l];
          const std::int64_t first = std::int64_t{band} * B::rows + l * lane_rows;
          if (k == l / B::group_lanes && step == l % B::group_lanes) {
            for (int r = 0; r < lane_rows; ++r) lane.edge.west[r] = border(first + r + 1, penalty);
            lane.edge.corner = border(first, penalty);
          }
          for (int c = 0; c < 4; ++c) advance_column(lane.edge, c, lane.north, lane.ref, penalty);
          lane.edge.corner = lane.north[3];
          for (int r = 0; r < lane_rows; ++r) {
            for (int c = 0; c < 4; ++c) chunk(k, step, l)[r * B::tile_columns + c] = lane.ref[r][c];
          }
        }
        if (s == steps - 2) {  // pick and give
          for (int c = 0; c < B::hand_columns; ++c) {
            const int column = B::finished(k, q) + c;
            if (column < 0 || column >= pitch) continue;
            ASSERT_EQ(below[column], 99);  // once
            below[column] = stage(k - 1)[(B::rows - 1) * B::tile_columns + q * B::hand_columns + c];
          }
        }
        for (int l = 31; l >= 0; --l) {
          for (int c = 0; c < 4; ++c)
            lanes[l].north[c] = l == 0 ? row[4 * t + c] : lanes[l - 1].ref[lane_rows - 1][c];
        }
        const bool next_period = step == B::period - 1;
        for (int l = 0; l < 32; ++l) {
          fetch(next_period ? k + 1 : k, next_period ? 0 : step + 1, l);
        }
      }
    }
    produce(band, stages);
    for (const Producer& it : producer) ASSERT_EQ(it.stored, stages);
    first_slot = (first_slot + stages) % B::stages;
    above = below;
  }
  void run() {
    for (std::int64_t c = 0; c < pitch; ++c) above[c] = border(c + 1, penalty);
    for (int band = 0; band < B::bands(rows); ++band) walk(band);
  }
};

TYPED_TEST(BandsOf, WalkGivesTheReferencesScores) {
  constexpr std::pair<int, int> ragged[] = {{1, 1},    {4, 4},    {63, 31},   {65, 33},  {127, 31},
                                            {128, 32}, {129, 33}, {300, 257}, {5, 1000}, {1000, 5}};
  for (const auto& [rows, cols] : ragged) {
    const Parameters p(parameter_specs(),
                       {{"rows", std::to_string(rows)}, {"cols", std::to_string(cols)}});
    const HostScores host(sequences_of(p, 5), 10);
    EmulatedBands<TypeParam> bands{host, 10};
    bands.run();
    EXPECT_EQ(bands.got, host.score) << rows << " x " << cols;
  }
}

// What the walk of column_walk.cuh adds to a lane's address from step to step leads to its next
// row, round and round the ring.
TEST(ColumnBandsOf, AddressesFollowTheRows) {
  using B = ColumnBands<7>;
  const int ring = B::stages * B::stage_bytes;
  for (int lane = 0; lane < B::stage_rows; ++lane) {
    const auto jump = [&](int k) { return k % B::stages == 0 ? -ring : 0; };
    int row_at = lane == 0 ? 0 : ring - lane * B::row_bytes;
    int next_row = lane == 1 ? row_at - ring : row_at;
    for (int k = 0; k < 3 * B::stages; ++k) {
      for (int s = 0; s < B::stage_rows; ++s) {
        const int row = k * B::stage_rows + s - lane;
        const int in_ring = (row + B::stages * B::stage_rows) % (B::stages * B::stage_rows);
        EXPECT_EQ(row_at + B::row_bytes * s, in_ring * B::row_bytes) << lane << " " << row;
        const bool enters = (s + 2) % B::stage_rows == lane;
        const int later = next_row + enters * jump(s + 2 < B::stage_rows ? k : k + 1);
        row_at = next_row;
        next_row = later;
      }
      row_at += B::row_bytes * B::stage_rows;
      next_row += B::row_bytes * B::stage_rows;
    }
  }
}

TEST(ColumnBandsOf, CoverTheGridAndItsWords) {
  using B = ColumnBands<7>;
  for (const auto& [rows, cols] : grids) {
    EXPECT_GE(B::bands(cols) * B::columns, cols);
    EXPECT_LT((B::bands(cols) - 1) * B::columns, cols);
    EXPECT_EQ(B::pitch(rows), std::int64_t{B::filled(rows)} * B::stage_rows);
    EXPECT_GE(B::pitch(rows), rows);
    EXPECT_GE(handover_words(rows, cols, padded_pitch<int>(cols)), B::bands(cols) * B::pitch(rows));
  }
}

TEST(NwFiles, FeedTheProblem) {
  const TemporaryFolder folder;
  const std::string path = folder / "sequence.txt";
  write_text(path, "WYV");
  const Parameters p(parameter_specs(), {{"rows", "3"}, {"cols", "5"}, {"rows_file", path}});
  const Sequences s = sequences_of(p, 1);
  EXPECT_EQ(s.rows, (std::vector<signed char>{17, 18, 19}));
  EXPECT_EQ(s.cols.size(), 5u);
  EXPECT_EQ(s.ref(0, 0), blosum62.score[17][s.cols[0]]);
}

TEST(ScoreFile, HoldsTheMatrixWithItsBorders) {
  const TemporaryFolder folder;
  const std::string path = folder / "scores.txt";
  write_scores(path, HostScores(letters_of("AR", "ARD"), 10), 10);
  EXPECT_EQ(read_text(path), "0 -10 -20 -30\n-10 4 -6 -16\n-20 -6 9 -1\n");
}

TEST(ScoreFile, IsRefusedBeforeAnythingRuns) {
  const TemporaryFolder folder;
  const auto ask = [](const std::map<std::string, std::string>& given) {
    return find_app("nw")->device_bytes(Parameters(parameter_specs(), given));
  };
  EXPECT_THROW(ask({{"out_file", folder / "no/scores.txt"}}), UsageError);
  EXPECT_THROW(ask({{"out_file", folder / ""}}), UsageError);
  EXPECT_THROW(ask({{"traceback", "yes"}, {"path", folder / "no/path.txt"}}), UsageError);
  EXPECT_THROW(ask({{"rows", "50001"}, {"cols", "50003"}, {"out_file", folder / "scores.txt"}}),
               UsageError);
  EXPECT_NO_THROW(ask({{"out_file", folder / "scores.txt"}}));
}

}  // namespace
}  // namespace amasia::nw
