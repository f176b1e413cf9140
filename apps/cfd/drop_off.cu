// cfd/drop_off: a thread has slots of its own for all it reads, neighbours included, and no barrier
// (Svedin et al. 2021, algorithm 3). It can carry a gather: first faces travel, then what they
// name.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/resident.cuh"

namespace amasia::cfd {
namespace {

// 4 bytes at a time, as Rodinia's arrays are.
struct DropOffIso : PlanesMover {
  struct Storage : FacePlanes {
    float variable[2][variables][iso_threads];
  };
  static constexpr int stages = 2;
  static constexpr std::size_t bytes_in_flight = sizeof(Storage);
  Storage& slots;
  const int t = static_cast<int>(threadIdx.x);

  __device__ DropOffIso(const IsoView& view, Storage& s) : PlanesMover(view, s), slots(s) {
    if (i >= v.p.elements) return;
#pragma unroll
    for (int f = 0; f < faces; ++f) {
#pragma unroll
      for (int plane = 0; plane < 4; ++plane) {
        async::copy<4>(place(f, plane) + 4 * t, source(f, plane) + 4 * t);
      }
    }
    async::commit();
  }
  __device__ void ask(int f) {
    const std::int32_t n = face(f).neighbour;
#pragma unroll
    for (int k = 0; k < variables && n >= 0; ++k) {
      async::copy<4>(&slots.variable[f % 2][k][t], v.p.result + k * v.p.pitch + n);
    }
    async::commit();
  }
  /// Variables of the next face's neighbour stay in flight.
  __device__ void wait(int f) {
    if (f == 0) {
      async::wait<0>();
      ask(0);
    }
    if (f + 1 < faces) ask(f + 1);
    f + 1 < faces ? async::wait<1>() : async::wait<0>();
  }
  __device__ Record behind(int f, int) const {
    return complete([&](int k) { return slots.variable[f % 2][k][t]; });
  }
};

constexpr const char* why =
    "a thread that waits for its own elements alone takes longer than at iso or resident";

const bool drop_off_registered = register_variant<Problem>(
    "cfd", Strategy::drop_off, {iso<DropOffIso>(), resident_config<AheadMover<true>>()},
    {{walk_name, why}, {dependent_name, why}});

}  // namespace
}  // namespace amasia::cfd
