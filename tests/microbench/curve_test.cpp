#include "microbench/curve.hpp"
#include "microbench/memory/pattern.hpp"
#include "microbench/memory/persistence.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

TEST(Slope, CancelsWhatIsPaidOnce) {
  std::vector<Abscissa> walks;
  for (const double links : {64, 128, 512, 4096}) walks.push_back({links, 310 + 32.5 * links});
  EXPECT_NEAR(slope_of(walks), 32.5, 1e-9);
}

TEST(Saturation, IsWhereLittlesLawEnds) {
  // Bandwidth min(x / 700, 10): saturates at 7000 bytes; 95 % of it at 6650.
  std::vector<Abscissa> curve;
  for (double x = 500; x < 1e5; x *= 1.1) curve.push_back({x, std::min(x / 700, 10.0)});
  EXPECT_NEAR(saturation_of(curve, 0.95), 6650, 350);
}

TEST(Saturation, IgnoresALuckyPointBeforeTheKneeAndSurvivesAFallAfterIt) {
  EXPECT_GT(saturation_of({{1, 10}, {2, 3}, {4, 6}, {8, 10}, {16, 10}}, 0.95), 4);
  EXPECT_LE(saturation_of({{1, 2}, {2, 10}, {4, 5}}, 0.95), 2);
  EXPECT_DOUBLE_EQ(saturation_of({{3, 5}}, 0.9), 3);
  EXPECT_THROW(saturation_of({}, 0.9), std::invalid_argument);
  EXPECT_THROW(saturation_of({{0, 5}}, 0.9), std::invalid_argument);
}

TEST(Crossover, IsBracketed) {
  const Crossover found =
      bisect_crossover(1, 4096, 0.01, [](double x) { return x < 137 ? -1 : 1; });
  EXPECT_EQ(found.kind, Crossover::Kind::between);
  EXPECT_LE(found.at.low, 137);
  EXPECT_GE(found.at.high, 137);
  EXPECT_LE(found.at.high / found.at.low, 1.01);
  EXPECT_LT(found.evaluations, 20);
}

TEST(Crossover, WhatCannotBeResolvedIsTheInterval) {
  const Crossover found = bisect_crossover(1, 4096, 0.01, [](double x) {
    return x < 100 ? -1 : x > 200 ? 1 : 0;
  });
  EXPECT_EQ(found.kind, Crossover::Kind::between);
  EXPECT_LE(found.at.low, 100);
  EXPECT_GE(found.at.high, 200);
}

TEST(Crossover, MayNotBeThere) {
  EXPECT_EQ(bisect_crossover(1, 8, 0.1, [](double) { return -1; }).kind,
            Crossover::Kind::always_before);
  EXPECT_EQ(bisect_crossover(1, 8, 0.1, [](double) { return 1; }).kind,
            Crossover::Kind::always_after);
  EXPECT_EQ(bisect_crossover(1, 8, 0.1, [](double) { return 0; }).kind,
            Crossover::Kind::not_resolved);
  EXPECT_THROW(bisect_crossover(8, 1, 0.1, [](double) { return 0; }), std::invalid_argument);
}

}  // namespace
}  // namespace amasia

// The arithmetic of microbench/memory: hot regions and windows, walks, what is written.
namespace amasia::memory {
namespace {

constexpr std::size_t mib = 1 << 20;

TEST(Region, IsTheShareOfTheSetAsideInWholeChunks) {
  EXPECT_EQ(region_bytes(30 * mib, 100), 30 * mib);
  EXPECT_EQ(region_bytes(30 * mib, 50), 15 * mib);
  EXPECT_EQ(region_bytes(30 * mib, 200), 60 * mib);
  EXPECT_EQ(region_bytes(30 * mib + 5000, 100), 30 * mib);
  for (const std::size_t set_aside : {std::size_t{1}, 3 * mib, 37 * mib + 12345, 96 * mib}) {
    std::size_t before = 0;
    for (const int percent : {12, 25, 50, 75, 100, 125, 150, 200}) {
      const std::size_t bytes = region_bytes(set_aside, percent);
      EXPECT_EQ(bytes % persistence_chunk, 0u);
      EXPECT_GE(bytes, persistence_chunk);
      EXPECT_GE(bytes, before);
      before = bytes;
      if (set_aside >= mib) {
        EXPECT_LE(bytes, set_aside * static_cast<unsigned>(percent) / 100);
        EXPECT_GT(bytes + persistence_chunk, set_aside * static_cast<unsigned>(percent) / 100);
      }
    }
  }
}

TEST(Region, BeyondTheSetAsideKeepsTheShareThatFits) {
  EXPECT_FLOAT_EQ(fitted_ratio(30 * mib, 15 * mib), 1.0F);
  EXPECT_FLOAT_EQ(fitted_ratio(30 * mib, 30 * mib), 1.0F);
  EXPECT_FLOAT_EQ(fitted_ratio(30 * mib, 60 * mib), 0.5F);
  EXPECT_FLOAT_EQ(fitted_ratio(30 * mib, 40 * mib), 0.75F);
}

TEST(StreamBetween, IsFarBeyondTheL2OrNothing) {
  EXPECT_EQ(stream_bytes(60 * mib, std::size_t{140} << 30), 480 * mib);
  EXPECT_EQ(stream_bytes(72 * mib, std::size_t{4} << 30), 512 * mib);  // an eighth of the memory
  EXPECT_EQ(stream_bytes(72 * mib, std::size_t{2} << 30), 0u);
}

TEST(Walks, MeetNoNodeTwiceAndAreOfWholeIterations) {
  constexpr std::uint64_t unroll = 32;
  for (std::uint64_t nodes = 512; nodes < (1 << 20); nodes += 509) {
    const Lengths l = lengths_of(nodes, unroll);
    EXPECT_LE(l.warm + l.few + l.many, nodes);
    EXPECT_GT(l.few, 0u);
    EXPECT_GT(l.many, 4 * l.few);
    for (const std::uint64_t links : {l.warm, l.few, l.many}) EXPECT_EQ(links % unroll, 0u);
  }
  EXPECT_EQ(lengths_of(1 << 20, unroll).many, 4096u);
}

std::vector<std::uint32_t> written(const Pattern& pattern, std::uint32_t units) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < units; ++i) {
    for (unsigned w = 0; w < 4; ++w) words.push_back(word_of(pattern, noise(i), w));
  }
  return words;
}

TEST(Kept, IsNoneAsDisplacedAndAllAsUndisturbed) {
  EXPECT_DOUBLE_EQ(kept_share(660, 660, 280), 0);
  EXPECT_DOUBLE_EQ(kept_share(660, 280, 280), 1);
  EXPECT_DOUBLE_EQ(kept_share(660, 470, 280), 0.5);
}

TEST(Patterns, AreWhatTheirNamesSay) {
  std::map<std::string, std::vector<std::uint32_t>> of;
  constexpr std::uint32_t units = 1 << 14;
  for (const NamedPattern& p : patterns) of[p.name] = written(p.pattern, units);
  for (const std::uint32_t x : of.at("zeros")) ASSERT_EQ(x, 0u);
  for (const std::uint32_t x : of.at("constant")) ASSERT_EQ(x, of.at("constant")[0]);
  EXPECT_NE(of.at("constant")[0], 0u);
  std::vector<int> narrow(256), low(256), high(256);
  for (const std::uint32_t x : of.at("narrow")) {
    ASSERT_LT(x, 256u);
    ++narrow[x];
  }
  std::set<std::uint32_t> different;
  for (const std::uint32_t x : of.at("random")) {
    different.insert(x);
    ++low[x & 0xFF];
    ++high[x >> 24];
  }
  EXPECT_GT(different.size(), 4 * units - 16);  // 65,536 of 2^32: half a pair is alike by chance
  // 256 of each are expected, with a standard deviation of 16.
  for (const auto& counts : {narrow, low, high}) {
    for (const int count : counts) {
      EXPECT_GT(count, 256 - 6 * 16);
      EXPECT_LT(count, 256 + 6 * 16);
    }
  }
}

TEST(Patterns, DifferFromThePoisonAndFromEachOther) {
  for (const NamedPattern& p : patterns) {
    std::size_t poison = 0;
    for (const std::uint32_t x : written(p.pattern, 1 << 14)) poison += x == 0xA5A5A5A5U;
    EXPECT_EQ(poison, 0u) << p.name;
  }
  // What lies at another index is wrong: shifted by one, half of a warp, a chunk, most words
  // differ.
  const auto random = written(patterns[3].pattern, 1 << 14);
  for (const std::size_t shift : {4, 64, 8192}) {
    std::size_t alike = 0;
    for (std::size_t i = 0; i + shift < random.size(); ++i) alike += random[i] == random[i + shift];
    EXPECT_LE(alike, 4u) << shift;
  }
}

TEST(Arrays, LieFarBeyondTheL2OrStayInIt) {
  constexpr std::size_t unit = 32 << 10;
  EXPECT_EQ(bytes_beyond(60 * mib, std::size_t{140} << 30, unit), 512 * mib);
  EXPECT_EQ(bytes_beyond(4 * mib, std::size_t{16} << 30, unit), 256 * mib);
  EXPECT_EQ(bytes_beyond(72 * mib, std::size_t{16} << 30, unit), 0u);
  EXPECT_EQ(bytes_inside(60 * mib, unit), 60 * mib / 8);
  EXPECT_EQ(bytes_inside(100 << 10, unit), unit);
}

}  // namespace
}  // namespace amasia::memory
