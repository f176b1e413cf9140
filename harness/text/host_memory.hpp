// The message when the host's memory does not suffice. Every allocation of the program goes through
// host_memory.cpp, so that no app has to know what its reference needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

namespace amasia {

/// Bytes that this process may still take: free or reclaimable memory and swap, at most the limit
/// of its container. The largest number there is where the system does not say it.
std::uint64_t available_host_memory();

/// What operator new throws: how much was wanted at once, and how much there is.
class OutOfHostMemory : public std::bad_alloc {
 public:
  OutOfHostMemory(std::uint64_t wanted, std::uint64_t available) noexcept;
  const char* what() const noexcept override { return text_; }

 private:
  char text_[160];
};

/// what(), but for an array that no memory can hold, of which a container says its own name.
std::string reason_of(const std::exception& error);

}  // namespace amasia
