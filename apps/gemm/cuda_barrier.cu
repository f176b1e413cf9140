// gemm/cuda_barrier: what gemm/tma does for its fp32 tile of 128 x 128, implemented with libcu++:
// boxes by tensor map, of which a cuda::barrier counts the bytes, in place of the suite's own PTX.
// Tile, walk, stages and who waits for what are those of tma, so that the two differ by the
// implementation alone.
//
// In CUDA 13.0 the library waits by parity without telling the compiler that memory changes with
// it. The loads of this tile are volatile (load_float4), and the compiler keeps those in order.
#include <cuda/barrier>

#include "apps/gemm/boxes.cuh"

namespace amasia::gemm {
namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;

template <class TileT, class WalkT = WalkOf<TileT>>
struct BarrierBoxes : BoxSource<TileT, WalkT> {
  using Tile = TileT;
  using Walk = WalkT;
  using View = Maps;
  using Base = BoxSource<TileT, WalkT>;
  static_assert(Base::b_boxes == 1);
  static View view(const Problem& p) { return box_maps<Tile>(p, BoxesOfB<Tile>::rows); }
  static constexpr int cluster = 1;
  static constexpr std::size_t shared_bytes(int stages) {
    return static_cast<std::size_t>(stages) * (Tile::slice_bytes + 2 * sizeof(Barrier));
  }
  static constexpr int bytes_in_flight(int stages) { return (stages - 1) * Tile::slice_bytes; }

  unsigned char* ring;
  unsigned base;            // its shared address
  Barrier *arrived, *read;  // per stage: its bytes are there; all warps have read them
  int stages;
  // The computation's place in the ring.
  int stage = 0;
  bool parity = false;
  int next = 0;             // the fetching thread's place in the ring
  bool next_parity = true;  // a ring's first round waits for nothing

  __device__ BarrierBoxes(unsigned char* shared, const View& view, const Problem&, const Walk& walk,
                          int count)
      : Base(view, walk),
        ring(shared),
        base(async::shared_address(shared)),
        arrived(reinterpret_cast<Barrier*>(shared + count * Tile::slice_bytes)),
        read(arrived + count),
        stages(count) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages; ++s) {
        init(arrived + s, 1);
        init(read + s, Tile::threads / 32);  // warps
      }
      cuda::device::experimental::fence_proxy_async_shared_cta();  // the engine sees them
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages - 2; ++s) fetch();
    }
#endif
  }
  __device__ void fetch() {
#if __CUDA_ARCH__ >= 900
    using cuda::device::experimental::cp_async_bulk_tensor_2d_global_to_shared;
    if (!this->more()) return;
    read[next].wait_parity(next_parity);
    unsigned char* const place = ring + next * Tile::slice_bytes;
    cp_async_bulk_tensor_2d_global_to_shared(place, &this->maps.a,
                                             this->at.slice * columns_of_128_bytes<Tile>, this->row,
                                             arrived[next]);
    cp_async_bulk_tensor_2d_global_to_shared(place + Tile::a_bytes, &this->maps.b,
                                             this->b_column(0), this->b_row(0), arrived[next]);
    static_cast<void>(cuda::device::barrier_arrive_tx(arrived[next], 1, Tile::slice_bytes));
    if (++next == stages) next = 0, next_parity = !next_parity;
    this->next_slice();
#endif
  }
  __device__ void acquire() {
    if (threadIdx.x == 0) fetch();
    arrived[stage].wait_parity(parity);
  }
  __device__ unsigned here() const {
    return base + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ typename Tile::Left left(int t) const { return {here(), t}; }
  __device__ unsigned b() const { return here() + Tile::a_bytes; }
  __device__ void between(int) const {}
  __device__ void release() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) static_cast<void>(read[stage].arrive());
    if (++stage == stages) stage = 0, parity = !parity;
  }
  __device__ void leave() const {}
};

ConfigOf<Problem> with_boxes(ConfigOf<Problem> config) {
  config.unsupported = [others = std::move(config.unsupported)](
                           const Problem& p, const Device& d) -> std::optional<std::string> {
    if (d.compute_capability < 90) return "boxes by tensor map exist from compute capability 9.0";
    return others(p, d);
  };
  return config;
}

using Tile128 = Fp32Tile<128>;

const bool registered =
    register_comparator<Problem>("gemm", "cuda_barrier", Strategy::tma,
                                 {with_boxes(shared<BarrierBoxes<Tile128, SharedWalk>>({3})),
                                  with_boxes(persistent<BarrierBoxes<Tile128>>({3}))});

}  // namespace
}  // namespace amasia::gemm
