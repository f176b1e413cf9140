// What the rings of bulk copies share: the work of a launch, which box and which slot are next, the
// clocks around a walk.
#pragma once

#include "microbench/tma/boxes.cuh"
#include "variants/ptx/registers.cuh"

namespace amasia::tma {

constexpr int most_in_flight = 32;
constexpr int warp = 32;  // threads of a block

struct Work {
  Boxes boxes;
  int in_flight;
  long long first;  // box of the first block
  long long step;   // boxes from one copy of a block to its next, less than boxes.count
  Walks copies;
  Stamp* taken;       // of the first block
  std::byte* copied;  // where to put what arrived, for the check; else nullptr
};

/// Which box is next. The steps are kept in registers: the compiler would rather multiply anew for
/// every copy.
struct Course {
  Box box;
  std::byte* end;
  long long step_bytes, array_bytes;
  int step_coordinate, array_coordinate;

  __device__ explicit Course(const Work& w)
      : end(w.boxes.data + w.boxes.count * w.boxes.bytes),
        step_bytes(w.step * w.boxes.bytes),
        array_bytes(w.boxes.count * w.boxes.bytes),
        step_coordinate(static_cast<int>(w.step) * w.boxes.step),
        array_coordinate(static_cast<int>(w.boxes.count) * w.boxes.step) {
    const long long first = (w.first + blockIdx.x) % w.boxes.count;
    box = {w.boxes.data + first * w.boxes.bytes, static_cast<int>(first) * w.boxes.step};
    end = opaque(end);
    step_bytes = opaque(step_bytes);
    array_bytes = opaque(array_bytes);
    step_coordinate = opaque(step_coordinate);
    array_coordinate = opaque(array_coordinate);
  }
  __device__ void advance() {
    box.data += step_bytes;
    box.coordinate += step_coordinate;
    if (box.data >= end) {
      box.data -= array_bytes;
      box.coordinate -= array_coordinate;
    }
  }
  __device__ long long index(const Work& w) const {
    return (box.data - w.boxes.data) / w.boxes.bytes;
  }
};

/// The clocks around a walk.
template <class Walk>
__device__ void timed(const Work& work, int w, Walk walk) {
  const Stopwatch watch;
  walk(work.copies.links[w]);
  if (blockIdx.x == 0) watch.stop(work.taken[w]);
}

__device__ inline std::byte* slots() {
  extern __shared__ __align__(128) std::byte memory[];
  return memory;
}

/// Which slot is next: its offset in shared memory, its barrier's, and the parity for the copy that
/// goes there.
struct RingAt {
  int slot = 0;
  unsigned offset = 0;
  unsigned parity = 0;
  __device__ unsigned barrier(unsigned first) const { return first + 8 * slot; }
  __device__ void advance(int in_flight, unsigned bytes) {
    offset += bytes;
    if (++slot == in_flight) {
      slot = 0;
      offset = 0;
      parity ^= 1U;
    }
  }
};

/// Copies what arrived in a slot to a box of work.copied.
__device__ inline void keep(const Work& work, long long box, int slot) {
  auto* const out = reinterpret_cast<int4*>(work.copied + box * work.boxes.bytes);
  const auto* const in =
      reinterpret_cast<const int4*>(slots() + static_cast<std::size_t>(slot) * work.boxes.bytes);
  for (unsigned k = 0; k < work.boxes.bytes / sizeof(int4); ++k) out[k] = in[k];
}

}  // namespace amasia::tma
