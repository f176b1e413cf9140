#include "harness/gpu/loaded_code.hpp"

#include "variants/device/cuda.hpp"

namespace amasia {

LoadedCode loaded_code(const void* kernel, const Device& device) {
  cudaFuncAttributes attributes{};
  const cudaError_t code = cudaFuncGetAttributes(&attributes, kernel);
  if (code != cudaSuccess) {
    cudaGetLastError();
    throw NoCode(no_code(cudaGetErrorName(code), device));
  }
  return {attributes.ptxVersion, attributes.binaryVersion};
}

}  // namespace amasia
