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
  int relative[CHUNKS];           // where read 0 of its chunks comes from

  __device__ Mover(const Work& work, const CUtensorMap&)
      : ring(work, work.shape.reads * CHUNKS * static_cast<int>(blockDim.x)) {
#pragma unroll
    for (int j = 0; j < CHUNKS; ++j)
      relative[j] = work.shape.relative(work.shape.start_of(chunk(j)));
  }

  __device__ static int lane() { return static_cast<int>(threadIdx.x); }
  __device__ static int chunk(int j) { return j * static_cast<int>(blockDim.x) + lane(); }

  /// Where read k of the j-th chunk comes from. Up, down, left or right in a grid is a step that is
  /// the same for all chunks.
  __device__ int relative_of(int j, int k) const {
    const Shape& s = ring.work.shape;
    if (s.halo == 0) return k == 0 ? relative[j] : s.relative(s.read_at(chunk(j), k));
    const Place step = s.step_of(k);
    return relative[j] + step.row * static_cast<int>(s.pitch) + step.chunk;
  }
  template <async::Cache CACHE>
  __device__ void copy(int stage) const {
    const Shape& s = ring.work.shape;
    const unsigned first = async::shared_address(ring.stage(stage) + threadIdx.x);
#pragma unroll 1
    for (int k = 0; k < s.reads; ++k) {
#pragma unroll
      for (int j = 0; j < CHUNKS; ++j) {
        if (chunk(j) < s.inner()) {
          async::copy16<CACHE>(
              first + 16U * static_cast<unsigned>(k * CHUNKS + j) * blockDim.x,
              ring.work.in + ring.next.source(s, relative_of(j, k), ring.work.numbers));
        }
      }
    }
  }
  __device__ void ask(int stage) {
    if (ring.has_next()) {
      if (ring.work.shape.reads > 1) {
        copy<async::Cache::l1_too>(stage);
      } else {
        copy<async::Cache::l2>(stage);
      }
      ring.asked();
    }
    async::commit();
  }
  __device__ void start() {
#pragma unroll 1
    for (int s = 0; s < ring.work.stages - 1; ++s) ask(s);
  }
  __device__ void bring() {
    wait_for_oldest(ring.work.stages);
    ask(ring.last);
    slots = ring.stage(ring.current) + threadIdx.x;
    ring.advance();
  }
  __device__ float4 read(int j, int k, int) const {
    return slots[(k * CHUNKS + j) * static_cast<int>(blockDim.x)];
  }
  __device__ static void release() {}
  __device__ static void finish() {}
};

std::size_t private_slots(const Shape& s, const Traits& t) {
  return 16U * static_cast<std::size_t>(t.reads * chunks_per_thread(s, t.threads) * t.threads);
}

}  // namespace

Way drop_off_way() {
  return {Strategy::drop_off,
          kernels_of<Mover>(),
          {at_least(2, "LDGSTS", "cp.async", false), {"UBLKCP", "cp.async.bulk", 0, false}},
          private_slots};
}

}  // namespace amasia::twin
