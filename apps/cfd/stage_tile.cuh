// A tile of 256 elements in shared memory: everything that a stage reads of them, in arrays that
// are as contiguous as in global memory. Neighbours outside the tile are no part of it.
#pragma once

#include "apps/cfd/records.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::cfd {

struct StageTile {
  alignas(128) Record own[tile_threads];
  alignas(128) Record old[tile_threads];
  alignas(128) Face face[faces][tile_threads];
  alignas(128) float root_of_area[tile_threads];

  /// What no stage writes, of the thread's own element: a chunk of 16 bytes for each face.
  __device__ void copy_faces(const StageView& v, std::int64_t first) {
    const int t = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int f = 0; f < faces; ++f) {
      async::copy16(async::shared_address(&face[f][t]), v.faces + f * v.pitch + first + t);
    }
    async::copy<4>(&root_of_area[t], v.roots + first + t);
  }
  /// The records, a chunk of two neighbouring ones for each thread and half.
  __device__ void copy_own(const StageView& v, std::int64_t first) {
    const unsigned to = async::shared_address(own) + 16 * threadIdx.x;
    const auto* const from = reinterpret_cast<const float4*>(v.now + first) + threadIdx.x;
    async::copy16(to, from);
    async::copy16(to + 16 * tile_threads, from + tile_threads);
  }
  /// What the thread's element was before the iteration; in the first stage it is `own`.
  __device__ void copy_old(const StageView& v, std::int64_t first) {
    if (v.stage == 0) return;
    const unsigned to = async::shared_address(old + threadIdx.x);
    const auto* const from = reinterpret_cast<const float4*>(v.old + first + threadIdx.x);
    async::copy16(to, from);
    async::copy16(to + 16, from + 1);
  }

  __device__ Flux flux(const StageView& v, std::int64_t first) const {
    const int t = static_cast<int>(threadIdx.x);
    Face mine[faces];
#pragma unroll
    for (int f = 0; f < faces; ++f) mine[f] = load_face(&face[f][t]);
    return flux_of(v, load_record(own + t), mine, FromTile{v, own, first});
  }
  __device__ Record after(const StageView& v, const Flux& flux) const {
    const int t = static_cast<int>(threadIdx.x);
    return after_stage(v, v.stage > 0 ? load_record(old + t) : load_record(own + t),
                       root_of_area[t], flux);
  }
};

/// Bytes of a tile that a block has in flight at once.
inline constexpr std::size_t stage_tile_bytes = sizeof(StageTile);

}  // namespace amasia::cfd
