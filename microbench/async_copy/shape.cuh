// A pass as it is launched: mechanism, tile, stages, threads, occupancy.
#pragma once

#include "microbench/async_copy/passes.cuh"

namespace amasia::async_copy {

using PassKernel = void (*)(const float4*, float4*, long long, Iterations, Stamp*);

constexpr const char* name_of(Mechanism m) {
  constexpr std::array names{"direct",   "plain", "register_bypass", "pipeline", "barrier",
                             "drop_off", "bulk"};
  return names[static_cast<std::size_t>(m)];
}

constexpr std::array staged_mechanisms{Mechanism::plain,    Mechanism::register_bypass,
                                       Mechanism::pipeline, Mechanism::barrier,
                                       Mechanism::drop_off, Mechanism::bulk};
/// Those with a next tile in flight while they compute.
constexpr bool overlaps(Mechanism m) {
  return m != Mechanism::direct && m != Mechanism::plain && m != Mechanism::register_bypass;
}
constexpr int runs_from(Mechanism m) {
  return m == Mechanism::bulk ? 90 : m == Mechanism::direct || m == Mechanism::plain ? 0 : 80;
}

template <int CHUNKS, int STAGES>
PassKernel kernel_of(Mechanism m) {
  constexpr std::array kernels{pass_over<Mechanism::direct, CHUNKS, 1>,
                               pass_over<Mechanism::plain, CHUNKS, 1>,
                               pass_over<Mechanism::register_bypass, CHUNKS, 1>,
                               pass_over<Mechanism::pipeline, CHUNKS, STAGES>,
                               pass_over<Mechanism::barrier, CHUNKS, STAGES>,
                               pass_over<Mechanism::drop_off, CHUNKS, STAGES>,
                               pass_over<Mechanism::bulk, CHUNKS, STAGES>};
  return kernels[static_cast<std::size_t>(m)];
}

/// Low occupancy as in the paper: one block per SM, because it asks for all shared memory it can.
enum class Occupancy { full, low };
constexpr const char* name_of(Occupancy o) { return o == Occupancy::low ? "low" : "full"; }

struct Shape {
  Mechanism mechanism = Mechanism::plain;
  PassKernel kernel = nullptr;
  int chunks = 2;  // of 16 bytes per thread and tile
  int stages = 1;
  int threads = 512;
  Occupancy occupancy = Occupancy::full;
  int blocks_per_sm = 0;  // 0: as many as fit

  std::size_t tile_bytes() const {
    return std::size_t{16} * static_cast<unsigned>(chunks) * static_cast<unsigned>(threads);
  }
  std::size_t needed_bytes() const {
    if (mechanism == Mechanism::direct) return 0;
    return static_cast<unsigned>(stages) * tile_bytes() + barrier_bytes(stages);
  }
  std::size_t dynamic_bytes(const Device& d) const {
    return occupancy == Occupancy::low ? d.shared_per_block : needed_bytes();
  }
};

template <int CHUNKS, int STAGES>
Shape shape_of(Mechanism m, int threads, Occupancy occupancy, int blocks_per_sm = 0) {
  return {m,
          kernel_of<CHUNKS, STAGES>(m),
          CHUNKS,
          overlaps(m) ? STAGES : 1,
          threads,
          occupancy,
          blocks_per_sm};
}

constexpr std::array stage_counts{2, 3, 4, 6, 8};

/// `stages`: one of stage_counts.
template <int CHUNKS>
Shape staged(Mechanism m, int threads, int stages, Occupancy occupancy) {
  return with_constant<2, 3, 4, 6, 8>(stages, [&](auto constant) {
    return shape_of<CHUNKS, constant.value>(m, threads, occupancy);
  });
}

}  // namespace amasia::async_copy
