// The faces of a block's elements in shared memory, in planes as at iso in global memory. 16-byte
// chunks of a plane belong to four elements, so all threads copy for all.
#pragma once

#include "apps/cfd/iso.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::cfd {

struct FacePlanes {
  alignas(128) std::int32_t neighbour[faces][iso_threads];
  alignas(128) float normal[faces][3][iso_threads];
  static constexpr std::size_t face_bytes = 4 * iso_threads * sizeof(float);

  __device__ Face face(int f) const {
    const int t = static_cast<int>(threadIdx.x);
    return {normal[f][0][t], normal[f][1][t], normal[f][2][t], neighbour[f][t]};
  }
  /// The first element of the block in a plane of the problem: 0 is that of neighbours, others the
  /// axes of normals.
  __device__ static const void* source(const IsoView& v, int f, int plane) {
    const std::int64_t first = std::int64_t{blockIdx.x} * iso_threads;
    if (plane == 0) return v.neighbours + f * v.pitch + first;
    return v.normals + ((plane - 1) * faces + f) * v.pitch + first;
  }
  __device__ void* place(int f, int plane) {
    return plane == 0 ? static_cast<void*>(neighbour[f]) : static_cast<void*>(normal[f][plane - 1]);
  }
  /// Copies a face of all elements: four planes of 48 chunks, one for each thread.
  __device__ void copy(const IsoView& v, int f) {
    constexpr int chunks = iso_threads / 4;
    const int plane = static_cast<int>(threadIdx.x) / chunks;
    const int chunk = static_cast<int>(threadIdx.x) % chunks;
    async::copy16(async::shared_address(place(f, plane)) + 16 * static_cast<unsigned>(chunk),
                  static_cast<const char*>(source(v, f, plane)) + 16 * chunk);
  }
};

}  // namespace amasia::cfd
