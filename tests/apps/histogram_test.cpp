// histogram without a GPU: the references against others written apart from them, the inputs, and
// the arithmetic of bins, copies, windows and tiles that the kernels use.
#include "apps/histogram/histogram.hpp"
#include "apps/histogram/cpu_reference.hpp"
#include "apps/histogram/geometry.hpp"
#include "apps/histogram/kernel.cuh"
#include "harness/registry.hpp"
#include "tests/test.hpp"

namespace amasia::histogram {
namespace {

constexpr std::uint64_t seed = 20240613;

Setup setup_of(const std::string& size) {
  return make_setup(Parameters(parameter_specs(), parse_size(size)), seed);
}

std::int64_t sum(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

TEST(HistogramBinning, IsExactForAnyNumberOfBins) {
  // All keys near the limits of a bin, which is where a rounded reciprocal would fail.
  for (const std::int64_t range :
       {1, 2, 3, 97, 255, 256, 1000, 65537, 1000003, 1 << 20, 1 << 30, 2147483629, 2147483647}) {
    for (const std::int64_t bins :
         {1, 2, 3, 64, 97, 100, 255, 256, 1000, 4096, 65536, 1000003, 1048576}) {
      if (bins > range) continue;
      const Binning binning = make_binning(bins, range);
      for (std::int64_t b = 0; b <= bins; b += std::max<std::int64_t>(1, bins / 997)) {
        const std::int64_t limit = (b * range + bins - 1) / bins;
        for (std::int64_t key = std::max<std::int64_t>(limit - 2, 0); key <= limit + 2; ++key) {
          const std::int64_t expected = key < range ? key * bins / range : bins;
          ASSERT_EQ(bin_of(static_cast<std::uint32_t>(key), binning), expected)
              << "key " << key << " of " << range << " in " << bins << " bins";
        }
        ASSERT_EQ(first_key_of(static_cast<std::uint32_t>(b), binning), limit);
      }
      for (const std::uint32_t outside : {2147483647u, 2147483648u, 4294967294u, 4294967295u}) {
        if (outside < range) continue;
        ASSERT_EQ(bin_of(outside, binning), bins) << outside << " of " << range;
      }
    }
  }
}

TEST(HistogramKernel, VisitsEveryKeyOfAWord) {
  const Binning binning = make_binning(10, 100);
  std::vector<std::uint32_t> seen;
  const auto add = [&](std::uint32_t counter) { seen.push_back(counter); };
  Bytes::visit(0xff800301u, binning, add);
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{1, 3, 128, 255}));
  seen.clear();
  Words::visit(57, binning, add);
  Words::visit(static_cast<std::uint32_t>(-1), binning, add);
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{5, 10}));
}

TEST(HistogramKernel, CountersOfBytesPartitionIntoBins) {
  for (const auto& [bins, range] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {37, 200}, {64, 256}, {256, 256}}) {
    const Binning binning = make_binning(bins, range);
    std::uint32_t counter = 0;
    for (std::uint32_t bin = 0; bin <= bins; ++bin) {
      EXPECT_EQ(Bytes::first_counter(bin, binning), counter);
      for (; counter < Bytes::first_counter(bin + 1, binning); ++counter) {
        EXPECT_EQ(Bytes::bin_of_counter(counter, binning), bin);
      }
    }
    EXPECT_EQ(counter, 256u);
  }
}

TEST(HistogramKeys, AreUniform) {
  std::vector<std::uint32_t> counts = count_keys(setup_of("keys=100000,bins=64"));
  EXPECT_EQ(counts.back(), 0u);
  counts.pop_back();
  for (const std::uint32_t count : counts) EXPECT_NEAR(count, 100000.0 / 64, 240);  // 6 sigma
}

TEST(HistogramKeys, FollowZipfsLaw) {
  const auto s = setup_of("keys=200000,bins=1000,distribution=zipf");
  const std::vector<std::uint32_t> counts = count_keys(s);
  EXPECT_EQ(counts.back(), 0u);
  for (const int rank : {0, 1, 2, 9, 99}) {
    const double expected = 200000 * std::log(1 + 1.0 / (rank + 1)) / std::log(1001.0);
    EXPECT_NEAR(counts[rank], expected, 6 * std::sqrt(expected) + 1) << rank;
  }
  EXPECT_GT(counts[900] + counts[901] + counts[902], 0u);
}

TEST(HistogramKeys, AreSortedOrEqual) {
  const std::vector<std::int32_t> sorted =
      host_keys(setup_of("keys=9973,distribution=sorted,spread=2147483648"));
  EXPECT_TRUE(std::ranges::is_sorted(sorted));
  EXPECT_LT(sorted.front(), 2000000);
  EXPECT_GT(sorted.back(), 2147000000);
  const std::vector<std::int32_t> equal = host_keys(setup_of("keys=1000,distribution=equal"));
  EXPECT_EQ(std::set<std::int32_t>(equal.begin(), equal.end()).size(), 1u);
}

TEST(HistogramKeys, DifferBeyond32BitPositions) {
  const Source s{Distribution::uniform, seed, most_keys, 1000, 1};
  int same = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    same += key_at(s, 0, i) == key_at(s, 0, i + (std::int64_t{1} << 32));
  }
  EXPECT_LT(same, 20);  // 1 expected
}

TEST(HistogramKeys, AreBoundInEachCounter) {
  for (const char* distribution : {"uniform", "equal", "zipf", "sorted"}) {
    for (const char* bins :
         {"bins=1", "bins=97", "bins=97,spread=1500", "bins=100,spread=30", "bins=1000"}) {
      const auto s =
          setup_of(std::string("keys=100000,range=1000,distribution=") + distribution + "," + bins);
      const std::vector<std::uint32_t> counts = count_keys(s);
      const double fullest = *std::ranges::max_element(counts);
      EXPECT_LE(fullest, most_in_fullest_counter(s)) << distribution << " " << bins;
      EXPECT_GE(10 * fullest + 1000, most_in_fullest_counter(s)) << distribution << " " << bins;
    }
  }
}

std::vector<amasia::histogram::Setup> challenged_setups() {
  return {setup_of("keys=20011,bins=256,distribution=equal"),
          setup_of("keys=20011,bins=33,range=1000,spread=2000"),
          setup_of("keys=20011,bins=65536,distribution=sorted"),
          setup_of("keys=20011,type=uint8,bins=64"),
          setup_of("keys=20011,type=uint8,bins=256,spread=256"),
          setup_of("keys=20011,bins=5,range=7,spread=8"),
          setup_of("keys=20011,bins=1")};
}

TEST(HistogramChallenges, HaveKeysOfTheCountersTheyWereMadeFor) {
  for (const amasia::histogram::Setup& s : challenged_setups()) {
    for (int number = 1; number <= challenge_count; ++number) {
      const Challenge c = challenge_of(s, number);
      std::vector<std::uint32_t> counts(std::size_t{s.binning.bins} + 1);
      for (std::int64_t i = 0; i < s.source.count; ++i) {
        const std::uint32_t key = challenge_key(c, i);
        ASSERT_LE(key, s.type == KeyType::uint8 ? 255u : 4294967295u);
        ++counts.at(bin_of(key, s.binning));
      }
      EXPECT_EQ(counts, count_challenge(s, number));
      EXPECT_EQ(sum(counts), s.source.count);
      EXPECT_EQ(counts.back() > 0, s.strays()) << s.binning.bins;
    }
  }
}

TEST(HistogramChallenges, LetNoKeyStandForAnotherNearby) {
  for (const amasia::histogram::Setup& s : challenged_setups()) {
    const Challenge one = challenge_of(s, 1), two = challenge_of(s, 2);
    for (std::int64_t i = 0; i < 4096; ++i) {
      for (std::int64_t d = 1; d <= one.run() / 2; ++d) {
        ASSERT_TRUE(challenge_counter(one, i) != challenge_counter(one, i + d) ||
                    challenge_counter(two, i) != challenge_counter(two, i + d))
            << s.binning.bins << ": " << i << " and " << i + d;
      }
    }
  }
}

/// The counts when `length` keys from `at` on are taken from `from` on instead.
std::vector<std::uint32_t> counts_of_fault(const amasia::histogram::Setup& s, int number,
                                           std::int64_t at, std::int64_t from,
                                           std::int64_t length) {
  const Challenge c = challenge_of(s, number);
  std::vector<std::uint32_t> counts = count_challenge(s, number);
  for (std::int64_t i = 0; i < length; ++i) {
    --counts[challenge_counter(c, at + i)];
    ++counts[challenge_counter(c, from + i)];
  }
  return counts;
}

TEST(HistogramChallenges, ShowEveryChunkAndTileThatIsTakenForAnother) {
  for (const amasia::histogram::Setup& s : challenged_setups()) {
    if (s.binning.bins < 32) continue;  // chance: 1 of the number of counters
    const auto seen = [&](std::int64_t at, std::int64_t from, std::int64_t length) {
      for (int number = 1; number <= challenge_count; ++number) {
        if (counts_of_fault(s, number, at, from, length) != count_challenge(s, number)) return true;
      }
      return false;
    };
    const std::int64_t chunk = 16 / s.key_bytes();
    for (int place = 0; place < 30; ++place) {
      const std::int64_t n = random_below(seed, 77, place, 1000);
      EXPECT_TRUE(seen(n * chunk, (n + 1) * chunk, chunk)) << s.binning.bins << " chunk " << n;
      const std::int64_t tile = random_below(seed, 78, place, 6);
      EXPECT_TRUE(seen((tile + 3) * 1024, tile * 1024, 1024)) << s.binning.bins << " " << tile;
    }
  }
}

TEST(HistogramReference, ComparisonFindsWhatDiffers) {
  const std::vector<std::uint32_t> expected{4, 5, 6};
  EXPECT_TRUE(compare(expected, expected).passed);
  const Verdict wrong = compare({4, 7, 5}, expected);
  EXPECT_FALSE(wrong.passed);
  EXPECT_EQ(wrong.mismatches, 2);
  EXPECT_EQ(wrong.first_mismatches.at(0), "(bin 1): got 7, expected 5");
  EXPECT_EQ(wrong.first_mismatches.at(1), "(keys outside the range): got 5, expected 6");
  // A key lost: the sum says so.
  EXPECT_EQ(wrong.first_mismatches.at(2), "(all bins): got 16, expected 15");
  EXPECT_EQ(compare({5, 4, 6}, expected).first_mismatches.size(), 2u);
  EXPECT_FALSE(compare({4, 5}, expected).passed);
  EXPECT_FALSE(compare({4, 5, 6, 7}, expected).passed);
}

TEST(HistogramGeometry, PlansCopiesThenWindows) {
  constexpr std::int64_t h200 = 232192;  // bytes of a block there, barriers left out
  const auto plan = [](std::int64_t counters, std::int64_t bytes, int at_least = 1) {
    const CounterPlan p = plan_counters(counters, bytes, at_least);
    EXPECT_LE(p.bytes(), bytes);
    EXPECT_GE(std::int64_t{p.window} * p.windows, counters);
    EXPECT_EQ(p.window % 4, 0);
    EXPECT_EQ(p.windows % at_least, 0);
    EXPECT_GE(p.log2_copies, 0);
    return p;
  };
  for (const auto& [counters, copies] : {std::pair{257, 5}, {2049, 4}, {4097, 3}, {58000, 0}}) {
    EXPECT_EQ(plan(counters, h200).log2_copies, copies) << counters;
  }
  for (const auto& [counters, windows] : {std::pair{58000, 1}, {65537, 2}, {1048577, 19}}) {
    EXPECT_EQ(plan(counters, h200).windows, windows) << counters;
  }
  EXPECT_EQ(plan(65537, 133888, 2).windows, 2);
  EXPECT_EQ(plan(2049, 133888, 2).log2_copies, 5);
  EXPECT_EQ(plan(1048577, 133888, 16).windows, 32);
  EXPECT_EQ(plan(1, 32).windows, 1);
  EXPECT_EQ(plan(5, 32).log2_copies, 0);
}

TEST(HistogramGeometry, PacksTwoCountersInAWord) {
  constexpr std::int64_t h200 = 232192;
  for (const std::int64_t counters : {1, 97, 65537, 116096, 1048577}) {
    for (const std::int64_t bytes : {std::int64_t{128}, std::int64_t{5000}, h200}) {
      for (const int at_least : {1, 2, 8}) {
        const CounterPlan p = plan_packed(counters, bytes, at_least);
        EXPECT_LE(p.bytes(), bytes);
        EXPECT_EQ(p.bytes() % 16, 0);
        EXPECT_GE(p.window, 64);  // a word for each lane
        EXPECT_GE(std::int64_t{p.window} * p.windows, counters);
        EXPECT_EQ(p.windows % at_least, 0);
      }
    }
  }
  EXPECT_EQ(plan_packed(65537, h200).windows, 1);
  EXPECT_EQ(plan_packed(65537, h200 - 3 * 30720).windows, 1) << "beside a ring";
  EXPECT_EQ(plan_packed(1048577, h200).windows, 10);
}

TEST(HistogramGeometry, PackedCountersNeverOverflow) {
  // Between two barriers a block counts no more than packed_limit keys. Here all meet in one word,
  // and what a half passes is taken off it as late as can be: at the barrier.
  for (const int many : {1, 128}) {
    std::uint32_t word = 0;
    std::int64_t given[2] = {0, 0}, counted[2] = {0, 0};
    for (int interval = 0; interval < 50; ++interval) {
      int passed[2] = {0, 0};
      for (int keys = 0; keys < packed_limit; keys += many) {
        const int half = interval % 3 == 2 ? keys / many % 2 : interval % 2;
        const std::uint32_t unit = static_cast<std::uint32_t>(many) << (16 * half);
        if (passed_half(word, unit) != 0) ++passed[half];
        word += unit;
        counted[half] += many;
      }
      for (int half = 0; half < 2; ++half) {
        ASSERT_LE(passed[half], 1);
        word -= static_cast<std::uint32_t>(passed[half] * packed_limit) << (16 * half);
        given[half] += passed[half] * packed_limit;
        ASSERT_EQ(given[half] + (word >> (16 * half) & 0xffff), counted[half]);
        ASSERT_LT(word >> (16 * half) & 0xffff, packed_limit);
      }
    }
  }
  EXPECT_EQ(packed_tiles_between_barriers(4 * 960), 8);
  EXPECT_EQ(packed_tiles_between_barriers(4 * 2 * 960), 4);
}

TEST(HistogramGeometry, SumOfHalvesShowsAnyOverflow) {
  // Keys into both halves of a word, at last so many that one or both overflow, once or twice.
  for (const std::int64_t low : {0, 1, 65535, 65536, 65537, 131072, 200000}) {
    for (const std::int64_t high : {0, 1, 65534, 65535, 65536, 65537, 131071, 131072}) {
      const auto word = static_cast<std::uint32_t>(low + (high << 16));
      EXPECT_EQ(sum_of_halves(word) == low + high, low < 65536 && high < 65536)
          << low << " and " << high;
    }
  }
  // 2^28 uniform keys on 132 SMs are 68 parts; a bin in 64 of Zipf's are too many.
  EXPECT_TRUE(adds_unseen(12, 68));
  EXPECT_FALSE(adds_unseen(30720 / 64, 68));
  EXPECT_TRUE(adds_unseen(packed_limit / 2, 1));
}

TEST(HistogramGeometry, ReadsEveryCopyOnceAndEveryBankOnce) {
  for (int log2_copies = 0; log2_copies <= 5; ++log2_copies) {
    const int copies = 1 << log2_copies;
    for (int step = 0; step < copies; ++step) {
      std::set<int> banks;
      for (int counter = 0; counter < 32; ++counter) {
        banks.insert(((counter << log2_copies) + copy_to_read(counter, step, log2_copies)) % 32);
      }
      EXPECT_EQ(banks.size(), 32u) << copies << " copies, step " << step;
    }
    for (int counter = 0; counter < 100; ++counter) {
      std::set<int> read;
      for (int step = 0; step < copies; ++step) {
        const int copy = copy_to_read(counter, step, log2_copies);
        EXPECT_LT(copy, copies);
        read.insert(copy);
      }
      EXPECT_EQ(static_cast<int>(read.size()), copies);
    }
  }
}

TEST(HistogramGeometry, DealsOutEveryTileOnce) {
  for (const std::int64_t tiles : {0, 1, 5, 131, 132, 133, 1000}) {
    for (const int groups : {1, 2, 132, 264}) {
      std::vector<int> seen(static_cast<std::size_t>(tiles), 0);
      for (int group = 0; group < groups; ++group) {
        for (int n = 0; n < tiles_of_group(tiles, group, groups); ++n) {
          ++seen.at(static_cast<std::size_t>(group + std::int64_t{n} * groups));
        }
      }
      EXPECT_EQ(std::ranges::count(seen, 1), tiles);
    }
  }
}

TEST(HistogramPartition, HasScratchForAnyNumberOfBlocks) {
  for (const std::int64_t keys : {1, 2047, 70001, 3900007, 1 << 28}) {
    for (const std::int64_t counters : {65537, 200001, 1048577}) {
      for (const int tile_keys : {2048, 4096, 8192}) {
        for (const int blocks : {1, 2, 132, 264, most_partition_blocks}) {
          const std::int64_t tiles = keys / tile_keys;
          if (blocks > std::max<std::int64_t>(tiles, 1)) continue;
          const PartitionPlan plan = plan_partition(counters, tiles, tile_keys, blocks);
          EXPECT_LE(plan.ranges, most_ranges);
          EXPECT_LE(plan.words(), partition_words(counters, keys));
        }
      }
    }
  }
  EXPECT_LT(plan_partition(1048577, most_keys / 4096, 4096, most_partition_blocks).chunks(),
            most_chunks);
}

TEST(HistogramPartition, GivesEveryKeyAPlaceOfItsOwn) {
  // What a block's place_ranges() does, tile by tile, with keys that prefer low ranges.
  constexpr int tile_keys = 4096, tiles = 40;
  const PartitionPlan plan = plan_partition(300000, tiles, tile_keys, 1);
  std::vector<unsigned> fill(plan.ranges, chunk_ids), chunk(plan.ranges, 0);
  std::vector<int> range_at(static_cast<std::size_t>(plan.chunks_per_block) * chunk_ids, -1);
  unsigned used = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    std::vector<unsigned> total(plan.ranges, 0);
    for (int k = 0; k < tile_keys; ++k) {
      const unsigned a = random_below(seed, 5, tile * tile_keys + k, plan.ranges);
      const unsigned b = random_below(seed, 6, tile * tile_keys + k, plan.ranges);
      ++total[tile % 7 == 3 ? 1 : std::min(a, b)];
    }
    for (int r = 0; r < plan.ranges; ++r) {
      const InChunks place = place_in_chunks(fill[r], total[r]);
      const unsigned fresh = used;
      if (place.opens) ++used;
      for (unsigned i = 0; i < total[r]; ++i) {
        const std::size_t at = i < place.split ? std::size_t{chunk[r]} * chunk_ids + fill[r] + i
                                               : std::size_t{fresh} * chunk_ids + i - place.split;
        ASSERT_EQ(range_at.at(at), -1);
        range_at[at] = r;
      }
      if (place.opens) chunk[r] = fresh;
      fill[r] = place.fill;
    }
  }
  EXPECT_LE(used, plan.chunks_per_block);
  EXPECT_EQ(std::ranges::count(range_at, -1) + tiles * tile_keys,
            static_cast<std::int64_t>(range_at.size()));
  for (unsigned c = 0; c < used; ++c) {  // all of a chunk have one range
    for (int i = 1; i < chunk_ids; ++i) {
      const int range = range_at[c * chunk_ids + i];
      EXPECT_TRUE(range == -1 || range == range_at[c * chunk_ids]);
    }
  }
}

class OnlyProblem : public InstanceOf<Problem> {
 public:
  explicit OnlyProblem(Problem p) : problem_(p) {}
  const Problem& problem() const override { return problem_; }
  void reset(Stream) override {}
  Verdict verify() override { return {}; }

 private:
  Problem problem_;
};

std::string cub_config(std::int64_t bins, std::int64_t range) {
  Problem problem;
  problem.count = 1000;
  problem.binning = make_binning(bins, range);
  const OnlyProblem instance(problem);
  for (const Config& config : find_variant("histogram/cub")->configs) {
    if (!config.unsupported(instance, Device{})) return config.info.name;
  }
  return "none";
}

TEST(HistogramCub, MultipliesInDoubleOnlyWhereThatIsExact) {
  if (find_variant("histogram/cub") == nullptr) GTEST_SKIP() << "this build has no CUDA";
  EXPECT_EQ(cub_config(256, std::int64_t{1} << 30), "even-double");
  EXPECT_EQ(cub_config(2048, 2048), "even-double");
  EXPECT_EQ(cub_config(3, 96), "even-double");
  EXPECT_EQ(cub_config(3, 97), "even");       // no width is a whole number
  EXPECT_EQ(cub_config(1000, 3000), "even");  // 1/3 has no end in binary
  EXPECT_EQ(cub_config(1, 2147483647), "even");
}

TEST(HistogramThrust, DeclinesKeysThatDoNotFitThreeTimes) {
  const Variant* thrust = find_variant("histogram/thrust");
  if (thrust == nullptr) GTEST_SKIP() << "this build has no CUDA";
  Problem problem;
  problem.count = 1000;
  Device device;
  device.memory_bytes = 11999;
  const auto& unsupported = thrust->configs.front().unsupported;
  EXPECT_TRUE(contains(*unsupported(OnlyProblem(problem), device), "12000 bytes"));
  problem.type = KeyType::uint8;
  EXPECT_FALSE(unsupported(OnlyProblem(problem), device));
}

class OnlyCounts : public OnlyProblem, public CountsSource {
 public:
  OnlyCounts() : OnlyProblem(Problem{}) {}
  std::vector<std::uint32_t> counts() const override { return {7, 0, 4294967295}; }
};

TEST(HistogramFiles, HoldTheCounts) {
  const TemporaryFolder folder;
  const std::string path = folder / "counts";
  const App* app = find_app("histogram");
  OnlyCounts instance;
  app->export_outputs(Parameters(app->parameters(), {{"out_file", path}}), instance);
  EXPECT_EQ(read_text(path), "0 7\n1 0\n2 4294967295\n");
  const std::string nowhere = folder / "no/such";
  const std::string message = message_of<UsageError>([&] {
    app->export_outputs(Parameters(app->parameters(), {{"out_file", nowhere}}), instance);
  });
  EXPECT_TRUE(is_one_line(message));
  EXPECT_TRUE(contains(message, nowhere));
}

TEST(HistogramFiles, FeedTheCounts) {
  const TemporaryFolder folder;
  const std::string path = folder / "keys";
  const auto counts = [&](const char* size) {
    const amasia::histogram::Setup setup = setup_of(size + (",key_file=" + path));
    EXPECT_EQ(count_keys(setup), count_by_sorting(setup));
    return count_keys(setup);
  };
  write_text(path, "5\n-1\n9\n10\n0\n");
  EXPECT_EQ(counts("keys=5,bins=2,range=10"), (std::vector<std::uint32_t>{1, 2, 2}));
  write_text(path, std::string("\0\1\2\377", 4));
  EXPECT_EQ(counts("keys=4,type=uint8,bins=2,range=4"), (std::vector<std::uint32_t>{2, 1, 1}));
}

}  // namespace
}  // namespace amasia::histogram
