// lud/tma: one elected thread names boxes of the matrix, an mbarrier per stage counts their bytes.
// The elements of C travel as boxes, too (boxes.cuh), so nobody computes an address of global
// memory. Boxes end at the matrix's edge by themselves.
#include "apps/lud/boxes.cuh"
#include "apps/lud/rodinia_boxes.cuh"

namespace amasia::lud {
namespace {

/// Rows by bulk copies, because rows in shared memory lie further apart than a box's.
struct BulkRows {
  static constexpr int cluster = 1;
  static constexpr bool pads = false;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    auto& d = *reinterpret_cast<DiagonalBlock*>(shared);
    auto* const full = reinterpret_cast<tma::Barrier*>(shared + sizeof(DiagonalBlock));
    if (thread == 0) {
      tma::init(full, 1);
      tma::fence_init();
    }
    __syncthreads();
    const unsigned row_bytes =
        static_cast<unsigned>((size + 3) / 4 * 16);  // the padding is readable
    if (thread == 0) tma::expect(full, static_cast<unsigned>(size) * row_bytes);
    if (thread % 32 == 0) {  // one warp alone would take longer than the rows do
      for (int row = thread / 32; row < size; row += block_threads / 32) {
        tma::load_bytes(d.lu + row * block_pitch, &p.matrix.at(first + row, first), row_bytes,
                        full);
      }
    }
    tma::wait(full, 0);
    __syncthreads();
    return true;
  }
};

/// Every operand in boxes.
template <class Tile>
struct Bulk : BoxRing<Bulk<Tile>, Tile, 1, Tile::a_box_rows> {
  using Ring = BoxRing<Bulk, Tile, 1, Tile::a_box_rows>;
  using Diagonal = BulkRows;
  using Ring::produced, Ring::t;

  static BlockedMaps view(const Problem& p) {
    return blocked_maps(p, Tile::a_box_rows, Tile::k, Tile::k, Tile::b_box_columns);
  }

  __device__ Bulk(unsigned char* shared, const BlockedMaps& view, const Problem&,
                  const TileProduct& tile, int thread)
      : Ring(shared, view, tile) {
    this->begin(thread);
  }

  /// A producer's boxes of the next slice or stage of C.
  __device__ void produce(int loader) {
    if (this->all_produced()) return;
    this->acquire_empty();
    this->expect_next(loader);
    if (this->next_is_c()) {
      this->load_c(loader);
    } else {
      load_slice(this->next_stage(), this->full_of_next(), loader);
    }
    this->advance();
  }
  __device__ __forceinline__ void load_slice(unsigned char* to, tma::Barrier* full,
                                             int loader) const {
    const int k = produced * Tile::k;
    const int of_a = Tile::boxes_of_a(t), all = of_a + Tile::boxes_of_b(t);
    const CUtensorMap* const a_map = this->map_of_a();
    const CUtensorMap* const b_map = this->map_of_b();
#pragma unroll Tile::loaders == 1 ? 2 : 1
    for (int box = loader; box < all; box += Tile::loaders) {
      const bool is_a = box < of_a;
      const int of_operand = is_a ? box : box - of_a;
      tma::load_tile(to + (is_a ? 0 : of_a * Tile::a_bytes) +
                         of_operand * (is_a ? Tile::a_bytes : Tile::b_bytes),
                     is_a ? a_map : b_map,
                     is_a ? t.a_column + k : t.b_column + of_operand * Tile::b_box_columns,
                     is_a ? t.a_row + of_operand * Tile::a_box_rows : t.b_row + k, full);
    }
  }
};

const bool registered = register_variant<Problem>(
    "lud", Strategy::tma, configs<Bulk>(rodinia_in_boxes<Iso>(), rodinia_in_boxes<IsoWalk>()));

}  // namespace
}  // namespace amasia::lud
