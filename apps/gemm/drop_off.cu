// gemm/drop_off: a thread's own rows of A travel to slots of its own, and it waits for its own
// copies alone (Svedin et al. 2021, algorithm 3). Every thread that works on a row copies it for
// itself, so A passes through L1 8 or 16 times as often as in overlap; the price of privacy in a
// product. B is shared by the block and comes as in overlap, a block barrier per slice.
#include "apps/gemm/original.cuh"
#include "apps/gemm/own_slots.cuh"
#include "apps/gemm/staged.cuh"

namespace amasia::gemm {
namespace {

// iso: 4 columns of the thread's row of A at a time, the next 4 in flight; two tiles of B.
struct OwnRow : WithoutMaps {
  static constexpr int cluster = 1, stages = 2;
  static constexpr int slots = 2, chunks = side / 4;
  static constexpr int slot_bytes = iso_threads * 16;
  static constexpr int shared_bytes = slots * slot_bytes + stages * Side::bytes;
  static constexpr int bytes_in_flight = slot_bytes + Side::bytes;
  const float* next_a;  // 4 columns of the thread's row: there are `chunks` times 4 in a tile
  int chunks_of_a;      // none where the thread is below the matrix
  ElementsOfB own_b;
  float4* slot;
  float* b_tiles;
  float2 held{};  // 2 of the 4: with all 4 it is 36 registers, with which an SM has one block

  __device__ OwnRow(unsigned char* shared, View, const Problem& p, std::int64_t row,
                    std::int64_t column, int tiles)
      : OwnRow(shared, OwnElements(p, row, column), tiles) {}
  // The padding of A's rows is zero up to the end of the last tile.
  __device__ OwnRow(unsigned char* shared, const OwnElements& own, int tiles)
      : next_a(&own.a.at(own.row, 0)),
        chunks_of_a(own.row < own.a.rows ? tiles * chunks : 0),
        own_b(own),
        slot(reinterpret_cast<float4*>(shared) + threadIdx.x),
        b_tiles(reinterpret_cast<float*>(shared + slots * slot_bytes)) {
    copy_b(0);
    copy_a(0);
    async::commit();
  }
  __device__ void copy_a(int chunk) {
    async::copy<16>(slot + chunk % slots * iso_threads, next_a, chunk < chunks_of_a ? 16 : 0);
    next_a += 4;
  }
  __device__ void copy_b(int s) {
    async::copy<4>(b_tiles + s % stages * side_elements + threadIdx.x, own_b.next,
                   own_b.has(s) ? 4 : 0);
    own_b.move_on();
  }
  __device__ void acquire(int) const {
    async::wait<0>();
    __syncthreads();  // the tile of B, everybody's; the slot is the thread's own
  }
  __device__ float a(int s, int i) {
    const int chunk = i / 4;
    if (i % 4 == 0) {
      if (chunk > 0) async::wait<0>();
      copy_a(s * chunks + chunk + 1);
      if (chunk == 0) copy_b(s + 1);
      async::commit();
    }
    if (i % 2 == 0) {
      const float4* here = slot + chunk % slots * iso_threads;
      held = reinterpret_cast<const float2*>(here)[i % 4 / 2];
    }
    return i % 2 == 0 ? held.x : held.y;
  }
  __device__ float b(int s, int i) const {
    return b_tiles[s % stages * side_elements + i * side + tile_column()];
  }
  __device__ void release(int) const {}
  __device__ void leave() const { async::wait<0>(); }
};

std::vector<Declined> declined() {
  std::vector<std::string_view> tensor_cores = mma_schedules();
  for (std::string_view name : wgmma_schedules()) tensor_cores.push_back(name);
  auto all =
      decline(tensor_cores,
              "on tensor cores no thread owns a row of A: a fragment is spread over the warp");
  all.push_back(
      {std::string(ffma_128x128.shared), "at 255 registers the position in a shared sum spills"});
  for (Declined& d : decline(both({ffma_producer_128x256}),
                             "rows of A go into slots of the very thread that multiplies them: no "
                             "other warp brings them")) {
    all.push_back(std::move(d));
  }
  return all;
}

const bool registered =
    register_variant<Problem>("gemm", Strategy::drop_off,
                              {iso<OwnRow>(), persistent<OwnSlots<Fp32Tile<256>>>({3}),
                               persistent<OwnSlots<Fp32Tile<128>>>({3})},
                              declined());

}  // namespace
}  // namespace amasia::gemm
