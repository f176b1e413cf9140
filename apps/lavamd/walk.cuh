// A block's walk over its home box's list, and what all strategies have in common on the way: which
// 16-byte chunks make a tile, the fetch to L2, the kernel and its configs.
#pragma once

#include <string>
#include <utility>

#include "apps/lavamd/kernel.cuh"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/global_memory.cuh"

namespace amasia::lavamd {

/// The list of this block. In clusters an odd number of boxes leaves a block over: it computes the
/// last box again, to the same bits.
struct List {
  const Problem& p;
  int home;
  const Neighbours& row;

  __device__ explicit List(const Problem& problem) : List(problem, static_cast<int>(blockIdx.x)) {}
  __device__ List(const Problem& problem, int block)
      : p(problem), home(min(block, problem.boxes - 1)), row(problem.neighbours[home]) {}
  __device__ int count() const { return row.count; }
  __device__ const Vector* positions(int box) const {
    return p.positions + std::int64_t{box} * p.pitch;
  }
  __device__ const double* charges(int box) const {
    return p.charges + std::int64_t{box} * p.pitch;
  }
};

/// 16-byte chunks of the largest box: two of a position, half of one of a charge.
inline constexpr int most_chunks = 2 * most_particles + most_particles / 2;
inline constexpr int tile_bytes = most_chunks * 16;

/// copy(to, from, k) for every chunk of the list's n-th box that is the turn of `thread`, its k-th,
/// of `COUNT` threads.
template <int COUNT, class Copy>
__device__ __forceinline__ void each_chunk(const List& list, Tile& tile, int n, Copy copy,
                                           int thread = static_cast<int>(threadIdx.x)) {
  const int box = list.row.box[n];
  const auto* positions = reinterpret_cast<const int4*>(list.positions(box));
  const auto* charges = reinterpret_cast<const int4*>(list.charges(box));
  const int of_positions = 2 * list.p.pitch, chunks = of_positions + list.p.pitch / 2;
#pragma unroll
  for (int k = 0; k < (most_chunks + COUNT - 1) / COUNT; ++k) {
    const int i = thread + k * COUNT;
    if (i >= chunks) break;
    if (i < of_positions) {
      copy(reinterpret_cast<int4*>(tile.positions) + i, positions + i, k);
    } else {
      const int c = i - of_positions;
      copy(reinterpret_cast<int4*>(tile.charges) + c, charges + c, k);
    }
  }
}

/// For each_chunk().
__device__ __forceinline__ void copy_chunk(int4* to, const int4* from, int) {
  async::copy<16>(to, from);
}

/// What no copy brings: zeros behind the last particle of a stage, by `count` threads.
__device__ inline void clear_pads(Tile& tile, const List& list,
                                  int thread = static_cast<int>(threadIdx.x), int count = threads) {
  for (int i = list.p.pitch + thread; i < most_particles; i += count) {
    tile.positions[i] = {};
    tile.charges[i] = 0;
  }
}

/// Tiles that are fetched to L2 in front of the copies, where a config fetches.
inline constexpr int l2_ahead = 8;

template <bool L2>
__device__ __forceinline__ void fetch_ahead(const List& list, int n) {
  if constexpr (L2) {
    if (n + l2_ahead >= list.count()) return;
    const int box = list.row.box[n + l2_ahead];
    constexpr int of_positions = threads / 4 * 3;  // the other threads fetch charges
    const int t = static_cast<int>(threadIdx.x);
    const bool position = t < of_positions;
    const auto* from = position ? reinterpret_cast<const char*>(list.positions(box))
                                : reinterpret_cast<const char*>(list.charges(box));
    const int offset = (position ? t : t - of_positions) * 128;
    if (offset < list.p.pitch * (position ? 32 : 8)) global::prefetch_line(from + offset);
  }
}

/// PIPELINE: `Stages` in shared memory; PIPELINE(stages, list) clears, initialises and asks for the
/// first tiles; run<L2>(compute) brings all tiles of the list to `compute`.
template <class Compute, class Pipeline, bool L2>
__global__ void __launch_bounds__(threads, Compute::blocks_per_sm) forces_of_box(const Problem p) {
  __shared__ typename Pipeline::Stages stages;
  __shared__ Sums sums;
  // Prologue
  const List list(p);
  Pipeline pipeline(stages, list);
  Compute compute(p, list.home);
  // Main loop
  pipeline.template run<L2>(compute);
  // Epilogue
  compute.finish(p, list.home, sums);
}

/// PIPELINE::stages, ::cluster (blocks), ::bytes_in_flight.
template <class Compute, class Pipeline, bool L2 = false>
ConfigOf<Problem> config() {
  constexpr auto kernel = forces_of_box<Compute, Pipeline, L2>;
  ConfigOf<Problem> c;
  c.info.schedule = Compute::schedule;
  c.info.name = c.info.schedule + (L2 ? "/l2" : "");
  c.info.geometry = {{"threads", threads}};
  c.info.movement = {{"stages", Pipeline::stages}, {"l2_ahead", L2 ? l2_ahead : 0}};
  c.info.kernels = {{reinterpret_cast<const void*>(kernel), threads, 0, Pipeline::cluster,
                     Pipeline::bytes_in_flight}};
  c.prepare = [](const Problem& p, const Device&) -> Launch {
    LaunchShape shape{dim3(static_cast<unsigned>(round_up(p.boxes, Pipeline::cluster))),
                      dim3(threads)};
    shape.cluster_blocks = Pipeline::cluster;
    allow_launch(reinterpret_cast<const void*>(kernel), shape);
    return [=](Stream stream) { launch(kernel, shape, stream, p); };
  };
  if (Compute::schedule == std::string(tensor_name)) {
    c.unsupported = [](const Problem&, const Device& d) -> std::optional<std::string> {
      if (d.compute_capability >= 80) return std::nullopt;
      return "fp64 tensor cores need compute capability 8.0";
    };
  }
  return c;
}

template <class Original, class Groups = Original>
std::vector<ConfigOf<Problem>> configs() {
  return {config<OneParticle, Original>(), config<TensorGroups, Groups>(),
          config<TensorGroups, Groups, true>(), config<VectorGroups, Groups>(),
          config<OneParticle, Original, true>()};
}

}  // namespace amasia::lavamd
