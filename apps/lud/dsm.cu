// lud/dsm: blocks that share a panel's tile form a cluster and each brings its half of it,
// multicast to both; so each panel is read once per cluster. In iso, eight blocks share a tile by
// messages (rodinia_cluster.cuh).
#include "apps/lud/boxes.cuh"
#include "apps/lud/pieces.cuh"
#include "apps/lud/rodinia_cluster.cuh"
#include "variants/ptx/global_memory.cuh"

namespace amasia::lud {
namespace {

/// Block 0 fetches the upper half of the diagonal block; block 1 the lower one, which it sends into
/// its neighbour's shared memory, 16 bytes a message. Block 0 goes on alone.
struct SentHalf {
  static constexpr int cluster = 2;
  static constexpr bool pads = false;
  static constexpr int chunks = panel_width * panel_width / 4 / cluster / block_threads;
  static constexpr int half_rows = panel_width / cluster;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    float* const lu = reinterpret_cast<DiagonalBlock*>(shared)->lu;
    auto* const full = reinterpret_cast<tma::Barrier*>(shared + sizeof(DiagonalBlock));
    const int rank = static_cast<int>(dsm::rank());
    if (thread == 0) {
      tma::init(full, 1);
      tma::fence_init();
    }
    dsm::cluster_arrive_initialised();
    int4 held[chunks];
    const auto chunk = [&](int i) {
      return BlockChunk((rank * chunks + i) * block_threads + thread, size);
    };
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      const BlockChunk c = chunk(i);
      if (c.inside) held[i] = global::load16(&p.matrix.at(first + c.row, first + c.column));
    }
    dsm::cluster_wait();
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      const BlockChunk c = chunk(i);
      float* const to = lu + c.row * block_pitch + c.column;
      if (!c.inside) continue;
      if (rank == 0) {
        *reinterpret_cast<int4*>(to) = held[i];
      } else {
        dsm::store_async(dsm::remote_address(to, 0), held[i], dsm::remote_address(full, 0));
      }
    }
    if (rank != 0) return false;
    if (thread == 0) {
      const int rows = size > half_rows ? size - half_rows : 0;
      tma::expect(full, static_cast<unsigned>(rows * ((size + 3) / 4) * 16));
    }
    tma::wait(full, 0);
    __syncthreads();
    return true;
  }
};

/// An operand that both blocks need comes in parts, every second one by either, multicast to both.
/// A stage is empty when the warps of both have read it, because both write into it.
template <class Tile>
struct Multicast : BoxRing<Multicast<Tile>, Tile, 2, Tile::a_half_rows> {
  using Ring = BoxRing<Multicast, Tile, 2, Tile::a_half_rows>;
  using Diagonal = SentHalf;
  using Ring::cluster, Ring::produced, Ring::t;
  static constexpr int a_rows = Tile::a_half_rows, b_rows = Tile::b_half_rows;
  static constexpr int b_columns = Tile::b_half_columns;
  static constexpr int a_part = a_rows * Tile::k * 4, b_part = b_rows * b_columns * 4;
  static constexpr std::uint16_t everyone = (1 << cluster) - 1;

  static BlockedMaps view(const Problem& p) {
    return blocked_maps(p, a_rows, Tile::k, b_rows, b_columns);
  }

  const Problem& problem;

  __device__ Multicast(unsigned char* shared, const BlockedMaps& view, const Problem& p,
                       const TileProduct& tile, int thread)
      : Ring(shared, view, tile), problem(p) {
    this->begin(thread);
  }

  /// A producer's parts of the next slice or stage of C. The phase counts all parts of both
  /// operands, whichever block sends them, and is not complete before this block expects them.
  __device__ void produce(int loader) {
    if (produced == Ring::slices) return;
    this->acquire_empty();
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

  __device__ void finish(const typename Tile::Accumulator& acc, int thread) {
    if (t.inside) finish_in_global<Tile>(acc, problem.matrix, t, thread);
    // Nobody leaves while its barriers are still arrived at: every stage has been read by all.
    if (Tile::loads(thread)) {
#pragma unroll 1
      for (int s = 0; s < Ring::stages; ++s, ++this->producer) {
        this->acquire_empty();
      }
    }
  }
};

const bool registered = register_variant<Problem>(
    "lud", Strategy::dsm,
    configs<Multicast>(rodinia_in_clusters<Iso>(), rodinia_in_clusters<IsoWalk>()));

}  // namespace
}  // namespace amasia::lud
