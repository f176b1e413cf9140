// Proves that the verification of histogram can fail (tests/gpu/mutants.hpp), and that it sees one
// fault committed once, wherever that is.
#include "apps/histogram/histogram.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::histogram_mutants_test {
namespace {

constexpr int tile = 1024;  // keys of the tile that a fault pretends to have

__device__ std::uint32_t key_at(const histogram::Problem& p, std::int64_t i) {
  return p.type == histogram::KeyType::uint8 ? static_cast<const std::uint8_t*>(p.keys)[i]
                                             : static_cast<const std::uint32_t*>(p.keys)[i];
}

/// Keys [begin, begin + length) are counted `times` times, from `distance` keys further on.
struct Replacement {
  std::int64_t begin = 0, length = 0, distance = 0;
  int times = 1;
};

// edge: the last key is left out. stale_halo: a key that another tile ends with is counted again,
// as by a copy that a ring handed out twice.
__global__ void count(histogram::Problem p, Fault fault, Replacement r) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i >= p.count - (fault == Fault::edge ? 1 : 0)) return;
  if (fault == Fault::skipped_tile && i / tile == 2) return;
  const bool stale = fault == Fault::stale_halo && i % tile == 0 && i > 0;
  const bool hit = i >= r.begin && i < r.begin + r.length;
  const std::uint32_t key = key_at(p, stale ? i - 1 : hit ? i + r.distance : i);
  atomicAdd(p.counts + histogram::bin_of(key, p.binning), static_cast<unsigned>(hit ? r.times : 1));
}

void run(const histogram::Problem& p, Fault fault, const Replacement& r = {}) {
  AMASIA_CUDA(cudaMemset(p.counts, 0, (p.binning.bins + 1) * sizeof(unsigned)));
  count<<<static_cast<unsigned>((p.count + 255) / 256), 256>>>(p, fault, r);
}

using HistogramMutants = OnDevice<>;

TEST_F(HistogramMutants, AreCaught) {
  for (const Size& size : std::vector<Size>{
           {{"keys", "100003"}, {"type", "int32"}, {"bins", "4096"}},
           {{"keys", "100003"}, {"type", "uint8"}, {"bins", "256"}},
           {{"keys", "100003"}, {"bins", "1000"}, {"range", "30000"}, {"spread", "40000"}}}) {
    const auto i = instance("histogram", size);
    expect_caught(*i, [&](Fault fault) { run(problem_of<histogram::Problem>(*i), fault); });
  }
}

// ---- one fault, once

enum class Once {
  none,
  lost,             // one key is not counted
  doubled,          // one key is counted twice
  neighbour_key,    // one key is taken for the next one
  neighbour_chunk,  // 16 bytes of keys are taken for the next ones
  stale_stage       // a tile of 16 KB is taken for the one that a ring of three held there before
};

Replacement replacement_of(Once fault, const histogram::Problem& p, int place) {
  const auto random_place = [&](std::int64_t below) {
    return static_cast<std::int64_t>(random_below(11, static_cast<std::uint64_t>(fault),
                                                  static_cast<std::uint64_t>(place),
                                                  static_cast<std::uint32_t>(below)));
  };
  const std::int64_t chunk = p.type == histogram::KeyType::uint8 ? 16 : 4, stage = 1024 * chunk;
  switch (fault) {
    case Once::none:
      return {};
    case Once::lost:
      return {random_place(p.count), 1, 0, 0};
    case Once::doubled:
      return {random_place(p.count), 1, 0, 2};
    case Once::neighbour_key:
      return {random_place(p.count - 1), 1, 1};
    case Once::neighbour_chunk:
      return {random_place(p.count / chunk - 1) * chunk, chunk, chunk};
    case Once::stale_stage:
      return {(3 + random_place(p.count / stage - 3)) * stage, stage, -3 * stage};
  }
  return {};
}

using HistogramSingleFault = OnDevice<>;

TEST_F(HistogramSingleFault, IsSeenAtEveryPlace) {
  const std::vector<Size> sizes{
      {{"keys", "300007"}, {"bins", "256"}, {"distribution", "equal"}},
      {{"keys", "300007"}, {"bins", "256"}},
      {{"keys", "300007"}, {"bins", "65536"}, {"distribution", "sorted"}},
      {{"keys", "300007"}, {"bins", "64"}, {"range", "30000"}, {"spread", "40000"}},
      {{"keys", "300007"}, {"type", "uint8"}, {"bins", "256"}, {"distribution", "equal"}},
      {{"keys", "300007"}, {"type", "uint8"}, {"bins", "64"}, {"distribution", "sorted"}}};
  for (const auto& size : sizes) {
    const auto i = instance("histogram", size);
    const auto& p = problem_of<histogram::Problem>(*i);
    for (const Once fault : {Once::none, Once::lost, Once::doubled, Once::neighbour_key,
                             Once::neighbour_chunk, Once::stale_stage}) {
      for (int place = 0; place < 24; ++place) {
        const int caught =
            caught_by(*i, [&] { run(p, Fault::none, replacement_of(fault, p, place)); });
        EXPECT_EQ(caught >= 0, fault != Once::none) << "fault " << static_cast<int>(fault) << ", "
                                                    << size.at("bins") << " bins, place " << place;
      }
    }
  }
}

// ---- a reader that is too early

constexpr int pieces = 240, piece_counters = 65;

/// A piece of the result per block, as iso's first launch writes them, from `words`.
__global__ void write_pieces(histogram::Problem p, unsigned* words, int first) {
  const int piece = first + static_cast<int>(blockIdx.x);
  unsigned* const own = words + piece * piece_counters;
  for (int i = threadIdx.x; i < piece_counters; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const std::int64_t stride = std::int64_t{pieces} * blockDim.x;
  for (std::int64_t i = piece * std::int64_t{blockDim.x} + threadIdx.x; i < p.count; i += stride) {
    atomicAdd(own + histogram::bin_of(key_at(p, i), p.binning), 1u);
  }
}

__global__ void add_pieces(histogram::Problem p, const unsigned* words) {
  unsigned sum = 0;
  for (int piece = 0; piece < pieces; ++piece) sum += words[piece * piece_counters + threadIdx.x];
  p.counts[threadIdx.x] = sum;
}

class HistogramEarlyReader : public OnDevice<> {};

// The run before left the right pieces in memory: only what reset() does shows that one is read
// before it is written.
TEST_F(HistogramEarlyReader, IsCaughtInWhatLaunchesHandOver) {
  const auto counted = instance("histogram", {{"keys", "300007"}, {"bins", "64"}});
  const auto many = instance("histogram", {{"keys", "300007"}, {"bins", "1048576"}});
  const auto& p = problem_of<histogram::Problem>(*counted);
  for (unsigned* const words : {p.partials, problem_of<histogram::Problem>(*many).scratch}) {
    ASSERT_NE(words, nullptr);
    for (const int early : {0, 1, pieces}) {
      counted->reset(nullptr);
      many->reset(nullptr);
      if (early < pieces) write_pieces<<<pieces - early, 256>>>(p, words, early);
      add_pieces<<<1, piece_counters>>>(p, words);
      write_pieces<<<pieces, 256>>>(p, words, 0);
      AMASIA_CUDA(cudaDeviceSynchronize());
      EXPECT_EQ(counted->verify().passed, early == 0) << early << " pieces written too late";
    }
  }
}

// ---- counters that overflow unseen

__global__ void fill_tail(std::uint32_t* keys, std::int64_t first, std::int64_t count) {
  const std::int64_t i = first + blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i < count) keys[i] = 12345678;
}

class HistogramUnseen : public OnDevice<> {};

// Keys that are spread at first and then all equal: the first tiles of each block promise that no
// counter overflows, and one does.
TEST_F(HistogramUnseen, CountsAgainWhereACounterOverflowed) {
  const auto i = instance("histogram", {{"keys", "40000007"}, {"bins", "65536"}});
  const auto& p = problem_of<histogram::Problem>(*i);
  const std::int64_t spread = 10000000;
  auto* const keys = static_cast<std::uint32_t*>(const_cast<void*>(p.keys));
  fill_tail<<<static_cast<unsigned>((p.count - spread + 255) / 256), 256>>>(keys, spread, p.count);
  const auto counts = [&] {
    std::vector<unsigned> all(p.binning.bins + 1);
    AMASIA_CUDA(cudaMemcpy(all.data(), p.counts, all.size() * sizeof(unsigned), cudaMemcpyDefault));
    return all;
  };
  run(p, Fault::none);
  const std::vector<unsigned> expected = counts();
  for (const Variant* variant : variants_of("histogram")) {
    const Config* config = config_of(*variant, "packed-unseen");
    if (config == nullptr || config->unsupported(*i, device)) continue;
    verdict_of(*config, *i, device);
    EXPECT_EQ(counts(), expected) << variant->name();
  }
}

}  // namespace
}  // namespace amasia::histogram_mutants_test
