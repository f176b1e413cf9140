#include <fmt/format.h>

#include "harness/device.hpp"
#include "inputs/random.hpp"
#include "variants/device/cuda.hpp"

namespace amasia {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  AMASIA_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// 48 of the 128 bits survive, mixed: enough to tell GPUs apart, too few to recover the UUID.
std::string fold_uuid(const cudaUUID_t& uuid) {
  std::uint64_t folded = 0;
  for (const char byte : uuid.bytes)
    folded = mix64(folded * 257 + static_cast<unsigned char>(byte));
  return fmt::format("{:012x}", folded >> 16);
}

}  // namespace

int device_count(std::string& reason) {
  reason.clear();
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    reason = driver == 0
                 ? "no NVIDIA driver is loaded: install one (nvidia-smi should list the GPU)"
                 : fmt::format(
                       "the driver supports CUDA {}.{}, this program was built for {}.{}: "
                       "update the driver or build with an older toolkit",
                       driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  } else if (code != cudaSuccess) {
    reason = fmt::format("{}: {}", cudaGetErrorName(code), cudaGetErrorString(code));
  } else if (count == 0) {
    reason = "no CUDA device is visible (is CUDA_VISIBLE_DEVICES empty?)";
  }
  cudaGetLastError();
  return code == cudaSuccess ? count : 0;
}

Device query_device(int index) {
  cudaDeviceProp p{};
  AMASIA_CUDA(cudaGetDeviceProperties(&p, index));
  Device d;
  d.index = index;
  d.name = p.name;
  d.compute_capability = p.major * 10 + p.minor;
  d.sm_count = p.multiProcessorCount;
  d.memory_bytes = p.totalGlobalMem;
  d.l2_bytes = static_cast<std::size_t>(p.l2CacheSize);
  d.shared_per_sm = p.sharedMemPerMultiprocessor;
  d.shared_per_block = p.sharedMemPerBlockOptin;
  d.shared_reserved = p.reservedSharedMemPerBlock;
  d.registers_per_sm = p.regsPerMultiprocessor;
  d.max_threads_per_sm = p.maxThreadsPerMultiProcessor;
  // Attributes, because CUDA 13 took the clocks out of cudaDeviceProp.
  d.max_clock_mhz = attribute(cudaDevAttrClockRate, index) / 1000;
  d.memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate, index) / 1000;
  d.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, index);
  d.ecc = p.ECCEnabled != 0;
  d.cooperative_launch = attribute(cudaDevAttrCooperativeLaunch, index) != 0;
  AMASIA_CUDA(cudaDriverGetVersion(&d.driver_version));
  AMASIA_CUDA(cudaRuntimeGetVersion(&d.runtime_version));
  d.uuid_hash = fold_uuid(p.uuid);
  char bus[32] = {};
  AMASIA_CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, index));
  d.pci_bus_id = bus;
  AMASIA_CUDA(cudaSetDevice(index));
  std::size_t total = 0;
  AMASIA_CUDA(cudaMemGetInfo(&d.free_bytes, &total));
  return d;
}

}  // namespace amasia
