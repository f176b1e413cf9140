// What the apps' instances on the device have in common: registration, rows that are copied,
// kernels that visit all elements of a grid.
#pragma once

#include <memory>
#include <type_traits>

#include "harness/app.hpp"
#include "variants/device/cuda.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia {

/// Registers T(parameters, seed) as the instance of `app`; as register_instance_factory().
template <class T>
bool register_instance(std::string_view app, SourceLine place = SourceLine::here()) {
  return register_instance_factory(
      app,
      [](const Parameters& p, std::uint64_t seed) -> std::unique_ptr<Instance> {
        return std::make_unique<T>(p, seed);
      },
      place);
}

/// The rows of a grid on the device, dense on the host, and back. Synchronous.
template <class T>
void download_rows(const Grid<T>& from, std::remove_const_t<T>* to) {
  const std::size_t row = from.columns * sizeof(T);
  AMASIA_CUDA(cudaMemcpy2D(to, row, from.data, from.pitch * sizeof(T), row, from.rows,
                           cudaMemcpyDeviceToHost));
}
template <class T>
void upload_rows(const T* from, const Grid<T>& to) {
  const std::size_t row = to.columns * sizeof(T);
  AMASIA_CUDA(
      cudaMemcpy2D(to.data, to.pitch * sizeof(T), from, row, row, to.rows, cudaMemcpyHostToDevice));
}

/// Threads of a block, and blocks, of a kernel that calls each_element().
inline constexpr int element_threads = 256;
inline dim3 blocks_over(std::int64_t rows, std::int64_t columns) {
  return {static_cast<unsigned>(ceil_div(columns, element_threads)),
          static_cast<unsigned>(rows < 16384 ? rows : 16384)};
}
/// Calls use(row, column) for the elements of a thread: one column, every gridDim.y-th row.
template <class Use>
__device__ void each_element(std::int64_t rows, std::int64_t columns, const Use& use) {
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) use(row, column);
}

}  // namespace amasia
