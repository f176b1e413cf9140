#include "harness/text/host_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace amasia {
namespace {

// Linux grants more than there is, and ends the process that uses it. So an allocation of this much
// is compared with what is available first; reading that takes some 20 us.
constexpr std::size_t worth_a_look = std::size_t{256} << 20;

/// The kilobytes behind a name in /proc/meminfo; nothing is allocated. 0 where it is not there.
std::uint64_t meminfo(const char* format) {
  std::FILE* const file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return 0;
  char line[256];
  unsigned long long kilobytes = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, format, &kilobytes) == 1) break;
  }
  std::fclose(file);
  return kilobytes << 10;
}

/// Of the container, where there is one.
std::uint64_t container_limit() {
  std::FILE* const file = std::fopen("/sys/fs/cgroup/memory.max", "re");
  unsigned long long bytes = 0;  // the word "max" is no number
  const bool limited = file != nullptr && std::fscanf(file, "%llu", &bytes) == 1;
  if (file != nullptr) std::fclose(file);
  return limited ? bytes : std::numeric_limits<std::uint64_t>::max();
}

[[maybe_unused]] void* allocated(std::size_t bytes) {
  const std::uint64_t available =
      bytes < worth_a_look ? std::numeric_limits<std::uint64_t>::max() : available_host_memory();
  void* const memory = bytes > available ? nullptr : std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw OutOfHostMemory(bytes, available_host_memory());
  return memory;
}

}  // namespace

std::uint64_t available_host_memory() {
  const std::uint64_t free = meminfo("MemAvailable: %llu");
  if (free == 0) return std::numeric_limits<std::uint64_t>::max();
  return std::min(free + meminfo("SwapFree: %llu"), container_limit());
}

OutOfHostMemory::OutOfHostMemory(std::uint64_t wanted, std::uint64_t available) noexcept {
  constexpr double giga = 1e9;
  std::snprintf(text_, sizeof text_,
                "out of host memory: %.3g GB are needed for one array, %.3g GB are available",
                static_cast<double>(wanted) / giga, static_cast<double>(available) / giga);
}

std::string reason_of(const std::exception& error) {
  if (dynamic_cast<const std::length_error*>(&error) != nullptr) {
    return "out of host memory: an array would be larger than memory can be";
  }
  return error.what();
}

}  // namespace amasia

// The others, of arrays and without exceptions, call these two. A sanitizer has its own.
#ifndef __SANITIZE_ADDRESS__
void* operator new(std::size_t bytes) { return amasia::allocated(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
