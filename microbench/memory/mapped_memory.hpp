// Device memory made by the driver's virtual memory management, compressible if asked for: a
// physical allocation, a range of addresses, and the mapping of one to the other (CUDA Driver API,
// "Virtual Memory Management"; compute data compression since compute capability 8.0).
#pragma once

#include <cudaTypedefs.h>

#include <string>

#include "harness/microbenchmark.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::memory {

template <class Function>
Function required(const char* name) {
  const auto function = driver_function<Function>(name, 10020);  // CUDA 10.2 brought most of them
  if (function == nullptr) throw Unavailable(std::string("the driver has no ") + name);
  return function;
}

struct DriverMemory {
// A macro, because the type is named after the function.
#define AMASIA_DRIVER(member, name, version) \
  PFN_##name##_v##version member = required<PFN_##name##_v##version>(#name);
  AMASIA_DRIVER(attribute, cuDeviceGetAttribute, 2000)
  AMASIA_DRIVER(granularity, cuMemGetAllocationGranularity, 10020)
  AMASIA_DRIVER(create, cuMemCreate, 10020)
  AMASIA_DRIVER(release, cuMemRelease, 10020)
  AMASIA_DRIVER(properties, cuMemGetAllocationPropertiesFromHandle, 10020)
  AMASIA_DRIVER(reserve, cuMemAddressReserve, 10020)
  AMASIA_DRIVER(free_addresses, cuMemAddressFree, 10020)
  AMASIA_DRIVER(map, cuMemMap, 10020)
  AMASIA_DRIVER(unmap, cuMemUnmap, 10020)
  AMASIA_DRIVER(set_access, cuMemSetAccess, 10020)
#undef AMASIA_DRIVER

  static const DriverMemory& get() {
    static const DriverMemory functions;
    return functions;
  }
};

inline void succeed(CUresult code, const char* call) {
  if (code == CUDA_SUCCESS) return;
  throw std::runtime_error(std::string(call) + " failed (CUDA driver error " +
                           std::to_string(static_cast<int>(code)) + ")");
}

/// Bytes on one device, for as long as this lives. Throws OutOfMemory, or Unavailable where the
/// device or the driver does not give what is asked for.
class MappedMemory {
 public:
  MappedMemory(std::size_t bytes, bool compressible, int device)
      : properties_(properties(compressible, device)),
        bytes_(rounded(bytes, properties_)),
        physical_(bytes_, properties_),
        addresses_(bytes_),
        mapping_(addresses_.at, bytes_, physical_.handle) {
    CUmemAccessDesc access{};
    access.location = properties_.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    succeed(DriverMemory::get().set_access(addresses_.at, bytes_, &access, 1), "cuMemSetAccess");
  }

  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  std::byte* data() const { return reinterpret_cast<std::byte*>(addresses_.at); }
  std::size_t bytes() const { return bytes_; }

 private:
  static CUmemAllocationProp properties(bool compressible, int device) {
    const auto supports = [device](CUdevice_attribute which) {
      int value = 0;
      succeed(DriverMemory::get().attribute(&value, which, device), "cuDeviceGetAttribute");
      return value != 0;
    };
    if (!supports(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)) {
      throw Unavailable("the device has no virtual memory management (cuMemCreate)");
    }
    if (compressible && !supports(CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED)) {
      throw Unavailable("the device has no compressible memory");
    }
    CUmemAllocationProp p{};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = device;
    if (compressible) p.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    return p;
  }

  static std::size_t rounded(std::size_t bytes, const CUmemAllocationProp& p) {
    std::size_t unit = 0;
    succeed(DriverMemory::get().granularity(&unit, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
            "cuMemGetAllocationGranularity");
    return (bytes + unit - 1) / unit * unit;
  }

  // One owner per step, none of which is copied, so that what was done is undone when the next one
  // fails.
  struct Physical {
    Physical(std::size_t bytes, const CUmemAllocationProp& asked) {
      const DriverMemory& driver = DriverMemory::get();
      const CUresult code = driver.create(&handle, bytes, &asked, 0);
      if (code == CUDA_ERROR_OUT_OF_MEMORY) {
        std::size_t available = 0, total = 0;
        AMASIA_CUDA(cudaMemGetInfo(&available, &total));
        throw OutOfMemory(bytes, available);
      }
      const bool compressible = asked.allocFlags.compressionType != CU_MEM_ALLOCATION_COMP_NONE;
      if (compressible && (code == CUDA_ERROR_NOT_SUPPORTED || code == CUDA_ERROR_NOT_PERMITTED)) {
        throw Unavailable("the driver refuses compressible memory (CUDA driver error " +
                          std::to_string(static_cast<int>(code)) + ")");
      }
      succeed(code, "cuMemCreate");
      if (!compressible) return;
      CUmemAllocationProp granted{};
      const CUresult told = driver.properties(&granted, handle);
      if (told == CUDA_SUCCESS &&
          granted.allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_GENERIC) {
        return;
      }
      driver.release(handle);  // this object does not live yet
      succeed(told, "cuMemGetAllocationPropertiesFromHandle");
      throw Unavailable("the driver granted the memory without compression (compressionType NONE)");
    }
    ~Physical() { DriverMemory::get().release(handle); }
    CUmemGenericAllocationHandle handle = 0;
  };

  struct Addresses {
    explicit Addresses(std::size_t count) : bytes(count) {
      succeed(DriverMemory::get().reserve(&at, bytes, 0, 0, 0), "cuMemAddressReserve");
    }
    ~Addresses() { DriverMemory::get().free_addresses(at, bytes); }
    CUdeviceptr at = 0;
    std::size_t bytes;
  };

  struct Mapping {
    Mapping(CUdeviceptr to, std::size_t count, CUmemGenericAllocationHandle handle)
        : at(to), bytes(count) {
      succeed(DriverMemory::get().map(at, bytes, 0, handle, 0), "cuMemMap");
    }
    ~Mapping() { DriverMemory::get().unmap(at, bytes); }
    CUdeviceptr at;
    std::size_t bytes;
  };

  CUmemAllocationProp properties_;
  std::size_t bytes_;
  Physical physical_;
  Addresses addresses_;
  Mapping mapping_;
};

}  // namespace amasia::memory
