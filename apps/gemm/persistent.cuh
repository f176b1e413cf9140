// The schedule of every config but `iso`: as many blocks as fit walk the tiles of C, a slice of A
// and B at a time. Slices of the next tile are fetched while the last ones of this tile are
// multiplied. Tiles differ in what computes them (Fp32Tile, MmaTile, Wgmma*Tile), strategies in the
// Mover that brings slices:
//
// - Walk: each sum by one block (walk.hpp), or the last ones shared (SharedWalk).
// - View, view(problem): what the kernel gets besides the problem, nothing or tensor maps.
//
// - cluster: blocks, one below the other, that share slices of B.
// - shared_bytes(stages), bytes_in_flight(stages).
//
// Its functions:
//
// - Mover(shared, view, problem, walk, stages): starts the first copies.
// - acquire(), left(thread), b(), between(chunk), release(): the block's next slice.
// - acquire(), a_tile(), b_tile(), meanwhile(), release(): the same for wgmma's tiles.
// - leave(): before the block ends.
#pragma once

#include <type_traits>
#include <vector>

#include "apps/gemm/fp32_tile.cuh"
#include "apps/gemm/launches.hpp"
#include "apps/gemm/walk.hpp"
#include "apps/gemm/wgmma_tile.cuh"
#include "variants/device/dependent_launch.cuh"

namespace amasia::gemm {

namespace {

/// How the warps that multiply walk whole tiles: as shared ones, by the same kernel. FFMA's loops
/// leave no register to spare, and few of its tiles are small. What is between two tiles decides
/// how many of its operands meet in a bank (README.md). The divisions of the plain walk are calls,
/// which keep out of the way.
template <class Tile>
using WalkOf = std::conditional_t<Tile::mode == Mode::fp32, matrix::Walk, SharedWalk>;

/// Rows of a slice of A, and what a slice of B has beside k, for one tile: as many as C has there,
/// or twice as many where each element is two (mode tf32x3).
template <class Tile>
inline constexpr int rows_of_a = Tile::a_bytes / 128;
template <class Tile>
inline constexpr int extent_of_b = Tile::layout == Layout::tn ? Tile::b_bytes / 128 : Tile::n;

/// Of movers and producers that need no tensor maps.
struct WithoutMaps {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
};

/// What movers have in common by which a block alone copies with its own threads.
template <class TileT, class WalkT>
struct PieceMover : WithoutMaps {
  using Tile = TileT;
  using Walk = WalkT;
  static constexpr int cluster = 1;
};

/// The block's place in the walk: its cluster is one of the workers.
__device__ inline matrix::Walk::Step first_step(const matrix::Walk& walk) {
  return blockIdx.x / walk.cluster;
}
__device__ inline matrix::Walk::Step step_stride(const matrix::Walk& walk) {
  return gridDim.x / walk.cluster;
}
__device__ inline int rank_in(const matrix::Walk& walk) {
  return static_cast<int>(blockIdx.x) % walk.cluster;
}
__device__ inline Walk::Step first_step(const Walk& walk) {
  return static_cast<int>(blockIdx.x) >> walk.log2_cluster;
}
__device__ inline Walk::Step step_stride(const Walk& walk) {
  return static_cast<int>(gridDim.x) >> walk.log2_cluster;
}
__device__ inline int rank_in(const Walk& walk) {
  return static_cast<int>(blockIdx.x) & (walk.cluster - 1);
}

/// The slices of a tile whose multiplications are waited for one slice later. Fragments in
/// registers are still read then: slices with them alternate between two sets.
template <class Mover, class Accumulator>
__device__ __forceinline__ void multiply_asynchronously(Accumulator& acc, Mover& mover, int slices,
                                                        int thread) {
  using Tile = typename Mover::Tile;
  typename Tile::Fragments fragments[2] = {};
  const auto meanwhile = [&] { mover.meanwhile(); };
  acc.hold();
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice) {
    mover.acquire();
    Tile::template multiply<0>(acc, fragments, mover.a_tile(), mover.b_tile(), thread, meanwhile);
    mover.release();
    if constexpr (!std::is_empty_v<typename Tile::Fragments>) {
      if (++slice == slices) break;
      mover.acquire();
      Tile::template multiply<1>(acc, fragments, mover.a_tile(), mover.b_tile(), thread, meanwhile);
      mover.release();
    }
  }
  wgmma::wait<0>();
  acc.hold();
}

/// The block's part of the walk; store(accumulator, step, thread) takes each sum.
template <class Mover, class Store>
__device__ __forceinline__ void multiply_steps(const typename Mover::View& view, const Problem& p,
                                               const typename Mover::Walk& walk, int stages,
                                               Store&& store) {
  using Tile = typename Mover::Tile;
  extern __shared__ __align__(1024) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x);
  Mover mover(shared, view, p, walk, stages);
  for (auto step = first_step(walk); walk.has(step); step += step_stride(walk)) {
    typename Tile::Accumulator acc;
    acc.clear();
    const Range run = walk.run(step);
    if constexpr (Tile::asynchronous) {
      multiply_asynchronously(acc, mover, run.end - run.first, thread);
    } else {
#pragma unroll 1
      for (int slice = run.first; slice < run.end; ++slice) {
        mover.acquire();
        Tile::multiply(acc, mover.left(thread), mover.b(), thread,
                       [&](int chunk) { mover.between(chunk); });
        mover.release();
      }
    }
    store(acc, step, thread);
  }
  mover.leave();
}

/// Before a block's part of a walk that shares sums. Its successor's blocks find room where this
/// launch leaves some. A plain walk has no successor.
__device__ inline void admit_successor(const matrix::Walk&) {}
__device__ inline void admit_successor(const SharedWalk&) { amasia::admit_successor(); }

/// Tiles whose loop has no register for where C goes: they store at two places in the code. FFMA
/// with one would have 113 conflicts of 1024 in place of 65; baseline's tf32 tile would spill.
template <class Tile>
inline constexpr bool full_of_registers = Tile::mode == Mode::fp32 ||
                                          (Tile::mode == Mode::tf32 && Tile::layout == Layout::nn);

/// A sum to its tile of C.
template <class Tile, class Accumulator>
__device__ __forceinline__ void store_sum(const Accumulator& acc, const Problem& p,
                                          const matrix::Walk& walk, matrix::Walk::Step step, float*,
                                          int thread) {
  const TilePlace place = walk.place(step, rank_in(walk));
  Tile::store(acc, p, place.row * Tile::m, place.column * Tile::n, thread);
}
/// The same, or a piece of it to a tile of its own.
template <class Tile, class Accumulator>
__device__ __forceinline__ void store_sum(const Accumulator& acc, const Problem& p,
                                          const SharedWalk& walk, int step, float* pieces,
                                          int thread) {
  Problem target = p;
  TilePlace place{0, 0};
  if (walk.is_whole(step)) {
    place = walk.place(step, rank_in(walk));
    if (full_of_registers<Tile>) {
      return Tile::store(acc, p, place.row * Tile::m, place.column * Tile::n, thread);
    }
  } else {
    const std::int64_t slot = std::int64_t{walk.piece(step).slot} * walk.cluster + rank_in(walk);
    target.c = {pieces + slot * (Tile::m * Tile::n), Tile::m, Tile::n, Tile::n};
    target.m = Tile::m;
    target.n = Tile::n;
  }
  Tile::store(acc, target, place.row * Tile::m, place.column * Tile::n, thread);
}

/// `pieces`: for walks that share sums.
template <class Mover>
__global__ void __launch_bounds__(Mover::Tile::threads, Mover::Tile::blocks_per_sm)
    product(const __grid_constant__ typename Mover::View view, const Problem p,
            const typename Mover::Walk walk, float* pieces, int stages) {
  using Tile = typename Mover::Tile;
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  // Nobody launches wgmma here: nothing of it is compiled for those who would not run it.
  constexpr bool exists = !Tile::asynchronous;
#else
  constexpr bool exists = true;
#endif
  if constexpr (exists) {
    admit_successor(walk);
    multiply_steps<Mover>(view, p, walk, stages, [&](const auto& acc, auto step, int thread) {
      store_sum<Tile>(acc, p, walk, step, pieces, thread);
    });
  } else {
    __trap();
  }
}

/// The kernel of a mover. specialised.cuh has another one for its own.
template <class Mover>
struct KernelOf {
  static constexpr auto function = product<Mover>;
  static constexpr int threads = Mover::Tile::threads, producer_warps = 0;
  static constexpr bool for_90a = Mover::Tile::asynchronous;
};

/// The mover's kernel, as the host launches it.
template <class Mover>
TileKernel tile_kernel(int stages) {
  using Tile = typename Mover::Tile;
  using Kernel = KernelOf<Mover>;
  TileKernel kernel{};
  kernel.function = reinterpret_cast<const void*>(Kernel::function);
  if constexpr (std::is_same_v<typename Mover::View, Maps>) kernel.maps = Mover::view;
  kernel.plain_walk = std::is_same_v<typename Mover::Walk, matrix::Walk>;
  kernel.mode = Tile::mode, kernel.layout = Tile::layout;
  kernel.wgmma = Tile::asynchronous, kernel.for_90a = Kernel::for_90a;
  kernel.m = Tile::m, kernel.n = Tile::n, kernel.k = Tile::k;
  kernel.slice_bytes = Tile::slice_bytes, kernel.blocks_per_sm = Tile::blocks_per_sm;
  kernel.threads = Kernel::threads, kernel.producer_warps = Kernel::producer_warps;
  kernel.cluster = Mover::cluster, kernel.stages = stages;
  kernel.shared_bytes = Mover::shared_bytes(stages);
  kernel.bytes_in_flight = static_cast<std::size_t>(Mover::bytes_in_flight(stages));
  return kernel;
}

template <class Mover>
ConfigOf<Problem> persistent(int stages) {
  return whole_tiles(Mover::Tile::schedule.whole, tile_kernel<Mover>(stages));
}
template <class Mover>
ConfigOf<Problem> shared(int stages) {
  return shared_tiles(Mover::Tile::schedule.shared, tile_kernel<Mover>(stages));
}

/// Both schedules of a tile, where it has two, by one kernel. The shared one knows when it does not
/// pay, so it is the first choice.
template <class Mover>
void add_both(std::vector<ConfigOf<Problem>>& configs, int stages) {
  if (!Mover::Tile::schedule.shared.empty()) configs.push_back(shared<Mover>(stages));
  configs.push_back(persistent<Mover>(stages));
}

/// The tiles of wgmma whose warps have no roles.
template <template <class, class> class Mover>
void add_wgmma(std::vector<ConfigOf<Problem>>& configs, int stages) {
  const auto add = [&](auto... tiles) {
    (add_both<Mover<decltype(tiles), SharedWalk>>(configs, stages), ...);
  };
  add(WgmmaTf32Tile{}, WgmmaBf16Tile{}, WgmmaKMajorTile<Mode::tf32>{},
      WgmmaKMajorTile<Mode::bf16>{}, WgmmaKMajorTile<Mode::e4m3>{});
}

}  // namespace
}  // namespace amasia::gemm
