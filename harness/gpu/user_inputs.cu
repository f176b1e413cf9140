#include "harness/user_kernel/drawn.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "variants/device/cuda.hpp"

namespace amasia {
namespace {

constexpr unsigned threads = 256, most_blocks = 4096;

__device__ std::size_t first_of_thread() {
  return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
}
__device__ std::size_t all_threads() { return std::size_t{gridDim.x} * blockDim.x; }

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>(
      std::clamp<std::size_t>((count + threads - 1) / threads, 1, most_blocks));
}

template <class T>
__global__ void draw(T* to, Draws d) {
  for (std::size_t i = first_of_thread(); i < d.count; i += all_threads()) {
    if constexpr (std::is_integral_v<T>) {
      to[i] = static_cast<T>(drawn_integer(d, i));
    } else {
      to[i] = T(drawn_real(d, i));
    }
  }
}

__global__ void alter(std::byte* data, Alteration a) {
  const std::size_t pieces = a.pieces();
  for (std::size_t i = first_of_thread(); i < pieces; i += all_threads()) alter_piece(data, a, i);
}

template <class T>
void draw_as(std::byte* to, const Draws& d, Stream stream) {
  draw<<<blocks_for(d.count), threads, 0, stream>>>(reinterpret_cast<T*>(to), d);
}

}  // namespace

void draw_on_device(std::byte* to, const Draws& d, Stream stream) {
  constexpr void (*by_type[])(std::byte*, const Draws&, Stream) = {
      draw_as<__half>,       draw_as<__nv_bfloat16>, draw_as<float>,        draw_as<double>,
      draw_as<std::int8_t>,  draw_as<std::uint8_t>,  draw_as<std::int16_t>, draw_as<std::uint16_t>,
      draw_as<std::int32_t>, draw_as<std::uint32_t>, draw_as<std::int64_t>, draw_as<std::uint64_t>};
  static_assert(std::size(by_type) == std::size(Words<ElementType>::list), "one for each type");
  by_type[static_cast<std::size_t>(d.type)](to, d, stream);
  AMASIA_CUDA(cudaGetLastError());
}

void alter_on_device(std::byte* data, const Alteration& a, Stream stream) {
  if (a.pieces() == 0) return;
  alter<<<blocks_for(a.pieces()), threads, 0, stream>>>(data, a);
  AMASIA_CUDA(cudaGetLastError());
}

}  // namespace amasia
