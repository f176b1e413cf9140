// histogram/cub_block: a kernel of one's own around the block primitives of CUB. cub::BlockLoad
// brings a tile into registers. cub::BlockHistogram adds it to the block's counters in shared
// memory, by atomic increments or by sorting the tile.
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>

#include "apps/histogram/histogram.hpp"
#include "apps/histogram/kernel.cuh"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"

namespace amasia::histogram {
namespace {

/// What a kernel is compiled for. counters: BlockHistogram's number of bins, a constant of its
/// type; the problem may have fewer.
template <class KEY, int THREADS, int KEYS_PER_THREAD, int COUNTERS,
          cub::BlockHistogramAlgorithm ALGORITHM>
struct Tile {
  using Key = KEY;
  using Keys = std::conditional_t<sizeof(KEY) == 1, Bytes, Words>;
  /// What is counted. A sort passes over all its bits, so that it has no more than it needs.
  using Counter = std::conditional_t<COUNTERS <= 256, std::uint8_t, std::uint16_t>;
  static constexpr int threads = THREADS;
  static constexpr int keys_per_thread = KEYS_PER_THREAD;
  static constexpr int keys = THREADS * KEYS_PER_THREAD;
  static constexpr int counters = COUNTERS;
  using Load = cub::BlockLoad<KEY, THREADS, KEYS_PER_THREAD, cub::BLOCK_LOAD_VECTORIZE>;
  using Histogram = cub::BlockHistogram<Counter, THREADS, KEYS_PER_THREAD, COUNTERS, ALGORITHM>;

  struct SharedStorage {
    union {
      typename Load::TempStorage load;
      typename Histogram::TempStorage histogram;
    };
    unsigned counts[COUNTERS];
  };
};

/// Blocks walk the keys in tiles, keep their counters to the end, and add them to the result.
template <class TILE>
__global__ void __launch_bounds__(TILE::threads)
    count_tiles(const typename TILE::Key* keys, std::int64_t count, Binning binning,
                unsigned* result) {
  using Counter = typename TILE::Counter;
  using Histogram = typename TILE::Histogram;
  __shared__ typename TILE::SharedStorage shared;

  Histogram(shared.histogram).InitHistogram(shared.counts);
  __syncthreads();
  const std::int64_t tiles = count / TILE::keys;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    typename TILE::Key key[TILE::keys_per_thread];
    typename TILE::Load(shared.load).Load(keys + tile * TILE::keys, key);
    Counter counter[TILE::keys_per_thread];
#pragma unroll
    for (int i = 0; i < TILE::keys_per_thread; ++i) {
      counter[i] = static_cast<Counter>(TILE::Keys::counter_at(key, i, binning));
    }
    Histogram(shared.histogram).Composite(counter, shared.counts);
    __syncthreads();  // the next tile uses the same temporary storage
  }
  // The keys behind the last whole tile, which only the last block counts.
  if (blockIdx.x == gridDim.x - 1) {
    for (std::int64_t i = tiles * TILE::keys + threadIdx.x; i < count; i += TILE::threads) {
      atomicAdd(&shared.counts[TILE::Keys::counter_at(keys, i, binning)], 1u);
    }
  }
  __syncthreads();
  for (unsigned counter = threadIdx.x; counter < TILE::counters; counter += TILE::threads) {
    const unsigned counted = shared.counts[counter];
    // Counters behind the problem's own have counted nothing.
    if (counted == 0) continue;
    atomicAdd(&result[TILE::Keys::bin_of_counter(counter, binning)], counted);
  }
}

template <class TILE>
Launch launch_of(const Problem& p, const Device& device) {
  LaunchShape shape;
  shape.block = dim3(TILE::threads);
  const auto kernel = count_tiles<TILE>;
  allow_launch(reinterpret_cast<const void*>(kernel), shape);
  const std::int64_t resident =
      resident_blocks(reinterpret_cast<const void*>(kernel), shape, device.sm_count);
  shape.grid = dim3(static_cast<unsigned>(
      std::max<std::int64_t>(1, std::min<std::int64_t>(resident, p.count / TILE::keys))));
  return [p, shape, kernel](Stream stream) {
    AMASIA_CUDA(cudaMemsetAsync(p.counts, 0, sizeof(unsigned) * (p.binning.bins + 1), stream));
    launch(kernel, shape, stream, static_cast<const typename TILE::Key*>(p.keys), p.count,
           p.binning, p.counts);
  };
}

/// The bins that kernels for 32-bit keys are compiled for, without the counter of keys outside the
/// range. Eight bits have 256 values.
constexpr std::int64_t few_bins = 256, many_bins = 2048;

template <int THREADS, int KEYS_PER_THREAD, cub::BlockHistogramAlgorithm ALGORITHM>
ConfigOf<Problem> tile(const char* name) {
  ConfigOf<Problem> config;
  config.info.name = name;
  config.info.geometry = {{"version", CUB_VERSION}};
  config.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (p.type == KeyType::uint8 || p.binning.bins <= many_bins) return std::nullopt;
    return "instantiated for up to " + std::to_string(many_bins) + " bins";
  };
  config.prepare = [](const Problem& p, const Device& device) -> Launch {
    if (p.type == KeyType::uint8) {
      return launch_of<Tile<std::uint8_t, THREADS, KEYS_PER_THREAD, byte_values, ALGORITHM>>(
          p, device);
    }
    if (p.binning.bins <= few_bins) {
      return launch_of<Tile<std::uint32_t, THREADS, KEYS_PER_THREAD, few_bins + 1, ALGORITHM>>(
          p, device);
    }
    return launch_of<Tile<std::uint32_t, THREADS, KEYS_PER_THREAD, many_bins + 1, ALGORITHM>>(
        p, device);
  };
  return config;
}

const bool registered =
    register_comparator<Problem>("histogram", "cub_block",
                                 {tile<256, 16, cub::BLOCK_HISTO_ATOMIC>("256x16-atomic"),
                                  tile<512, 8, cub::BLOCK_HISTO_ATOMIC>("512x8-atomic"),
                                  tile<256, 8, cub::BLOCK_HISTO_SORT>("256x8-sort")});

}  // namespace
}  // namespace amasia::histogram
