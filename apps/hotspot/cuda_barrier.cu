// hotspot/cuda_barrier: hotspot/tma's schedule 64x64 implemented with libcu++ in place of the
// suite's own PTX: two boxes by tensor map, each counted by a cuda::barrier. As in tma one thread
// arrives and all wait by parity. With arrivals of all threads and a token for each, as the CUDA
// C++ Programming Guide has it, it took 13 to 17 % longer (README.md).
#include <cuda/barrier>
#include <cuda/std/atomic>

#include "apps/hotspot/square.cuh"

namespace amasia::hotspot {
namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace library = cuda::device::experimental;

/// Waits for a barrier's first phase. In CUDA 13.0 the library does not tell the compiler that
/// memory changes with this wait, so that loads of the tile might be moved before it: hence the
/// fence, which is no instruction.
__device__ void wait_for(Barrier& barrier) {
  barrier.wait_parity(false);
  cuda::std::atomic_signal_fence(cuda::std::memory_order_acquire);
}

__global__ void __launch_bounds__(square_threads, squares_bound)
    barrier_square(SquareView v, const __grid_constant__ SquareMaps maps) {
#if __CUDA_ARCH__ >= 900
  __shared__ union alignas(128) {
    SquareTile temperature;
    SquareEdges edges;  // once the temperatures are in registers
  } first;
  __shared__ alignas(128) SquareTile power;
  // Bytes, because the constructor of a barrier is no constant, which __shared__ would ask for.
  __shared__ alignas(Barrier) unsigned char barriers[2][sizeof(Barrier)];
  Barrier& first_full = reinterpret_cast<Barrier&>(barriers[0]);
  Barrier& power_full = reinterpret_cast<Barrier&>(barriers[1]);
  const Square s(v);
  if (threadIdx.x == 0) {
    init(&first_full, 1);
    init(&power_full, 1);
    library::fence_proxy_async_shared_cta();  // the engine sees them initialised
    static_cast<void>(cuda::device::barrier_arrive_tx(first_full, 1, sizeof(SquareTile)));
    library::cp_async_bulk_tensor_2d_global_to_shared(&first.temperature, &maps.temperature,
                                                      s.first_column, s.first_row, first_full);
    static_cast<void>(cuda::device::barrier_arrive_tx(power_full, 1, sizeof(SquareTile)));
    library::cp_async_bulk_tensor_2d_global_to_shared(&power, &maps.power, s.first_column,
                                                      s.first_row, power_full);
  }
  __syncthreads();  // the barriers are initialised
  wait_for(first_full);
  float4 kelvin[patch];
#pragma unroll
  for (int i = 0; i < patch; ++i) kelvin[i] = first.temperature.rows[s.y * patch + i][s.x];
  __syncthreads();  // the temperatures have been read
  advance_square(first.edges, s, v, kelvin, [&](int i) {
    if (i == 0) wait_for(power_full);
    return power.rows[s.y * patch + i][s.x];
  });
#endif
}

ConfigOf<Problem> square_boxes() {
  ConfigOf<Problem> config = squares(Start::in_turn, barrier_square);
  config.unsupported = [](const Problem& p, const Device& d) -> std::optional<std::string> {
    if (d.compute_capability >= 90) return pair_objection(p, Start::in_turn, d);
    return "boxes by tensor map exist from compute capability 9.0";
  };
  return config;
}

const bool registered =
    register_comparator<Problem>("hotspot", "cuda_barrier", Strategy::tma, {square_boxes()});

}  // namespace
}  // namespace amasia::hotspot
