// resident by cp.async: what lies together goes into shared memory without a register. For a record
// of another share a thread has a slot of its own.
#pragma once

#include "apps/cfd/resident.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::cfd {

struct SlotShare : Share {
  float4 slot[2][resident_threads];  // halves of a thread's record
};

/// Waits at once for each far record.
struct SlotMover : Mover {
  using Storage = SlotShare;
  SlotShare& slots;
  __device__ SlotMover(SlotShare& s, const ResidentView& view) : Mover(s, view), slots(s) {}

  __device__ void load() {
    each([&](int i) {
#pragma unroll
      for (int f = 0; f < faces; ++f) {
        async::copy16(async::shared_address(&share.face[f][i]), v.faces + f * v.pitch + first + i);
      }
      async::copy<4>(&share.root_of_area[i], v.roots + first + i);
      const unsigned to = async::shared_address(&share.record[i]);
      const auto* const from = reinterpret_cast<const float4*>(v.records + first + i);
      async::copy16(to, from);
      async::copy16(to + 16, from + 1);
    });
    async::commit();
    async::wait<0>();
  }
  __device__ void ask(int place) {
    async::copy16(async::shared_address(&slots.slot[0][threadIdx.x]),
                  half_at(now, place - elsewhere));
    async::copy16(async::shared_address(&slots.slot[1][threadIdx.x]),
                  half_at(now, (place - elsewhere) ^ 16));
    async::commit();
  }
  __device__ Record take() const {
    async::wait<0>();
    const float4 a = slots.slot[0][threadIdx.x], b = slots.slot[1][threadIdx.x];
    return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  }
  __device__ Record far(int, int place) {
    ask(place);
    return take();
  }
};

/// The next turn's first far record is in flight while a turn is computed. ALL: so is each next one
/// of an element when one is taken. Otherwise these go through registers.
template <bool ALL>
struct AheadMover : SlotMover {
  using SlotMover::SlotMover;
  int turn = 0;
  bool taken = false;

  /// Asks for the first far record of the turn's element from face `from` on.
  __device__ void ask_from(int of_turn, int from) {
    if (!has(of_turn)) return;
#pragma unroll
    for (int f = from; f < faces; ++f) {
      const int place = share.face[f][element(of_turn)].neighbour;
      if (!is_near(place)) return ask(place);
    }
  }
  __device__ void begin_turn(int now_on) {
    if (now_on == 0) ask_from(0, 0);
    turn = now_on;
    taken = false;
  }
  __device__ Record far(int f, int place) {
    if (!ALL && taken) return Mover::far(f, place);
    taken = true;
    const Record record = take();
    if (ALL) ask_from(turn, f + 1);
    return record;
  }
  __device__ void end_turn(int done) { ask_from(done + 1, 0); }
};

}  // namespace amasia::cfd
