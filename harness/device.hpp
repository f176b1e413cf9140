// What the suite needs to know of one GPU, as plain data: filled by query_device() on a machine
// that has one, by hand in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace amasia {

struct Device {
  int index = 0;
  std::string name;            // as the driver spells it, e.g. "NVIDIA H200"
  int compute_capability = 0;  // major * 10 + minor: 90 for sm_90
  int sm_count = 0;
  std::size_t memory_bytes = 0;
  std::size_t free_bytes = 0;  // when queried
  std::size_t l2_bytes = 0;
  std::size_t shared_per_sm = 0;
  std::size_t shared_per_block = 0;  // opt-in maximum
  std::size_t shared_reserved = 0;   // taken by CUDA from each resident block
  int registers_per_sm = 0;
  int max_threads_per_sm = 0;
  int max_clock_mhz = 0;
  int memory_clock_mhz = 0;
  int memory_bus_bits = 0;
  bool ecc = false;
  bool cooperative_launch = false;
  int driver_version = 0;  // CUDA version the driver supports, e.g. 13000
  int runtime_version = 0;
  std::string uuid_hash;   // 48 bits folded from the UUID: distinguishes GPUs, names none
  std::string pci_bus_id;  // to find the device in NVML; never written to a result file
};

/// "NVIDIA H200" -> "h200", "NVIDIA GeForce RTX 4090" -> "rtx-4090": folder names under results/.
std::string device_slug(const std::string& name);

/// Number of CUDA devices; 0 with `reason` set to a sentence when there is no usable driver or GPU.
int device_count(std::string& reason);

/// Properties of device `index`. Throws CudaError when it cannot be queried.
Device query_device(int index);

}  // namespace amasia
