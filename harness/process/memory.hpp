// What the host keeps of the memory that it has used.
#pragma once

#include <malloc.h>

namespace amasia {

/// Once, before the first reference. Freed memory is kept for the next array. By default glibc maps
/// each large array anew, and the kernel then clears every page of it: half the time of srad's
/// reference.
inline void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

}  // namespace amasia
