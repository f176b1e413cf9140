// memory/l2_prefetch: how much sooner is a tile there when a prefetch has brought it into the L2?
//
// Method: a block of 128 threads walks tiles of 4 or 16 KiB in device memory. It loads a tile past
// L1, 16 bytes per access, 2 or 8 accesses per thread. Then it meets at a barrier and takes the
// next tile. Before the loads of tile n it prefetches tile n + `ahead`. `ahead=0`: no prefetch.
// `way=line`: prefetch.global.L2, one thread per line of 128 bytes.
// `way=bulk`: cp.async.bulk.prefetch.L2, one thread for the tile.
// `grid=one block`: nothing else uses the memory, so the time of a tile is latency.
// `grid=device`: one block per SM, tiles side by side, so the time includes the bandwidth.
// Time per tile is the slope between walks of 64 and 192 tiles in one launch, after 16 tiles. The
// array has 1 GiB, an eighth of the memory where that is less. Walks and samples continue where the
// last one ended: tiles come from memory, and those prefetched last are loaded first.

#include "microbench/walks.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/global_memory.cuh"

namespace amasia::memory {
namespace {

constexpr int tile_threads = 128;
constexpr int warm_tiles = 16, few_tiles = 64, many_tiles = 192;

enum class Prefetch { none, line, bulk };
constexpr const char* name_of(Prefetch p) {
  return p == Prefetch::none ? "none" : p == Prefetch::line ? "line" : "bulk";
}

/// An array in rounds: the next tile of every block, side by side.
struct TileRounds {
  const std::byte* data;
  int count;
  int first;  // of this launch
};

struct Round {
  int index, count;
  __device__ void advance() {
    if (++index == count) index = 0;
  }
};

template <Prefetch PREFETCH, int BYTES>
__device__ void prefetch_tile(const std::byte* tile) {
  if constexpr (PREFETCH == Prefetch::line) {
    constexpr int line = 128;
    static_assert(BYTES <= line * tile_threads);
    if (threadIdx.x < BYTES / line) global::prefetch_line(tile + line * threadIdx.x);
  } else if constexpr (PREFETCH == Prefetch::bulk) {
    if (threadIdx.x == 0) tma::prefetch_bytes(tile, BYTES);
  }
}

template <Prefetch PREFETCH, int WORDS>
__global__ void __launch_bounds__(tile_threads)
    walk_tiles(TileRounds rounds, int ahead, Walks walks, Stamp* taken, unsigned* sink) {
  constexpr int bytes = 16 * WORDS * tile_threads;
  const auto tile = [&](const Round& round) {
    return rounds.data + (std::size_t{gridDim.x} * round.index + blockIdx.x) * bytes;
  };
  Round load{rounds.first, rounds.count};
  Round prefetch{(rounds.first + ahead) % rounds.count, rounds.count};
  unsigned folded = 0;
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    __syncthreads();
    const Stopwatch watch;
#pragma unroll 1
    for (int n = 0; n < walks.links[w]; ++n) {
      prefetch_tile<PREFETCH, bytes>(tile(prefetch));
      const std::byte* const mine = tile(load) + 16 * threadIdx.x;
      uint4 v[WORDS];
#pragma unroll
      for (int k = 0; k < WORDS; ++k) v[k] = load_past_l1(mine + 16 * tile_threads * k);
#pragma unroll
      for (int k = 0; k < WORDS; ++k) folded ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
      if (folded == 0x12345678U) *sink = folded;  // needs the tile before the barrier
      load.advance();
      prefetch.advance();
      __syncthreads();
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(taken[w]);
  }
}

using TileKernel = void (*)(TileRounds, int, Walks, Stamp*, unsigned*);
template <int WORDS>
TileKernel kernel_of(Prefetch p) {
  return p == Prefetch::none   ? walk_tiles<Prefetch::none, WORDS>
         : p == Prefetch::line ? walk_tiles<Prefetch::line, WORDS>
                               : walk_tiles<Prefetch::bulk, WORDS>;
}

Sampling tiles(TileKernel kernel, int words, int ahead, bool whole_device, const Device& device,
               Stream stream) {
  const std::size_t footprint = std::min(std::size_t{1} << 30, device.memory_bytes / 8);
  const unsigned grid = whole_device ? static_cast<unsigned>(device.sm_count) : 1;
  const std::size_t round_bytes =
      std::size_t{16} * grid * static_cast<unsigned>(words * tile_threads);
  auto* const data = reinterpret_cast<std::byte*>(buffer_of(footprint));
  AMASIA_CUDA(cudaMemsetAsync(data, 0x5a, footprint, stream));
  const int count = static_cast<int>(footprint / round_bytes);
  if (count <= ahead) throw std::runtime_error("the array has fewer tiles than are prefetched");
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto sink = std::make_shared<DeviceArray<unsigned>>(1);
  auto first = std::make_shared<int>(0);
  return [=] {
    const Walks walks{{warm_tiles, few_tiles, many_tiles}};
    kernel<<<grid, tile_threads, 0, stream>>>({data, count, *first}, ahead, walks, taken->data(),
                                              sink->data());
    *first = (*first + warm_tiles + few_tiles + many_tiles) % count;
    return slope_of_walks(stream, *taken, walks);
  };
}

template <int WORDS>
void add_tiles(std::vector<Point>& all, Prefetch way, int ahead, bool whole_device) {
  const TileKernel kernel = kernel_of<WORDS>(way);
  Point& p = add_point(all,
                       {{"way", name_of(way)},
                        {"ahead", std::to_string(ahead)},
                        {"tile", std::to_string(16 * WORDS * tile_threads)},
                        {"grid", whole_device ? "device" : "one block"}},
                       "time per tile", "cycles");
  p.runs_from = way == Prefetch::bulk ? 90 : 0;
  p.kernels = {kernel_use(kernel, tile_threads)};
  p.claims = {{"LDG", "ld.global", WORDS}};
  if (way == Prefetch::line) p.claims.push_back({"CCTL", "prefetch", 1});
  if (way == Prefetch::bulk) p.claims.push_back({"UBLKPF", "cp.async.bulk", 1});
  p.prepare = [=](const Device& d, Stream stream) {
    return tiles(kernel, WORDS, ahead, whole_device, d, stream);
  };
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  for (const bool whole_device : {false, true}) {
    for (const Prefetch way : {Prefetch::none, Prefetch::line, Prefetch::bulk}) {
      for (const int ahead : {0, 1, 2, 4, 8}) {
        if ((way == Prefetch::none) != (ahead == 0)) continue;
        if (scope == Scope::full) add_tiles<2>(all, way, ahead, whole_device);
        if (scope == Scope::full || ahead % 4 == 0) add_tiles<8>(all, way, ahead, whole_device);
      }
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"memory/l2_prefetch",
     "How much sooner is a tile there when a prefetch has brought it into the L2?",
     "A block of 128 threads loads tiles of 4 or 16 KiB from memory, one after the other, and "
     "prefetches the tile 0 to 8 tiles ahead into the L2, line by line or in bulk; one block, or "
     "one per SM; time per tile as the slope between walks of 64 and 192 tiles.",
     points});

}  // namespace
}  // namespace amasia::memory
