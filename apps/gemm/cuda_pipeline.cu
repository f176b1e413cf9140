// gemm/cuda_pipeline: what gemm/overlap does for its fp32 tile of 128 x 128, implemented with
// libcu++: cuda::memcpy_async into a cuda::pipeline of thread scope, in place of the suite's own
// PTX. Tile, walk, stages and the order of the copies are those of overlap, so that the two differ
// by the implementation alone. The library makes the same cp.async of it, and below sm_80 plain
// copies.
#include <cuda/pipeline>

#include "apps/gemm/staged.cuh"

namespace amasia::gemm {
namespace {

using Pipeline = cuda::pipeline<cuda::thread_scope_thread>;

template <class Tile, class Walk = WalkOf<Tile>>
struct PipelineRing : PieceMover<Tile, Walk> {
  static constexpr std::size_t shared_bytes(int stages) {
    return static_cast<std::size_t>(stages) * Tile::slice_bytes;
  }
  static constexpr int bytes_in_flight(int stages) { return (stages - 1) * Tile::slice_bytes; }

  unsigned char* slices;  // for the library, which takes pointers
  unsigned ring;          // their shared address, for the tile's loads
  Ahead<Tile, Walk> ahead;
  Target<Tile> target;
  Pipeline pipeline = cuda::make_pipeline();
  int thread, stages, stage = 0;

  __device__ PipelineRing(unsigned char* shared, NoMaps, const Problem& p, const Walk& walk,
                          int count)
      : slices(shared),
        ring(async::held_address(shared)),
        ahead(p, walk, static_cast<int>(threadIdx.x)),
        target(0, static_cast<int>(threadIdx.x)),
        thread(static_cast<int>(threadIdx.x)),
        stages(count) {
    target.enter(0);
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
#pragma unroll
      for (int chunk = 0; chunk < Pieces<Tile>::count / Pieces<Tile>::per_chunk; ++chunk) {
        between(chunk);
      }
      end_slice();
    }
  }
  __device__ void between(int chunk) {
    if (!ahead.more() || !Pieces<Tile>::due(chunk)) return;
    Source& from = ahead.pieces_from(Pieces<Tile>::per_chunk, thread);
    target.template take<Pieces<Tile>::per_chunk>([&](unsigned to) {
      cuda::memcpy_async(static_cast<void*>(slices + to), from.take(), cuda::aligned_size_t<16>(16),
                         pipeline);
    });
  }
  __device__ void end_slice() {
    pipeline.producer_commit();
    ahead.next_slice(stages, thread);
    target.enter(ahead.stage);
  }
  __device__ void acquire() {
    switch (stages) {  // batches that may be unfinished when the oldest has to be there
      case 2:
        cuda::pipeline_consumer_wait_prior<0>(pipeline);
        break;
      default:
        cuda::pipeline_consumer_wait_prior<1>(pipeline);
    }
    __syncthreads();  // the slice is there for all, and the one before it is read by all
    pipeline.producer_acquire();
  }
  __device__ unsigned here() const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ typename Tile::Left left(int t) const { return {here(), t}; }
  __device__ unsigned b() const { return here() + Tile::a_bytes; }
  __device__ void release() {
    end_slice();
    pipeline.consumer_release();
    if (++stage == stages) stage = 0;
  }
  __device__ void leave() { cuda::pipeline_consumer_wait_prior<0>(pipeline); }
};

using Tile128 = Fp32Tile<128>;

const bool registered = register_comparator<Problem>(
    "gemm", "cuda_pipeline", Strategy::overlap,
    {shared<PipelineRing<Tile128, SharedWalk>>({2}), shared<PipelineRing<Tile128, SharedWalk>>({3}),
     persistent<PipelineRing<Tile128>>({2}), persistent<PipelineRing<Tile128>>({3})});

}  // namespace
}  // namespace amasia::gemm
