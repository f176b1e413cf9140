// The schedule of every config but `iso`: as many blocks as fit walk the tiles of C, a slice of A
// and B at a time; slices of the next tile are fetched while the last ones of this tile are
// multiplied. Tiles differ in what computes them (Fp32Tile, MmaTile, Wgmma*Tile), strategies in the
// Mover that brings slices:
//
// - Walk: each sum by one block (walk.hpp), or the last ones shared (sharing.hpp, shared.cuh)
// - View, view(problem): what the kernel gets besides the problem, nothing or tensor maps
// - cluster: blocks, one below the other, that share slices of B
// - shared_bytes(stages), bytes_in_flight(stages)
// - Mover(shared, view, problem, walk, stages): starts the first copies
// - acquire(), left(thread), b(), between(chunk), release(): the block's next slice
// - acquire(), a_tile(), b_tile(), meanwhile(), release(): the same for an asynchronous tile
// (wgmma)
// - leave(): before the block ends
#pragma once

#include <string>
#include <utility>

#include "apps/gemm/fp32_tile.cuh"
#include "apps/gemm/walk.hpp"
#include "apps/gemm/wgmma_tile.cuh"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"

namespace amasia::gemm {

namespace {

struct NoMaps {};

/// How whole tiles are walked. FFMA has few that are small, and its loops leave no register to
/// spare: what stands between two tiles decides how many of its operands meet in a bank
/// (README.md), and the divisions of the plain walk, which are calls, keep out of its way.
template <class Tile>
using WalkOf = std::conditional_t<Tile::mode == Mode::fp32, matrix::Walk, Walk>;

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

/// The slices of a tile whose multiplications are waited for one slice later.
template <class Mover, class Accumulator>
__device__ __forceinline__ void multiply_asynchronously(Accumulator& acc, Mover& mover, int slices,
                                                        int thread) {
  using Tile = typename Mover::Tile;
  typename Tile::Fragments fragments[2] = {};
  const auto meanwhile = [&] { mover.meanwhile(); };
  acc.hold();
#pragma unroll 1
  for (int slice = 0; slice < slices; slice += 2) {
    mover.acquire();
    Tile::template multiply<0>(acc, fragments, mover.a_tile(), mover.b_tile(), thread, meanwhile);
    mover.release();
    if (slice + 1 == slices) break;
    mover.acquire();
    Tile::template multiply<1>(acc, fragments, mover.a_tile(), mover.b_tile(), thread, meanwhile);
    mover.release();
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

/// A walk on its own has no successor. shared.cuh has the other kind of walk.
__device__ inline void admit_successor(const matrix::Walk&) {}

/// A sum to its tile of C. shared.cuh has the other kind of walk, whose sums may be in pieces.
template <class Tile, class Accumulator, class Walk>
__device__ __forceinline__ void store_sum(const Accumulator& acc, const Problem& p,
                                          const Walk& walk, typename Walk::Step step, float*,
                                          int thread) {
  const TilePlace place = walk.place(step, rank_in(walk));
  Tile::store(acc, p, place.row * Tile::m, place.column * Tile::n, thread);
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

/// Why a mover does not serve a problem on a device.
template <class Mover>
std::optional<std::string> tile_objection(const Problem& p, const Device& d) {
  using Tile = typename Mover::Tile;
  if (p.mode != Tile::mode) {
    return std::string("computes in mode ") + name_of(Tile::mode) + ", not " + name_of(p.mode);
  }
  if (p.layout != Tile::layout) {
    if (Tile::mode == Mode::fp32) {
      return "FFMA multiplies rows of B, which layout tn has as columns: no strategy transposes "
             "them on the way";
    }
    if (!Tile::asynchronous) return "mma.sync is fed by rows of B, layout nn; wgmma takes both";
    return std::string("computes in layout ") + name_of(Tile::layout) + ", not " +
           name_of(p.layout);
  }
  const bool eight_bits = Tile::mode == Mode::e4m3;
  if (Tile::mode != Mode::fp32 && d.compute_capability < (eight_bits ? 89 : 80)) {
    return std::string("tensor cores have ") + name_of(Tile::mode) + " from compute capability " +
           (eight_bits ? "8.9" : "8.0");
  }
  if (KernelOf<Mover>::for_90a && d.compute_capability != 90) {
    return Tile::asynchronous ? "wgmma exists on compute capability 9.0 alone"
                              : "warps hand registers to others on compute capability 9.0 alone";
  }
  return std::nullopt;
}

template <class Mover>
ConfigInfo persistent_info(std::string_view schedule, const Movement& movement,
                           const void* kernel) {
  using Tile = typename Mover::Tile;
  const int stages = movement.stages;
  const std::string note = movement.note.empty() ? "" : "-" + movement.note;
  return {std::string(schedule) + "/" + std::to_string(stages) + "-stages" + note,
          {{"tile_m", Tile::m},
           {"tile_n", Tile::n},
           {"k_slice", Tile::k},
           {"stages", stages},
           {"cluster_blocks", Mover::cluster}},
          {{kernel, KernelOf<Mover>::threads, Mover::shared_bytes(stages), Mover::cluster,
            static_cast<std::size_t>(Mover::bytes_in_flight(stages))}},
          false,
          std::string(schedule),
          {{"stages", stages},
           {"stage_bytes", Tile::slice_bytes},
           {"producer_warps", KernelOf<Mover>::producer_warps}}};
}

template <class Tile, class Walk = gemm::Walk>
Walk walk_of(const Problem& p, int cluster) {
  return {p.m, p.n, p.k, Tile::m, Tile::n, Tile::k, cluster};
}

template <class Mover>
ConfigOf<Problem> persistent(const Movement& movement) {
  using Tile = typename Mover::Tile;
  using Kernel = KernelOf<Mover>;
  const auto kernel = reinterpret_cast<const void*>(Kernel::function);
  ConfigOf<Problem> config;
  config.info = persistent_info<Mover>(Tile::schedule.whole, movement, kernel);
  config.prepare = [stages = movement.stages, kernel](const Problem& p, const Device& d) -> Launch {
    const auto walk = walk_of<Tile, typename Mover::Walk>(p, Mover::cluster);
    LaunchShape shape{dim3(1), dim3(Kernel::threads), Mover::shared_bytes(stages), Mover::cluster};
    allow_launch(kernel, shape);
    const int resident = resident_blocks(kernel, shape, d.sm_count);
    const std::int64_t blocks = walk.steps() * Mover::cluster;
    shape.grid.x = static_cast<unsigned>(blocks < resident ? blocks : resident);
    const auto view = Mover::view(p);
    return [=](Stream stream) {
      launch(Kernel::function, shape, stream, view, p, walk, nullptr, stages);
    };
  };
  config.unsupported = tile_objection<Mover>;
  return config;
}

}  // namespace
}  // namespace amasia::gemm
