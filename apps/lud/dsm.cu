// lud/dsm: blocks that share a panel's tile form a cluster and each brings its half of it,
// multicast to both; so each panel is read once per cluster. In iso, eight blocks share a tile by
// messages (rodinia_cluster.cuh).
#include "apps/lud/blocked.cuh"
#include "apps/lud/box_ring.cuh"
#include "apps/lud/diagonal_sent.cuh"
#include "apps/lud/panel_boxes.cuh"
#include "apps/lud/rodinia_cluster.cuh"
#include "apps/lud/tensor_boxes.cuh"
#include "variants/ptx/cluster_begin.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::lud {
namespace {

/// An operand that both blocks need comes in parts, every second one by either, multicast to both.
/// A stage is empty when the warps of both have read it, because both write into it.
template <class TileT>
struct Multicast : BoxRing<TileT, TileT::a_half_rows> {
  using Tile = TileT;
  using Ring = BoxRing<Tile, Tile::a_half_rows>;
  using Diagonal = SentHalf;
  using Panel = PanelBoxes<2>;
  using Feed = TensorBoxes<2>;
  using View = BlockedMaps;
  using Ring::consumer, Ring::produced, Ring::storage, Ring::t;
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
    dsm::cluster_arrive_initialised();
    dsm::cluster_wait();  // before anyone's copies arrive
    if (Tile::loads(thread)) {
#pragma unroll 1
      for (int s = 0; s < stages - 1; ++s) produce(Tile::loader(thread));
    }
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
  __device__ void finish(const typename Tile::Accumulator& acc, int thread) {
    if (t.inside) finish_in_global<Tile>(acc, problem.matrix, t, thread);
    // Nobody leaves while its barriers are still arrived at: every stage has been read by all.
    if (Tile::loads(thread)) {
#pragma unroll 1
      for (int s = 0; s < stages; ++s, ++this->producer) {
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
