// The schedules in blocks of 128 (schedules.hpp): right-looking, updates by groups of panels
// (blocked.hpp). One block decomposes the diagonal block (diagonal.cuh). Products and small tiles
// of panels are one kernel in two sizes (tiles.cuh): 128 x 128, two blocks per SM so that one
// computes while the other starts or ends, and a quarter for the chain. Whole tiles of panels have
// a kernel of their own (panel.cuh).
//
// Strategies differ in the Mover, a template of the tile, that brings operands to shared memory and
// results back. A tile has
//
// - advance(acc, slice, its number, scratch, ..., between): takes a slice of the operands.
// - scratch_bytes: shared memory for it, before the mover's.
//
// A mover has
//
// - View, view(problem): what its kernels get besides the problem, nothing or tensor maps.
// - cluster, stages, shared_bytes: blocks of a cluster, and what the mover of a tile's block takes.
// - bytes_in_flight: what a tile's block can have in flight.
// - Diagonal: how the diagonal block comes, load() into DiagonalBlock::lu (false: this block is
//   done), whether it pads an incomplete one, and how many blocks take part.
// - Panel: the mover of a whole tile of a panel (PanelTile::solve() tells what it has).
// - Feed: how split panels come to tensor cores (tensor_update.cuh), or NoFeed.
//
// Its functions:
//
// - Mover(shared, ...): starts the first copies of a tile.
// - acquire(), slice(), release(): the next slice of the operands.
// - between(chunk): what it does while one is multiplied, in a large tile behind rows_before rows;
//   between_all(): where a warp has nothing to multiply.
// - finish(acc, thread): the result to global memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/lud/blocked.hpp"
#include "apps/lud/diagonal.cuh"
#include "apps/lud/early_updates.cuh"
#include "apps/lud/panel.cuh"
#include "apps/lud/schedules.hpp"
#include "apps/lud/tensor_update.cuh"
#include "harness/variant.hpp"
#include "variants/device/dependent_launch.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::lud {
namespace {

/// What a mover does while its tile takes a slice.
template <class Mover>
struct Between {
  static constexpr int rows_before = Mover::rows_before;

  Mover& mover;
  __device__ __forceinline__ void operator()(int chunk) const { mover.between(chunk); }
  __device__ __forceinline__ void all() const { mover.between_all(); }
};

template <class Mover>
__global__ void __launch_bounds__(Mover::Tile::threads, Mover::Tile::blocks_per_sm)
    product(const __grid_constant__ typename Mover::View view, const Problem p,
            const Products products) {
  using Tile = typename Mover::Tile;
  extern __shared__ __align__(1024) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x);
  const TileProduct t = products.tile(Mover::cluster, static_cast<int>(blockIdx.x));
  if (products.region == Region::rest) admit_successor();  // early_updates.cuh
  if (!products.follows) wait_for_predecessor();
  const unsigned scratch = async::shared_address(shared);
  Mover mover(shared + Tile::scratch_bytes, view, p, t, thread);
  typename Tile::Accumulator acc;
  acc.clear();
  const int slices = t.depth / Tile::k;
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice) {
    // C is asked for with the last slices but one.
    if (products.follows && slice == slices - 2) wait_for_predecessor();
    mover.acquire();
    Tile::advance(acc, mover.slice(), slice, scratch, t, thread, Between<Mover>{mover});
    mover.release();
  }
  admit_successor();
  mover.finish(acc, thread);
}

/// Whole tiles of panels (panel.cuh).
template <class Mover>
__global__ void __launch_bounds__(PanelTile::threads, PanelTile::blocks_per_sm)
    panel(const __grid_constant__ typename Mover::View view, const Problem p,
          const Products products) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x);
  const TileProduct t = products.tile(Mover::cluster, static_cast<int>(blockIdx.x));
  wait_for_predecessor();
  const unsigned squares = async::shared_address(shared);
  Mover mover(shared, view, p, t, thread);
  if (PanelTile::is_beside(t)) {
    PanelTile::solve<true>(mover, squares, thread);
  } else {
    PanelTile::solve<false>(mover, squares, thread);
  }
  admit_successor();
  mover.finish();
}

/// Pads four elements of the last, incomplete diagonal block with those of the identity.
__device__ inline void pad_chunk(float* line, int row, int column, int size) {
  auto* p = reinterpret_cast<float4*>(line + column);
  float4 v = *p;
  const auto element = [&](float own, int j) {
    return row < size && j < size ? own : row == j ? 1.0f : 0.0f;
  };
  *p = make_float4(element(v.x, column), element(v.y, column + 1), element(v.z, column + 2),
                   element(v.w, column + 3));
}

template <class Loader>
__global__ void __launch_bounds__(block_threads, 2)  // registers that leave room for a tile's block
    diagonal(const Problem p, int step) {
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& d = *reinterpret_cast<DiagonalBlock*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  const int first = step * panel_width;
  const int n = static_cast<int>(p.matrix.rows);
  const int size = n - first < panel_width ? n - first : panel_width;
  wait_for_predecessor();
  if (!Loader::load(shared, p, first, size, thread)) return;
  if (size < panel_width && !Loader::pads) {
    for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
      const int row = e / (panel_width / 4), column = e % (panel_width / 4) * 4;
      if (row >= size || column + 3 >= size) {
        pad_chunk(d.lu + row * block_pitch, row, column, size);
      }
    }
    __syncthreads();
  }
  const bool panels_follow = first + panel_width < n;
  factor_block(
      d,
      {&p.matrix.at(first, first), p.matrix.pitch, size, panels_follow, p.lower.data, p.upper.data},
      thread, [] { admit_successor(); });
}

/// 16-byte chunks of the diagonal block: chunk e of panel_width^2 / 4.
struct BlockChunk {
  int row, column;
  bool inside;
  __device__ BlockChunk(int e, int size)
      : row(e / (panel_width / 4)),
        column(e % (panel_width / 4) * 4),
        inside(row < size && column < size) {}
};

/// A stream besides the caller's. Diagonal blocks and panels run ahead on an urgent one, before the
/// updates that have time.
using OwnStream = Owned<cudaStream_t, decltype(cudaStreamDestroy)>;
inline OwnStream own_stream(bool urgent) {
  int least = 0, greatest = 0;
  AMASIA_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  AMASIA_CUDA(
      cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? greatest : least));
  return {stream, cudaStreamDestroy};
}

struct LookAhead {
  OwnStream ahead = own_stream(true), beside = own_stream(false);
  OwnedEvent begun, panels, rest, done;
  Announcement update_begun = announcement();
};

/// A kernel of a launch's tiles, and what it is launched with.
template <class Mover>
struct TileKernel {
  static constexpr auto kernel() {
    if constexpr (std::is_same_v<typename Mover::Tile, PanelTile>) {
      return panel<Mover>;
    } else {
      return product<Mover>;
    }
  }
  static constexpr std::size_t shared_bytes = Mover::Tile::scratch_bytes + Mover::shared_bytes;
  LaunchShape shape{dim3(1), dim3(Mover::Tile::threads), shared_bytes, Mover::cluster};
  typename Mover::View view;

  explicit TileKernel(const Problem& p) : view(Mover::view(p)) {
    allow_launch(reinterpret_cast<const void*>(kernel()), shape);
  }
  LaunchShape grid(const Products& products) const {
    LaunchShape of_all = shape;
    of_all.grid.x = static_cast<unsigned>(products.blocks(Mover::cluster));
    return of_all;
  }
  void operator()(const Problem& p, const Products& products, cudaStream_t stream,
                  bool dependent) const {
    launch(kernel(), FollowingShape{grid(products), dependent}, stream, view, p, products);
  }
  /// An update.
  void operator()(const Problem& p, const Products& products, cudaStream_t stream,
                  cudaEvent_t begun) const {
    launch_announced(kernel(), grid(products), stream, begun, view, p, products);
  }
  static KernelUse use() {
    return {reinterpret_cast<const void*>(kernel()), Mover::Tile::threads, shared_bytes,
            Mover::cluster, Mover::bytes_in_flight};
  }
};

/// Why a config that computes with `arithmetic` does not serve a problem.
inline std::optional<std::string> objection(Arithmetic arithmetic, const Problem& p) {
  if (p.arithmetic == arithmetic) return std::nullopt;
  return arithmetic == Arithmetic::fp32
             ? "computes in fp32; arithmetic=tf32x3 asks for updates on tensor cores"
             : "computes trailing updates by three products of tf32; add arithmetic=tf32x3";
}

template <template <class Tile> class Mover>
ConfigOf<Problem> blocked(const Blocked& named, const std::string& suffix) {
  using Large = Mover<BlockTile>;
  using Small = Mover<ChainTile>;
  using SmallPanel = Mover<SolveTile>;
  using WholePanel = TileKernel<typename Large::Panel>;
  using Diagonal = typename Large::Diagonal;
  using Update = TensorUpdate<typename Large::Feed>;
  ConfigOf<Problem> config;
  config.info.schedule = std::string(named.name);
  config.info.name = config.info.schedule + suffix;
  config.info.geometry = {
      {"block", panel_width},
      {"k_update", named.grouping.most * panel_width},
      {"group_share", named.grouping.share},
      {"chain_tile", 2 * warp_edge},
      {"panel_tile", named.panels == PanelTiles::small ? warp_edge : panel_width},
      {"k_slice", BlockTile::k}};
  config.info.movement = {{"stages", Large::stages}};
  config.info.kernels = {
      TileKernel<Large>::use(),
      {reinterpret_cast<const void*>(diagonal<Diagonal>), block_threads,
       sizeof(DiagonalBlock) + 128, Diagonal::cluster, panel_width * panel_width * sizeof(float)},
      TileKernel<Small>::use(),
      TileKernel<SmallPanel>::use()};
  // Only where it is launched: it needs more shared memory than some devices have.
  if (named.panels != PanelTiles::small) config.info.kernels.push_back(WholePanel::use());
  if (named.start != Start::in_turn) {
    config.info.geometry.push_back(
        {"dependent_launch", named.start == Start::all_dependent ? 2 : 1});
  }
  if (named.arithmetic == Arithmetic::tf32x3) {
    for (const KernelUse& use : Update::uses()) config.info.kernels.push_back(use);
  }
  config.unsupported = [named](const Problem& p, const Device& d) -> std::optional<std::string> {
    if (auto other = objection(named.arithmetic, p)) return other;
    if (named.arithmetic == Arithmetic::tf32x3 && d.compute_capability != 90) {
      return "wgmma exists on compute capability 9.0 alone";
    }
    if (named.start == Start::in_turn || d.compute_capability >= 90) return std::nullopt;
    return "programmatic dependent launch needs compute capability 9.0";
  };
  config.prepare = [named](const Problem& p, const Device& device) -> Launch {
    const LaunchShape block{dim3(Diagonal::cluster), dim3(block_threads),
                            sizeof(DiagonalBlock) + 128, Diagonal::cluster};
    allow_launch(reinterpret_cast<const void*>(diagonal<Diagonal>), block);
    const TileKernel<Large> large(p);
    const TileKernel<Small> small(p);
    const TileKernel<SmallPanel> small_panel(p);
    std::optional<WholePanel> whole_panel;
    if (named.panels != PanelTiles::small) whole_panel.emplace(p);
    std::optional<Update> update;
    if (named.arithmetic == Arithmetic::tf32x3) update.emplace(p);
    const auto streams = std::make_shared<LookAhead>();
    const auto launches =
        schedule(static_cast<int>(p.matrix.rows), named.grouping, device.sm_count, named.panels);
    return [=](Stream main) {
      const cudaStream_t ahead = streams->ahead;
      const bool early = named.start == Start::all_dependent;
      const cudaEvent_t update_begun = early ? cudaEvent_t{streams->update_begun} : nullptr;
      AMASIA_CUDA(cudaEventRecord(streams->begun, main));
      AMASIA_CUDA(cudaStreamWaitEvent(ahead, streams->begun));
      for (const Launched& l : launches) {
        const bool dependent = named.start != Start::in_turn && l.follows;
        // Updates that may meet are on two streams in turns.
        const cudaStream_t stream = l.ahead                         ? ahead
                                    : early && l.products.room == 1 ? streams->beside
                                                                    : main;
        if (l.waits) {
          AMASIA_CUDA(cudaStreamWaitEvent(stream, l.ahead ? streams->rest : streams->panels));
        }
        if (l.diagonal) {
          launch(diagonal<Diagonal>, FollowingShape{block, dependent}, stream, p, l.products.first);
        } else if (l.products.region == Region::panels && l.products.small) {
          small_panel(p, l.products, stream, dependent);
        } else if (l.products.region == Region::panels) {
          (*whole_panel)(p, l.products, stream, dependent);
        } else if (l.products.region == Region::rest) {
          Products products = l.products;
          products.follows = early && l.follows;
          if (update) update->split(p, products, stream);
          if (products.follows) AMASIA_CUDA(cudaStreamWaitEvent(stream, update_begun));
          if (update) {
            (*update)(p, products, stream, update_begun);
          } else {
            large(p, products, stream, update_begun);
          }
        } else if (l.products.small) {
          small(p, l.products, stream, dependent);
        } else {
          large(p, l.products, stream, dependent);
        }
        if (l.signals) {
          AMASIA_CUDA(cudaEventRecord(l.ahead ? streams->panels : streams->rest, stream));
        }
      }
      AMASIA_CUDA(cudaEventRecord(streams->done, ahead));
      AMASIA_CUDA(cudaStreamWaitEvent(main, streams->done));
    };
  };
  return config;
}

/// The configs of a strategy: Rodinia's two schedules, then those in blocks with its mover. Names
/// end in the size of the mover's clusters, where it has any.
template <template <class Tile> class Mover>
std::vector<ConfigOf<Problem>> configs(ConfigOf<Problem> iso, ConfigOf<Problem> iso_walk) {
  constexpr int cluster = Mover<BlockTile>::cluster;
  const std::string suffix = cluster > 1 ? "/cluster-" + std::to_string(cluster) : "";
  constexpr bool feeds = !std::is_same_v<typename Mover<BlockTile>::Feed, NoFeed>;
  for (ConfigOf<Problem>* original : {&iso, &iso_walk}) {
    original->unsupported = [](const Problem& p, const Device&) {
      return objection(Arithmetic::fp32, p);
    };
  }
  std::vector<ConfigOf<Problem>> all{std::move(iso)};
  for (const Blocked& schedule : blocked_schedules) {
    if (!feeds && schedule.arithmetic == Arithmetic::tf32x3) continue;
    all.push_back(blocked<Mover>(schedule, suffix));
  }
  all.push_back(std::move(iso_walk));
  return all;
}

}  // namespace
}  // namespace amasia::lud
