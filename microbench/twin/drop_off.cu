// twin/drop_off: each thread copies into slots of its own what it will read itself, so that nobody
// waits for anybody. Where threads read what others read too, each copies it again: as many times
// the shared memory, and the L1 brings what other warps have fetched.

#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover {
  Ring ring;
  const float4* slots = nullptr;  // (reads, CHUNKS, threads)

  __device__ explicit Mover(const Work& work)
      : ring(work, work.shape.reads * CHUNKS * static_cast<int>(blockDim.x)) {}

  __device__ static int lane() { return static_cast<int>(threadIdx.x); }

  template <async::Cache CACHE>
  __device__ void copy(std::int64_t tile, int stage) const {
    const Shape& s = ring.work.shape;
    const unsigned first = async::shared_address(ring.stage(stage) + threadIdx.x);
#pragma unroll 1
    for (int k = 0; k < s.reads; ++k) {
#pragma unroll
      for (int j = 0; j < CHUNKS; ++j) {
        const int i = j * static_cast<int>(blockDim.x) + lane();
        if (i < s.inner()) {
          async::copy16<CACHE>(first + 16U * static_cast<unsigned>(k * CHUNKS + j) * blockDim.x,
                               ring.work.in + s.source(tile, s.read_at(i, k), ring.work.numbers));
        }
      }
    }
  }
  __device__ void ask(int n, int stage) const {
    if (n < ring.walk.count) {
      if (ring.work.shape.reads > 1) {
        copy<async::Cache::l1_too>(ring.walk.tile(n), stage);
      } else {
        copy<async::Cache::l2>(ring.walk.tile(n), stage);
      }
    }
    async::commit();
  }
  __device__ void start() const {
#pragma unroll 1
    for (int n = 0; n < ring.work.stages - 1; ++n) ask(n, n);
  }
  __device__ void bring(int n) {
    wait_for_oldest(ring.work.stages);
    ask(n + ring.work.stages - 1, ring.last);
    slots = ring.stage(ring.current) + threadIdx.x;
    ring.advance();
  }
  __device__ float4 read(int j, int, int k) const {
    return slots[(k * CHUNKS + j) * static_cast<int>(blockDim.x)];
  }
  __device__ void release() const {}
};

template <int CHUNKS>
__global__ void __launch_bounds__(most_threads(CHUNKS), 1)
    twin_drop_off(const __grid_constant__ Work work, const __grid_constant__ CUtensorMap) {
  Mover<CHUNKS> mover(work);
  walk_tiles<CHUNKS>(work, mover);
}

std::size_t private_slots(const Shape& s, const Traits& t) {
  return 16U * static_cast<std::size_t>(t.reads * chunks_per_thread(s, t.threads) * t.threads);
}

}  // namespace

Way drop_off_way() {
  return {Strategy::drop_off,
          {twin_drop_off<1>, twin_drop_off<2>, twin_drop_off<4>, twin_drop_off<8>},
          private_slots,
          all_stages,
          1,
          false,
          0,
          no_objection,
          {{"LDGSTS", "cp.async", 2, false, 0, -1, true}, {"UBLKCP", "cp.async.bulk", 0, false}}};
}

}  // namespace amasia::twin
