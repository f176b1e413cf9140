// tma/issue: what do bulk copies save against cp.async, in registers and in issue slots (Hopper
// Tuning Guide, 4.1.2)?
//
// Method: four kernels only bring tiles of 16 KiB into a ring of four stages of a block's shared
// memory and wait for each. Two use 256 threads: through registers, and by cp.async. Two use one
// thread: flat bulk copies, and by tensor map.
// Registers per thread are those of the loaded kernel (cudaFuncGetAttributes). Registers of the
// loader are that times its threads.
// Instructions per KiB are those in the loop of the machine code (of the PTX, without a
// disassembler), times the warps that run it, over the KiB of a tile. Each takes an issue slot of
// the SM. The only other loop is the spin on a barrier, which is counted once: a lower bound for
// the single thread, which otherwise only spins.
// Bandwidth is of the same kernels, one block per SM: it shows that fewer instructions are not less
// work. That of `registers` does not compare with the others: it has one tile in flight, because it
// asks for a tile after it has stored the one before. The others have up to four.

#include "harness/machine_code.hpp"
#include "microbench/tma/measure.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::tma {
namespace {

constexpr unsigned tile_bytes = 16 << 10;
constexpr int stages = 4;
constexpr int copying_threads = 256;
constexpr int chunks = tile_bytes / 16 / copying_threads;

enum class Loader { registers, cp_async, bulk, tensor };

/// The tiles of one block: every gridDim.x-th, `count` of them.
struct Tiles {
  const std::byte* data;
  int count;
  __device__ const std::byte* at(int i) const {
    return data + (blockIdx.x + static_cast<long long>(i) * gridDim.x) * tile_bytes;
  }
};

template <Loader LOADER>
constexpr int threads_of() {
  return LOADER == Loader::registers || LOADER == Loader::cp_async ? copying_threads : warp;
}

template <Loader LOADER>
__global__ void __launch_bounds__(threads_of<LOADER>())
    load_tiles(Tiles tiles, const __grid_constant__ CUtensorMap map) {
  if constexpr (LOADER == Loader::registers) {
    int stage = 0;
#pragma unroll 1
    for (int i = 0; i < tiles.count; ++i) {
      const auto* const from = reinterpret_cast<const int4*>(tiles.at(i)) + threadIdx.x;
      auto* const to = reinterpret_cast<int4*>(slots() + stage * tile_bytes) + threadIdx.x;
      int4 held[chunks];
#pragma unroll
      for (int k = 0; k < chunks; ++k) held[k] = from[k * copying_threads];
#pragma unroll
      for (int k = 0; k < chunks; ++k) to[k * copying_threads] = held[k];
      __syncthreads();
      if (++stage == stages) stage = 0;
    }
  } else if constexpr (LOADER == Loader::cp_async) {
    const unsigned first = async::held_address(slots()) + 16 * threadIdx.x;
    unsigned stage = 0;
#pragma unroll 1
    for (int i = 0; i < tiles.count; ++i) {
      const std::byte* const from = tiles.at(i) + 16 * threadIdx.x;
#pragma unroll
      for (int k = 0; k < chunks; ++k) {
        async::copy16(first + stage + 16 * k * copying_threads, from + 16 * k * copying_threads);
      }
      async::commit();
      async::wait<stages - 1>();
      __syncthreads();
      stage = stage == (stages - 1) * tile_bytes ? 0 : stage + tile_bytes;
    }
    async::wait<0>();
  } else {
    __shared__ Barrier full[stages];
    if (threadIdx.x != 0) return;
    for (int s = 0; s < stages; ++s) init(full + s, 1);
    fence_init();
    int stage = 0;
    unsigned parity = 0;
    // The last rounds only wait. The first tile of a stage waits for the phase before the first,
    // which counts as done.
#pragma unroll 1
    for (int i = 0; i < tiles.count + stages; ++i) {
      wait(full + stage, parity ^ 1U);
      if (i < tiles.count) {
        expect(full + stage, tile_bytes);
        if constexpr (LOADER == Loader::bulk) {
          load_bytes(slots() + stage * tile_bytes, tiles.at(i), tile_bytes, full + stage);
        } else {
          load_tile(slots() + stage * tile_bytes, &map, 0,
                    static_cast<int>((blockIdx.x + i * gridDim.x) * (tile_bytes / row_bytes)),
                    full + stage);
        }
      }
      if (++stage == stages) {
        stage = 0;
        parity ^= 1U;
      }
    }
  }
}

using LoaderKernel = void (*)(Tiles, CUtensorMap);

struct Candidate {
  const char* name;
  LoaderKernel kernel;
  int threads;
  int runs_from;
  Claim claim;
  /// Of the launch: whole warps.
  int block_threads() const { return std::max(threads, static_cast<int>(warp)); }
};

const Candidate candidates[] = {
    {"registers", load_tiles<Loader::registers>, copying_threads, 0, {"LDG", "ld.global", chunks}},
    {"cp.async", load_tiles<Loader::cp_async>, copying_threads, 80, {"LDGSTS", "cp.async", chunks}},
    {"bulk", load_tiles<Loader::bulk>, 1, 90, {"UBLKCP", "cp.async.bulk", 1, false}},
    {"tensor", load_tiles<Loader::tensor>, 1, 90, {"UTMALDG", "cp.async.bulk.tensor", 1, false}},
};

int registers_of(const Candidate& c) {
  cudaFuncAttributes attributes{};
  AMASIA_CUDA(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(c.kernel)));
  return attributes.numRegs;
}

int instructions_in_loop(const Candidate& c, const Device& device) {
  const char* name = nullptr;
  AMASIA_CUDA(cudaFuncGetName(&name, reinterpret_cast<const void*>(c.kernel)));
  return instructions_in_loops(name, device);
}

Sampling bandwidth(const Candidate& c, const Device& device, Stream stream) {
  const auto grid = static_cast<unsigned>(device.sm_count);
  const std::size_t footprint = std::min(std::size_t{1} << 30, device.memory_bytes / 8);
  const auto count = static_cast<int>(footprint / tile_bytes / grid);
  const Tiles tiles{reinterpret_cast<const std::byte*>(buffer_of(footprint)), count};
  AMASIA_CUDA(cudaMemsetAsync(buffer_of(footprint), 0x5a, footprint, stream));
  const CUtensorMap map = map_of_boxes(buffer_of(footprint), 2, tile_bytes,
                                       std::size_t{grid} * static_cast<unsigned>(count));
  LaunchShape shape;
  shape.grid = dim3(grid);
  shape.block = dim3(static_cast<unsigned>(c.block_threads()));
  shape.dynamic_shared_bytes = stages * tile_bytes;
  allow_launch(reinterpret_cast<const void*>(c.kernel), shape);
  return [=] {
    const double time_ns = 1e6 * ceilings::warm_milliseconds(
                                     stream, [&] { launch(c.kernel, shape, stream, tiles, map); });
    return of_time(time_ns, static_cast<double>(grid) * count * tile_bytes / time_ns);
  };
}

std::vector<Point> points(const Device&, Scope) {
  std::vector<Point> all;
  for (const Candidate& c : candidates) {
    const auto add = [&](const char* quantity, const char* unit, auto prepare) {
      Point& p = add_point(all,
                           {{"loader", c.name},
                            {"threads", std::to_string(c.threads)},
                            {"tile", std::to_string(tile_bytes)},
                            {"stages", std::to_string(stages)},
                            {"what", quantity}},
                           quantity, unit);
      p.larger_is_better = p.quantity == "bandwidth";
      p.runs_from = c.runs_from;
      p.kernels = {
          kernel_use(c.kernel, c.block_threads(), stages * tile_bytes, 1, stages * tile_bytes)};
      p.claims = {c.claim};
      p.prepare = prepare;
    };
    const auto constant = [](double value) { return Sampling([value] { return Reading{value}; }); };
    add("registers", "registers/thread",
        [=](const Device&, Stream) { return constant(registers_of(c)); });
    add("registers_held", "registers/block", [=](const Device&, Stream) {
      // A register is one of all threads of a warp.
      return constant(registers_of(c) * c.block_threads());
    });
    add("instructions", "instructions/KiB", [=](const Device& d, Stream) {
      const double warps = std::max(1, c.threads / warp);
      return constant(instructions_in_loop(c, d) * warps / (tile_bytes / 1024.0));
    });
    add("bandwidth", "GB/s", [=](const Device& d, Stream s) { return bandwidth(c, d, s); });
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"tma/issue", "What do bulk copies save against cp.async, in registers and in issue slots?",
     "Kernels that only bring tiles of 16 KiB into a ring of four stages: through registers and by "
     "cp.async with 256 threads, by bulk copy and by tensor map with one thread. Registers as "
     "loaded, instructions of the loop in the machine code times warps per KiB, bandwidth with one "
     "block per SM.",
     points});

}  // namespace
}  // namespace amasia::tma
