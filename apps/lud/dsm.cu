// lud/dsm: blocks that share a panel's tile form a cluster and each brings its half of it,
// multicast to both; so each panel is read once per cluster. In iso, eight internal tiles of a row
// share L's tile: each block fetches two rows and reads the others in its neighbours' shared
// memory.
#include "apps/lud/blocked.cuh"
#include "apps/lud/box_ring.cuh"
#include "apps/lud/rodinia.cuh"
#include "variants/copies/tile_through_registers.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::lud {
namespace {

inline constexpr int tile_cluster = 8;  // the portable maximum
inline constexpr int share = tile_elements / tile_cluster;

/// This block's eighth of a tile that the cluster shares.
__device__ void load_share(float* own, const RodiniaStep& s, TileOrigin from, int thread) {
  if (thread < share) {
    const int e = static_cast<int>(dsm::rank()) * share + thread;
    const std::int64_t row = from.row + e / tile, column = from.column + e % tile;
    own[thread] = row < s.m.rows && column < s.m.columns ? s.m.at(row, column) : 0.0f;
  }
}
/// The whole of it, out of everyone's shares; after a cluster barrier.
__device__ void gather(float* to, const float* own, int thread, int threads) {
  for (int e = thread; e < tile_elements; e += threads) {
    to[e] = dsm::load_float(dsm::remote_address(own + e % share, static_cast<unsigned>(e / share)));
  }
}

__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ alignas(16) float own[tile_elements];
  __shared__ float shared_out[share];
  const int lane = threadIdx.x;
  load_share(shared_out, s, {s.first, s.first}, lane);
  dsm::cluster_sync();
  if (dsm::rank() == 0) gather(own, shared_out, lane, 32);
  dsm::cluster_sync();  // no block leaves while its share is read
  if (dsm::rank() != 0) return;
  factor_tile(own, s.size(), lane);
  __syncwarp();
  store_rows(s, {s.first, s.first}, own, lane, 32);
}

__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s, int side) {
  __shared__ alignas(16) float diagonal_tile[tile_elements];
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  __shared__ float shared_out[share];
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  load_share(shared_out, s, {s.first, s.first}, lane);
  baseline::copy_tile<RodiniaTile, 32>(beside, s.source(), s.beside(i), lane);
  baseline::copy_tile<RodiniaTile, 32>(below, s.source(), s.below(i), lane);
  dsm::cluster_sync();
  gather(diagonal_tile, shared_out, lane, 32);
  dsm::cluster_sync();
  if (i >= side) return;
  solve_perimeter(diagonal_tile, beside, below, lane);
  __syncwarp();
  store_rows(s, s.beside(i), beside, lane, 32);
  store_rows(s, s.below(i), below, lane, 32);
}

// U's tiles as in baseline.
template <class Schedule>
__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  constexpr bool walks = Schedule::tiles > 1;
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  __shared__ float shared_out[share];
  const int thread = threadIdx.x;
  const RowOfTiles<Schedule> tiles(s);

  // Prologue
  load_share(shared_out, s, s.below(static_cast<int>(blockIdx.y)), thread);
  // The first threads bring the share, those behind them U's tile.
  const int chunk = thread ^ RodiniaTile::chunks;
  HeldTile held(s, tiles.begin, s.side(), chunk);
  held.store(beside, chunk);
  dsm::cluster_sync();
  gather(below, shared_out, thread, internal_threads);
  dsm::cluster_arrive();

  // Main loop
  const int row = thread / tile, column = thread % tile;
  const std::int64_t r = s.next() + std::int64_t{blockIdx.y} * tile + row;
  for (int i = tiles.begin; i < tiles.end; ++i) {
    if (walks) {
      if (i > tiles.begin) held.store(beside, chunk);
      held = HeldTile(s, i + 1, tiles.end, chunk);
    }
    __syncthreads();
    const std::int64_t c = s.next() + std::int64_t{i} * tile + column;
    if (r < s.m.rows && c < s.m.columns) s.m.at(r, c) -= inner_product(below, beside, row, column);
    if (walks) __syncthreads();  // the tile has been read
  }
  dsm::cluster_wait();
}

/// Block 1 fetches the lower half of the diagonal block, block 0 the upper and, from its
/// neighbour's shared memory, the lower one; then it goes on alone.
struct SharedHalves {
  static constexpr int cluster = 2;
  static constexpr bool pads = false;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    float* const lu = reinterpret_cast<DiagonalBlock*>(shared)->lu;
    const int rank = static_cast<int>(dsm::rank());
    constexpr int half = panel_width * panel_width / 4 / cluster;
    for (int e = rank * half + thread; e < (rank + 1) * half; e += block_threads) {
      const BlockChunk c(e, size);
      if (c.inside) {
        *reinterpret_cast<float4*>(lu + c.row * block_pitch + c.column) =
            *reinterpret_cast<const float4*>(&p.matrix.at(first + c.row, first + c.column));
      }
    }
    dsm::cluster_sync();
    if (rank == 0) {
      for (int e = 4 * half + thread; e < panel_width * panel_width; e += block_threads) {
        float* const to = lu + e / panel_width * block_pitch + e % panel_width;
        if (e / panel_width < size) *to = dsm::load_float(dsm::remote_address(to, 1));
      }
    }
    dsm::cluster_sync();
    return rank == 0;
  }
};

/// An operand that both blocks need comes in parts, every second one by either, multicast to both.
/// A stage is empty when the warps of both have read it, because both write into it.
template <class TileT>
struct Multicast : BoxRing<TileT> {
  using Tile = TileT;
  using Ring = BoxRing<Tile>;
  using Diagonal = SharedHalves;
  using View = BlockedMaps;
  using Ring::consumer, Ring::produced, Ring::slices, Ring::storage, Ring::t;
  static constexpr int cluster = 2, stages = Ring::stages;
  static constexpr int a_rows = Tile::a_half_rows, b_rows = Tile::b_half_rows;
  static constexpr int b_columns = Tile::b_half_columns;
  static constexpr int a_part = a_rows * Tile::k * 4, b_part = b_rows * b_columns * 4;
  static constexpr std::uint16_t everyone = (1 << cluster) - 1;

  static View view(const Problem& p) { return blocked_maps(p, a_rows, Tile::k, b_rows, b_columns); }

  const Problem& problem;

  __device__ Multicast(unsigned char* shared, const View& view, const Problem& p,
                       const TileProduct& tile, int thread)
      : Ring(shared, view, tile), problem(p) {
    this->init(thread, cluster * Tile::threads / 32);
    dsm::cluster_sync();  // before anyone's copies arrive
    if (Tile::loads(thread)) {
#pragma unroll 1
      for (int s = 0; s < stages - 1; ++s) produce(Tile::loader(thread));
    }
  }

  /// A producer's parts of the next slice.
  __device__ void produce(int loader) {
    if (produced == slices) return;
    this->acquire_empty();
    // All parts of both operands, whoever sends them; the phase is not complete before this.
    if (loader == 0) tma::expect(this->full_of_next(), Tile::bytes_of_slice(t));
    load_slice(this->next_stage(), this->full_of_next(), loader);
    this->advance();
  }
  __device__ __forceinline__ void load_slice(unsigned char* to, tma::Barrier* full,
                                             int loader) const {
    const CUtensorMap* const a_map = this->map_of_a();
    const CUtensorMap* const b_map = this->map_of_b();
    const int rank = static_cast<int>(dsm::rank());
    const int column = t.a_column + produced * Tile::k, line = t.b_row + produced * Tile::k;
    const int a_bytes = Tile::boxes_of_a(t) * Tile::a_bytes;
    const int of_a = a_bytes / a_part, all = of_a + Tile::boxes_of_b(t) * Tile::b_bytes / b_part;
#pragma unroll Tile::loaders == 1 ? 4 : 1
    for (int i = loader; i < all; i += Tile::loaders) {
      const bool is_a = i < of_a;
      const int part = is_a ? i : i - of_a;
      const bool shared_by_both = is_a == t.shares_a;
      if (shared_by_both && part % cluster != rank) continue;
      unsigned char* const place = to + (is_a ? part * a_part : a_bytes + part * b_part);
      const CUtensorMap* const map = is_a ? a_map : b_map;
      // A's parts lie one below the other, and so do B's if they are not as high as the slice.
      const bool below = b_rows < Tile::k;
      const int from_column = is_a ? column : t.b_column + (below ? 0 : part * b_columns);
      const int from_row = is_a ? t.a_row + part * a_rows : line + (below ? part * b_rows : 0);
      if (shared_by_both) {
        tma::load_tile_multicast(place, map, from_column, from_row, full, everyone);
      } else {
        tma::load_tile(place, map, from_column, from_row, full);
      }
    }
  }

  __device__ void acquire() {
    const int thread = static_cast<int>(threadIdx.x);
    if (Tile::loads(thread)) produce(Tile::loader(thread));
    this->wait_full();
  }
  __device__ void release() {
    __syncwarp();
    if (threadIdx.x % 32 < cluster) {
      dsm::arrive_read(dsm::remote_address(storage.empty + consumer.index, threadIdx.x % 32));
    }
    ++consumer;
  }
  __device__ void finish(const typename Tile::Accumulator& acc, int thread) const {
    dsm::cluster_arrive();
    if (t.inside) finish_in_global<Tile>(acc, problem.matrix, t, thread);
    dsm::cluster_wait();  // nobody leaves while its barriers are still arrived at
  }
};

template <class Schedule>
ConfigOf<Problem> original() {
  const auto internal = rodinia_internal<Schedule>;
  ConfigOf<Problem> config;
  config.info = rodinia_info<Schedule>(
      1, {{reinterpret_cast<const void*>(internal), internal_threads, 0, tile_cluster,
           RodiniaTile::bytes + share * sizeof(float)},
          {reinterpret_cast<const void*>(rodinia_perimeter), 32, 0, tile_cluster},
          {reinterpret_cast<const void*>(rodinia_diagonal), 32, 0, tile_cluster}});
  config.info.geometry.push_back({"cluster_blocks", tile_cluster});
  config.prepare = [=](const Problem& p, const Device&) -> Launch {
    const auto whole = [](unsigned blocks) {
      return static_cast<unsigned>(round_up(blocks, tile_cluster));
    };
    return rodinia(
        p,
        [](const RodiniaStep& s, Stream stream) {
          launch(rodinia_diagonal, {dim3(tile_cluster), dim3(32), 0, tile_cluster}, stream, s);
        },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(rodinia_perimeter, {dim3(whole(side)), dim3(32), 0, tile_cluster}, stream, s,
                 static_cast<int>(side));
        },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          const dim3 grid = internal_grid<Schedule>(side);
          launch(internal, {dim3(whole(grid.x), side), dim3(internal_threads), 0, tile_cluster},
                 stream, s);
        });
  };
  return config;
}

const bool registered = register_variant<Problem>(
    "lud", Strategy::dsm, configs<Multicast>(original<Iso>(), original<IsoWalk>()));

}  // namespace
}  // namespace amasia::lud
