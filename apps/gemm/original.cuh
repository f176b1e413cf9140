// `iso`: the geometry of the CUDA sample's matrixMul, one output per thread, square tiles of 32, a
// block per tile of C. Strategies differ in the Mover that brings a 32 x 32 tile of A and of B:
//
// - View, view(problem): as in persistent.cuh.
// - cluster, stages, shared_bytes, bytes_in_flight.
//
// Its functions:
//
// - Mover(shared, view, problem, row, column, tiles): of the block's tile of C, a sum over `tiles`.
// - acquire(s), release(s): tile s.
// - a(s, i), b(s, i): the thread's i-th elements of it.
// - leave(): before the block ends.
#pragma once

#include "apps/gemm/persistent.cuh"
#include "variants/geometry/ring.hpp"

namespace amasia::gemm {
namespace {

inline constexpr int side = 32;
inline constexpr int side_elements = side * side;
using Side = Tile<float, side, side, 4>;
inline constexpr int iso_threads = side_elements;
inline constexpr int pair_bytes = 2 * Side::bytes;  // a tile of A and one of B

__device__ inline int tile_row() { return static_cast<int>(threadIdx.x) / side; }
__device__ inline int tile_column() { return static_cast<int>(threadIdx.x) % side; }

/// Elements of A and B that this thread brings for tile `s`, with zeros outside the matrices.
struct OwnElements {
  Grid<const float> a, b;
  std::int64_t row, column;  // of the thread's element of C

  __device__ OwnElements(const Problem& p, std::int64_t r, std::int64_t c)
      : a{reinterpret_cast<const float*>(p.a.data), p.m, p.k, p.a.pitch / 4},
        b{reinterpret_cast<const float*>(p.b.data), p.k, p.n, p.b.pitch / 4},
        row(r + tile_row()),
        column(c + tile_column()) {}
  __device__ std::int64_t a_column(int s) const { return std::int64_t{s} * side + tile_column(); }
  __device__ std::int64_t b_row(int s) const { return std::int64_t{s} * side + tile_row(); }
  __device__ bool has_a(int s) const { return row < a.rows && a_column(s) < a.columns; }
  __device__ bool has_b(int s) const { return b_row(s) < b.rows && column < b.columns; }
};

template <class Mover>
__global__ void __launch_bounds__(iso_threads)
    original(const __grid_constant__ typename Mover::View view, const Problem p) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const std::int64_t row =
      std::int64_t{blockIdx.x % Mover::cluster + blockIdx.y * Mover::cluster} * side;
  const std::int64_t column = std::int64_t{blockIdx.x / Mover::cluster} * side;
  const int tiles = static_cast<int>(ceil_div(p.k, side));
  Mover mover(shared, view, p, row, column, tiles);
  float sum = 0;
  for (int s = 0; s < tiles; ++s) {
    mover.acquire(s);
#pragma unroll
    for (int i = 0; i < side; ++i) sum += mover.a(s, i) * mover.b(s, i);
    mover.release(s);
  }
  mover.leave();
  const std::int64_t r = row + tile_row(), c = column + tile_column();
  if (r < p.m && c < p.n) p.c.at(r, c) = p.alpha * sum;
}

template <class Mover>
ConfigOf<Problem> iso() {
  const auto kernel = reinterpret_cast<const void*>(original<Mover>);
  ConfigOf<Problem> config;
  config.info = {"iso",
                 {{"tile_m", side},
                  {"tile_n", side},
                  {"k_slice", side},
                  {"stages", Mover::stages},
                  {"cluster_blocks", Mover::cluster}},
                 {{kernel, iso_threads, Mover::shared_bytes, Mover::cluster,
                   static_cast<std::size_t>(Mover::bytes_in_flight)}},
                 false,
                 std::string(iso_name),
                 {{"stages", Mover::stages}, {"stage_bytes", pair_bytes}, {"producer_warps", 0}}};
  config.prepare = [kernel](const Problem& p, const Device&) -> Launch {
    const auto rows = round_up(ceil_div(p.m, side), Mover::cluster) / Mover::cluster;
    const LaunchShape shape{dim3(static_cast<unsigned>(ceil_div(p.n, side) * Mover::cluster),
                                 static_cast<unsigned>(rows)),
                            dim3(iso_threads), Mover::shared_bytes, Mover::cluster};
    allow_launch(kernel, shape);
    const auto view = Mover::view(p);
    return [=](Stream stream) { launch(original<Mover>, shape, stream, view, p); };
  };
  config.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (p.mode == Mode::fp32 && p.layout == Layout::nn) return std::nullopt;
    return std::string(
               "the original, the CUDA sample's matrixMul, is mode fp32 and layout nn, not ") +
           name_of(p.mode) + " and " + name_of(p.layout);
  };
  return config;
}

/// Two tiles in shared memory, one of each operand, `stages` times: what all movers but drop_off
/// read.
template <int STAGES>
struct SharedTiles : WithoutMaps {
  static constexpr int cluster = 1, stages = STAGES;
  float* tiles;
  __device__ explicit SharedTiles(unsigned char* shared)
      : tiles(reinterpret_cast<float*>(shared)) {}
  __device__ float* a_tile(int s) const { return tiles + s % STAGES * 2 * side_elements; }
  __device__ float* b_tile(int s) const { return a_tile(s) + side_elements; }
  __device__ float a(int s, int i) const { return a_tile(s)[tile_row() * side + i]; }
  __device__ float b(int s, int i) const { return b_tile(s)[i * side + tile_column()]; }
  __device__ void leave() const {}
};

/// The thread's elements, from tile to tile. The places move on, as in the CUDA sample: working
/// them out anew for each tile cost baseline 5 to 9 %, and tma, whose places the engine works out,
/// seemed to gain as much more.
struct ElementsOfA {
  const float* next;
  int count;  // the first tiles of the sum have one; none has outside the matrix

  __device__ explicit ElementsOfA(const OwnElements& own)
      : next(&own.a.at(own.row, own.a_column(0))),
        count(own.has_a(0) ? static_cast<int>(ceil_div(own.a.columns - own.a_column(0), side))
                           : 0) {}
  __device__ bool has(int s) const { return s < count; }
  __device__ void move_on() { next += side; }
};

struct ElementsOfB {
  const float* next;
  unsigned pitch;  // of B, in pieces of 16 bytes: one register, not two
  int count;

  __device__ explicit ElementsOfB(const OwnElements& own)
      : next(&own.b.at(own.b_row(0), own.column)),
        pitch(static_cast<unsigned>(own.b.pitch / 4)),
        count(own.has_b(0) ? static_cast<int>(ceil_div(own.b.rows - own.b_row(0), side)) : 0) {}
  __device__ bool has(int s) const { return s < count; }
  __device__ void move_on() { next += std::int64_t{4 * side} * pitch; }
};

struct NextElements {
  ElementsOfA a;
  ElementsOfB b;
  __device__ explicit NextElements(const OwnElements& own) : a(own), b(own) {}
  __device__ void move_on() {
    a.move_on();
    b.move_on();
  }
};

}  // namespace
}  // namespace amasia::gemm
