// The diagonal block as two blocks of a cluster fetch it.
#pragma once

#include "apps/lud/blocked.cuh"
#include "variants/ptx/cluster_begin.cuh"
#include "variants/ptx/global_memory.cuh"
#include "variants/ptx/mbarrier.cuh"

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

}  // namespace
}  // namespace amasia::lud
