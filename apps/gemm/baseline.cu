// gemm/baseline: pieces of A and B through registers into shared memory. At iso it is the sample's
// kernel; in the persistent schedule a piece of the next slice is fetched while a chunk is
// multiplied and stored while the next chunk is, so that a thread holds two pieces, not sixteen.
#include "apps/gemm/held_pieces.cuh"
#include "apps/gemm/mma_tile.cuh"
#include "apps/gemm/original.cuh"

namespace amasia::gemm {
namespace {

struct ThroughRegisters : SharedTiles<1> {
  static constexpr int shared_bytes = pair_bytes, bytes_in_flight = pair_bytes;
  NextElements own;

  __device__ ThroughRegisters(unsigned char* shared, View, const Problem& p, std::int64_t row,
                              std::int64_t column, int)
      : SharedTiles(shared), own({p, row, column}) {}
  __device__ void acquire(int s) {
    a_tile(s)[threadIdx.x] = own.a.has(s) ? *own.a.next : 0.0f;
    b_tile(s)[threadIdx.x] = own.b.has(s) ? *own.b.next : 0.0f;
    own.move_on();
    __syncthreads();
  }
  __device__ void release(int) const { __syncthreads(); }
};

// A chunk takes mma an eighth of the time that it takes FFMA, less than a load: with 8 warps, which
// have fewer elements of C, a thread holds half a slice.
template <Mode MODE>
using HalfSlice = Staging<MmaTile<MODE, 128, 32>, SharedWalk, 4>;

const char* const uneven =
    "a thread's 12 pieces of a slice do not divide evenly over its 8 chunks, and a load under a "
    "condition is waited for where the ways join";

const char* const few_registers =
    "beside 128 elements of C a thread has registers for a quarter of a slice, which mma.sync is "
    "done with before the loads are: 8 warps of 64 x 32 hold half a slice";

const char* const no_registers =
    "a producing thread that holds half a slice leaves those that multiply fewer registers than "
    "they need";

std::vector<Declined> declined() {
  auto all = decline({ffma_128x256.whole, tf32_mma_128x256.whole, bf16_mma_128x256.whole}, uneven);
  for (const TileSchedule& t : {tf32_mma_128x128, bf16_mma_128x128}) {
    for (Declined& d : decline({t.whole, t.shared}, few_registers)) all.push_back(std::move(d));
  }
  for (Declined& d : decline({ffma_producer_128x256.whole, bf16_ping_pong_128x192.whole,
                              bf16_tn_ping_pong_128x192.whole, e4m3_ping_pong_128x192.whole,
                              tf32x3_producer_128x192.whole},
                             no_registers)) {
    all.push_back(std::move(d));
  }
  return all;
}

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{iso<ThroughRegisters>(),
                                     shared<Staging<Fp32Tile<128>, SharedWalk>>(2),
                                     persistent<Staging<Fp32Tile<128>>>(2)};
  add_wgmma<WgmmaStaging>(all, 3);
  all.push_back(persistent<HalfSlice<Mode::tf32>>(2));
  all.push_back(persistent<HalfSlice<Mode::bf16>>(2));
  add_roles<RegisterProducer>(all);
  return all;
}

const bool registered =
    register_variant<Problem>("gemm", Strategy::baseline, configs(), declined());

}  // namespace
}  // namespace amasia::gemm
