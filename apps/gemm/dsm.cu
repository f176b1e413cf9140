// gemm/dsm: two blocks, one below the other, need the same slices of B. Each brings half of every
// one and hands it to both, at iso by stores that travel as messages, in the persistent schedule by
// multicast boxes.
#include "apps/gemm/boxes.cuh"
#include "apps/gemm/original.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::gemm {
namespace {

inline constexpr int pair = 2;

/// iso: halves of B are sent by messages that the other block's mbarrier counts: a barrier of the
/// cluster per slice would be a fence over all of the device's memory, for each of 32 warps. The
/// other block sends slice s when it has received that of s - 1, which this one sent after a
/// barrier that all its threads reached when they had read s - 3: so three stages need no other
/// hand-shake.
struct HalfEach : SharedTiles<3> {
  static constexpr int cluster = pair;
  static constexpr int shared_bytes =
      stages * (pair_bytes + static_cast<int>(sizeof(tma::Barrier)));
  static constexpr int bytes_in_flight = pair_bytes;
  static constexpr unsigned half_bytes = sizeof(float) * side_elements / pair;
  NextElements own;
  tma::Barrier* full;  // one per stage: the other block's half
  PipelineState<stages> state;

  __device__ HalfEach(unsigned char* shared, View, const Problem& p, std::int64_t row,
                      std::int64_t column, int)
      : SharedTiles(shared),
        own({p, row, column}),
        full(reinterpret_cast<tma::Barrier*>(shared + stages * pair_bytes)) {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) tma::init(full + stage, 1);
      tma::fence_init();
    }
    dsm::cluster_sync();  // nobody sends to a block that has not begun
  }
  __device__ void acquire(int s) {
    const bool brings_b = tile_row() / (side / pair) == static_cast<int>(dsm::rank());
    const float a = own.a.has(s) ? *own.a.next : 0.0f;
    const float b = brings_b && own.b.has(s) ? *own.b.next : 0.0f;
    a_tile(s)[threadIdx.x] = a;
    if (brings_b) {
      b_tile(s)[threadIdx.x] = b;
      const unsigned other = dsm::rank() ^ 1;
      dsm::store_async(dsm::remote_address(b_tile(s) + threadIdx.x, other), __float_as_int(b),
                       dsm::remote_address(full + state.index, other));
    }
    if (threadIdx.x == 0) tma::expect(full + state.index, half_bytes);
    own.move_on();
    __syncthreads();  // this block's parts are there; those of s - 2 are read by all its threads
    tma::wait(full + state.index, state.phase);
    ++state;
  }
  __device__ void release(int) const {}
  // Nobody sends to a block that has left: it has received all that is ever sent to it.
};

/// The half of a slice of B that each block brings to both: half the boxes, or, where they are odd
/// in number, half the rows of each.
template <class Tile>
struct HalfOfB : matrix::SharingBlocks<pair> {
  static constexpr int all_boxes = BoxesOfB<Tile>::count;
  static constexpr bool splits_rows = all_boxes % pair != 0;
  static constexpr int rows = BoxesOfB<Tile>::rows / (splits_rows ? pair : 1);
  static constexpr int boxes = splits_rows ? all_boxes : all_boxes / pair;
  static constexpr int box_bytes = Tile::b_bytes / all_boxes;
  static constexpr std::uint16_t everyone = (1u << pair) - 1;
  static_assert(boxes >= 1 && box_bytes % 128 == 0 && everyone == 3, "whole rows, for both");

  static Maps view(const Problem& p) { return box_maps<Tile>(p, rows); }
  template <class Source>
  static __device__ void load(const Source& from, unsigned char* stage, tma::Barrier* barrier) {
    from.load_a(stage, barrier);
    const int rank = static_cast<int>(dsm::rank());
    const int first_row = splits_rows ? rank * rows : 0, first_box = splits_rows ? 0 : rank * boxes;
    unsigned char* const half = stage + Tile::a_bytes + first_box * box_bytes +
                                (splits_rows ? rank * (box_bytes / pair) : 0);
#pragma unroll
    for (int box = 0; box < boxes; ++box) {
      tma::load_tile_multicast(half + box * box_bytes, &from.maps.b, from.b_column(first_box + box),
                               from.b_row(first_box + box) + first_row, barrier, everyone);
    }
  }
};

const bool registered =
    register_variant<Problem>("gemm", Strategy::dsm, ByBoxes<HalfOfB>::configs(iso<HalfEach>()),
                              ByBoxes<HalfOfB>::declined());

}  // namespace
}  // namespace amasia::gemm
