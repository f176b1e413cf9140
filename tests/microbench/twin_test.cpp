// The twin: the traits of a kernel, the shape of its tiles, and how many blocks an SM has.
#include "harness/parameters.hpp"
#include "harness/text/json_file.hpp"
#include "microbench/twin/geometry.hpp"
#include "microbench/twin/traits.hpp"
#include "tests/test.hpp"

namespace amasia::twin {
namespace {

/// Why no kernel has these traits; "" where one can have them.
std::string complaint(const Coordinates& asked) {
  try {
    traits_from(asked);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Traits, AreReadBackAsTheyAreWritten) {
  const Coordinates at = coordinates_of({.rows = 32,
                                         .layout = static_cast<std::int64_t>(Layout::box),
                                         .halo = 4,
                                         .out_bytes = 1024,
                                         .reads = 9,
                                         .chain = 1});
  EXPECT_EQ(value_of(at, "layout"), "box");
  EXPECT_EQ(value_of(at, "chain"), "dependent");
  EXPECT_EQ(coordinates_of(traits_from(at)), at);
}

TEST(Traits, ThatAreNotNamedFollowFromTheTile) {
  EXPECT_EQ(traits_from({{"rows", "64"}}).out_bytes, 64 * 512);
  EXPECT_EQ(traits_from({{"rows", "64"}, {"out_bytes", "16"}}).out_bytes, 16);
  EXPECT_EQ(traits_from({{"layout", "box"}}).reads, 1);
  EXPECT_EQ(traits_from({{"layout", "box"}, {"halo", "2"}}).reads, 5);
  EXPECT_EQ(traits_from({{"layout", "box"}, {"halo", "2"}, {"reads", "3"}}).reads, 3);
}

TEST(Traits, AreRefusedInOneLineThatNamesThem) {
  EXPECT_TRUE(contains(complaint({{"size", "3"}}), "no trait 'size'; known: rows, row_bytes"));
  for (const char* bad : {"", "0", "257", "3.5", "12x", "-1", "99999999999999999999"}) {
    const std::string why = complaint({{"rows", bad}});
    EXPECT_TRUE(contains(why, "rows (rows of a tile) is an integer from 1 to 256")) << bad;
    EXPECT_TRUE(is_one_line(why));
  }
  EXPECT_EQ(complaint({{"layout", "tree"}}), "trait layout is one of run, box, gather, not 'tree'");
  EXPECT_EQ(complaint({{"chain", ""}}), "trait chain is one of independent, dependent, not ''");
}

// The Python package, which judges traits without this program, must pass the same cases.
TEST(Traits, ThatContradictEachOtherAreRefusedWithTheReason) {
  const auto cases = read_json_file(AMASIA_SOURCE_DIR "/tests/plots/contradicting_traits.json");
  ASSERT_GT(cases.size(), 10u);
  for (const auto& one : cases) {
    Coordinates asked;
    for (const auto& [name, value] : one.at("traits").items()) {
      asked.emplace_back(name, value.get<std::string>());
    }
    const std::string why = one.at("why").get<std::string>();
    EXPECT_EQ(complaint(asked), why.empty() ? "" : "no kernel has these traits: " + why)
        << one.dump();
  }
}

/// Kinds of tile that differ in their arithmetic, over little memory.
std::vector<Traits> kinds() {
  std::vector<Traits> all;
  for (const char* text :
       {"rows=4,row_bytes=48,threads=32", "rows=8,row_bytes=64,common=3,threads=32",
        "rows=8,row_bytes=64,layout=box,threads=32",
        "rows=8,row_bytes=64,layout=box,halo=1,threads=32",
        "rows=8,row_bytes=64,layout=box,halo=5,threads=32",
        "rows=8,row_bytes=64,layout=box,common=4", "rows=8,row_bytes=64,layout=gather,common=2"}) {
    const auto named = parse_size(text);
    Traits t = traits_from({named.begin(), named.end()});
    t.mebibytes = 1;
    t.reads = 13;
    all.push_back(t);
  }
  return all;
}

std::vector<int> numbers_of(const Shape& s) {
  std::vector<int> numbers(static_cast<std::size_t>(rows_in_memory(s)));
  std::iota(numbers.rbegin(), numbers.rend(), 0);  // backwards, so that none is its own number
  return numbers;
}

TEST(Divisor, DividesWhatItIsFor) {
  for (unsigned d : {1U, 2U, 3U, 7U, 33U, 48U, 1000U, 4095U, 4096U, 32767U}) {
    const Divisor by(d);
    for (unsigned n = 0; n < 32768; ++n) ASSERT_EQ(by.quotient(n), n / d) << n << " / " << d;
  }
}

TEST(TileWalk, TakesEveryTileOnceAndNeighboursEquallyOften) {
  for (const std::int64_t blocks : {4, 8, 20, 132, 400}) {
    for (const std::int64_t tiles : {4, 8, 40, 396, 400}) {
      const std::int64_t begin = 16;
      std::set<std::int64_t> taken;
      for (std::int64_t b = 0; b < blocks; ++b) {
        const TileWalk walk = walk_of(b, blocks, begin, begin + tiles);
        EXPECT_EQ(walk.count, walk_of(b / 4 * 4, blocks, begin, begin + tiles).count);
        for (int n = 0; n < walk.count; ++n) {
          EXPECT_TRUE(taken.insert(walk.tile(n)).second);
          EXPECT_EQ(walk.tile(n) % neighbours, b % neighbours);
        }
      }
      ASSERT_EQ(taken.size(), static_cast<std::size_t>(tiles)) << blocks << " blocks";
      EXPECT_EQ(*taken.begin(), begin);
      EXPECT_EQ(*taken.rbegin(), begin + tiles - 1);
    }
  }
}

TEST(Shape, ReadsTheWholeTileAndNothingElse) {
  for (const Traits& t : kinds()) {
    const Shape s = shape_of(t);
    std::set<int> looked_at;
    for (int i = 0; i < s.inner(); ++i) {
      for (int k = 0; k < s.reads; ++k) {
        const int at = s.read_at(s.start_of(i), k);
        ASSERT_GE(at, 0);
        ASSERT_LT(at, s.chunks());
        looked_at.insert(at);
      }
    }
    EXPECT_GE(looked_at.size(), static_cast<std::size_t>(s.inner()));
    EXPECT_NE(s.read_at(s.start_of(0), 1), s.start_of(0));
  }
}

TEST(Shape, ReadsAllAroundThenAsFarAsTheHaloGoes) {
  const Shape s = shape_of(kinds()[4]);
  const Place own = s.place_of(s.start_of(0));
  EXPECT_EQ(own.row, 5);
  EXPECT_EQ(own.chunk, 2);  // 5 elements are two chunks
  const auto offset = [&](int k) {
    const Place p = s.place_of(s.read_at(s.start_of(0), k));
    return std::pair(p.row - own.row, p.chunk - own.chunk);
  };
  const std::pair<int, std::pair<int, int>> expected[] = {
      {1, {-1, 0}}, {2, {1, 0}},   {3, {0, -1}}, {4, {0, 1}},  {5, {-2, 0}},
      {6, {2, 0}},  {11, {-5, 0}}, {12, {5, 0}}, {13, {-1, 0}}};
  for (const auto& [k, away] : expected) EXPECT_EQ(offset(k), away) << k;
}

TEST(Shape, TakesEveryChunkFromInsideTheInput) {
  for (const Traits& t : kinds()) {
    const Shape s = shape_of(t);
    const std::vector<int> numbers = numbers_of(s);
    std::map<std::int64_t, int> uses;
    for (std::int64_t tile = 0; tile < s.tiles; ++tile) {
      for (int i = 0; i < s.chunks(); ++i) {
        const std::int64_t at = s.source(tile, i, numbers.data());
        ASSERT_GE(at, 0);
        ASSERT_LT(at, input_chunks(s));
        ++uses[at];
      }
    }
    if (s.halo > 0) continue;
    // Common rows go to all neighbours, every other chunk to one tile; nothing is left out.
    EXPECT_EQ(uses.size(), static_cast<std::size_t>(input_chunks(s)));
    for (const auto& [at, n] : uses) ASSERT_EQ(n, at >= s.common_base ? neighbours : 1);
  }
}

TEST(TileCursor, GoesWhereTheShapeSays) {
  for (const Traits& t : kinds()) {
    const Shape s = shape_of(t);
    const std::vector<int> numbers = numbers_of(s);
    for (const std::int64_t blocks : {4, 12, 64}) {
      for (const std::int64_t block : {std::int64_t{0}, blocks / 2 + 1, blocks - 1}) {
        const TileWalk walk = walk_of(block, blocks, 8, s.tiles);
        TileCursor cursor(s, walk);
        for (int n = 0; n < walk.count; ++n, cursor.advance(s)) {
          ASSERT_EQ(cursor.tile, walk.tile(n));
          for (int row = 0; row < s.rows - s.common; ++row) {
            ASSERT_EQ(cursor.own_row_at(s, row, numbers.data()),
                      s.own_row_at(cursor.tile, row, numbers.data()));
          }
          for (int i = 0; i < s.chunks(); ++i) {
            ASSERT_EQ(cursor.source(s, s.relative(i), numbers.data()),
                      s.source(cursor.tile, i, numbers.data()))
                << "tile " << cursor.tile << " chunk " << i;
          }
          if (s.layout == Layout::box) {
            ASSERT_EQ(cursor.own_at, cursor.own_row * s.pitch + cursor.column * s.inner_chunks);
          }
        }
      }
    }
  }
}

TEST(Shape, ShareTheRowsOfAHaloWithTheTileBelow) {
  for (const Traits& t : kinds()) {
    const Shape s = shape_of(t);
    if (s.halo == 0) continue;
    for (const std::int64_t tile : {std::int64_t{0}, std::int64_t{5}, s.tiles - 3}) {
      for (int row = 0; row < 2 * s.halo; ++row) {
        // The last rows of a tile, halo and own, are the first of the one below.
        EXPECT_EQ(s.own_row_at(tile, s.inner_rows + row, nullptr),
                  s.own_row_at(tile + 1, row, nullptr));
      }
    }
  }
}

Device device() {
  Device d;
  d.registers_per_sm = 65536;
  d.max_threads_per_sm = 2048;
  d.shared_per_sm = 233472;
  d.shared_per_block = 232448;
  d.shared_reserved = 1024;
  return d;
}

TEST(Occupancy, FollowsFromRegistersAndThreads) {
  Traits t;
  t.threads = 256;
  for (const auto& [registers, blocks] :
       std::map<std::int64_t, std::int64_t>{{32, 4}, {64, 4}, {65, 3}, {128, 2}, {255, 1}}) {
    t.registers = registers;
    EXPECT_EQ(blocks_by_registers(t, device()), blocks) << registers;
  }
  t.registers = 16;
  t.rows = 64;  // 8 chunks of each thread, for which the twin has up to 128 registers
  EXPECT_EQ(blocks_by_registers(t, device()), 2);
  t.registers = 255;
  t.threads = 512;
  EXPECT_EQ(blocks_by_registers(t, device()), 0) << "512 threads with 255 registers";
}

TEST(Occupancy, IsEnforcedBySharedMemory) {
  const Device d = device();
  for (std::int64_t blocks = 1; blocks <= 32; ++blocks) {
    const std::size_t bytes = padded_shared(4096, blocks, d);
    const std::size_t fit = d.shared_per_sm / (bytes + d.shared_reserved);
    EXPECT_EQ(fit, static_cast<std::size_t>(blocks)) << blocks;
    EXPECT_LE(bytes, d.shared_per_block);
  }
  EXPECT_EQ(padded_shared(100000, 4, d), 100000U) << "it needs more anyway";
  EXPECT_EQ(padded_shared(300000, 1, d), 300000U) << "too much is left to the caller to refuse";
}

}  // namespace
}  // namespace amasia::twin
