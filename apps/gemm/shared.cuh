// The schedules called `-shared`: as in persistent.cuh, but the blocks that the last
// tiles would leave idle share these tiles' sums (sharing.hpp). Each piece of a sum is stored as a
// tile of its own; a second kernel adds the pieces. No block waits for another: the order of the
// two launches is all the synchronisation there is, so that any number of resident blocks will do,
// and nothing has to be reset from launch to launch. The second launch depends on the first one
// from within (dependent_launch.cuh), so that its blocks are there when the last piece is.
#pragma once

#include <memory>
#include <string>

#include "apps/common/dependent_launch.cuh"
#include "apps/gemm/persistent.cuh"
#include "apps/gemm/sharing.hpp"

namespace amasia::gemm {
namespace {

/// Before a block's part of a walk that shares sums. Its successor's blocks find room where this
/// launch leaves some.
__device__ inline void admit_successor(const SharedWalk&) { matrix::admit_successor(); }

template <class Tile, class Accumulator>
__device__ __forceinline__ void store_sum(const Accumulator& acc, const Problem& p,
                                          const SharedWalk& walk, int step, float* pieces,
                                          int thread) {
  if (walk.is_whole(step)) {
    const TilePlace place = walk.place(step, rank_in(walk));
    Tile::store(acc, p, place.row * Tile::m, place.column * Tile::n, thread);
  } else {
    Problem piece = p;
    piece.c = {pieces, Tile::m, Tile::n, Tile::n};
    piece.m = Tile::m;
    piece.n = Tile::n;
    piece.c.data +=
        (std::int64_t{walk.piece(step).slot} * walk.cluster + rank_in(walk)) * (Tile::m * Tile::n);
    Tile::store(acc, piece, 0, 0, thread);
  }
}

inline constexpr int adding_threads = 256;
/// Pieces that a thread asks for together: each by itself would take a way to the L2 and back.
inline constexpr int pieces_at_once = 8;

/// C of the shared tiles: blockIdx.y is a tile, blockIdx.x a share of its elements, four a thread.
template <class Tile>
__global__ void __launch_bounds__(adding_threads)
    add_pieces(const Problem p, const SharedWalk walk, const float* pieces) {
  const int tile = static_cast<int>(blockIdx.y) >> walk.log2_cluster;
  const int rank = static_cast<int>(blockIdx.y) & (walk.cluster - 1);
  const int element = static_cast<int>(blockIdx.x * adding_threads + threadIdx.x) * 4;
  const TilePlace place = walk.Walk::place(walk.whole + tile, rank);
  const int row = place.row * Tile::m + element / Tile::n;
  const int column = place.column * Tile::n + element % Tile::n;
  const Range slots = walk.slots_of(tile);
  const std::int64_t stride = std::int64_t{walk.cluster} * (Tile::m * Tile::n);
  const float* piece = pieces + slots.first * stride + rank * (Tile::m * Tile::n) + element;
  matrix::wait_for_predecessor();
  if (row >= p.m || column >= p.n) return;
  float4 sum{};
#pragma unroll 1
  for (int left = slots.end - slots.first; left > 0; left -= pieces_at_once) {
    float4 next[pieces_at_once];
#pragma unroll
    for (int i = 0; i < pieces_at_once; ++i, piece += stride) {
      if (i < left) next[i] = *reinterpret_cast<const float4*>(piece);
    }
#pragma unroll
    for (int i = 0; i < pieces_at_once; ++i) {
      const float4& x = next[i];
      if (i < left) sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    }
  }
  // Four that begin inside may end in the padding.
  *reinterpret_cast<float4*>(&p.c.at(row, column)) = sum;
}

/// Why sharing does not pay. `resident`: blocks that the device holds.
template <class Tile>
std::optional<std::string> sharing_objection(const Problem& p, int cluster, int resident) {
  constexpr int shortest = shortest_share(Tile::mode);
  const SharedWalk walk(walk_of<Tile>(p, cluster), resident / cluster, shortest);
  // A worker stores two pieces at most.
  if (walk.saved() >= 2 * shortest) return std::nullopt;
  if (walk.shared == 0) return "the tiles of C fill all SMs: there is nothing to share";
  return "sharing the last tiles would save less time than adding the pieces takes";
}

template <class Mover>
ConfigOf<Problem> shared(const Movement& movement) {
  using Tile = typename Mover::Tile;
  using Kernel = KernelOf<Mover>;
  const auto kernel = reinterpret_cast<const void*>(Kernel::function);
  ConfigOf<Problem> config;
  config.info = persistent_info<Mover>(Tile::schedule.shared, movement, kernel);
  config.info.kernels.push_back(
      {reinterpret_cast<const void*>(add_pieces<Tile>), adding_threads, 0, 1, 0});
  config.prepare = [stages = movement.stages, kernel](const Problem& p, const Device& d) -> Launch {
    LaunchShape shape{dim3(1), dim3(Kernel::threads), Mover::shared_bytes(stages), Mover::cluster};
    allow_launch(kernel, shape);
    const int resident = resident_blocks(kernel, shape, d.sm_count);
    const SharedWalk walk(walk_of<Tile>(p, Mover::cluster), resident / Mover::cluster,
                          shortest_share(Tile::mode));
    shape.grid.x = static_cast<unsigned>(walk.workers * Mover::cluster);
    constexpr int tile_elements = Tile::m * Tile::n;
    const LaunchShape adding{dim3(tile_elements / (4 * adding_threads),
                                  static_cast<unsigned>(walk.shared * Mover::cluster)),
                             dim3(adding_threads)};
    const auto pieces = std::make_shared<const DeviceArray<float>>(
        static_cast<std::size_t>(walk.pieces()) * Mover::cluster * tile_elements);
    const auto view = Mover::view(p);
    const bool early = d.compute_capability >= 90;
    return [=](Stream stream) {
      launch(Kernel::function, shape, stream, view, p, walk, pieces->data(), stages);
      if (walk.shared == 0) return;
      matrix::launch_dependent(add_pieces<Tile>, adding, stream, early, p, walk, pieces->data());
    };
  };
  config.unsupported = [](const Problem& p, const Device& d) -> std::optional<std::string> {
    if (auto objection = tile_objection<Mover>(p, d)) return objection;
    return sharing_objection<Tile>(p, Mover::cluster, d.sm_count * Tile::blocks_per_sm);
  };
  return config;
}

}  // namespace
}  // namespace amasia::gemm
