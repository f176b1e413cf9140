// The schedules called `-producer` and `-ping-pong` (sm_90a): the warps of a block have roles. One
// warpgroup, the producer, brings slices of A and B into a ring of stages and gives back the
// registers that it does not need; two, the consumers, take these registers and multiply. They
// compute a tile together (`-producer`), or each one of its own (`-ping-pong`): slices come tile by
// tile, so that one warpgroup stores its sums while the other multiplies. Which it is follows
// from the tile: from whether 256 or 128 threads compute one.
//
// Strategies differ in the Producer (warp_roles.cuh). It also has
//
// - Tile, Walk, View, view(problem): as in persistent.cuh.
// - bytes_in_flight: what may be on its way at one time.
//
// and its function
//
// - produce(stages, view, problem, walk): all slices of the block, in the order of its walk. By the
//   producing warpgroup, threads 0 to 127.
#pragma once

#include "apps/common/warp_roles.cuh"
#include "apps/gemm/persistent.cuh"
#include "apps/gemm/walk.hpp"
#include "variants/ptx/named_barrier.cuh"

namespace amasia::gemm {
namespace {

using matrix::ForOneBlock, matrix::consumer_registers, matrix::consuming_warpgroups,
    matrix::hand_over, matrix::producer_registers, matrix::role_threads, matrix::warpgroup;

/// What the producer tells the consumers of a slice of FFMA: whether its tile ends, and where in C
/// the tile is. They know no walk, so that what multiplies is the same for every producer and no
/// register of it holds a place.
struct Slice {
  float* c;  // the tile's first element
  std::int64_t pitch;
  int rows, columns;  // of C, from there on
  bool ends, is_last;
};

/// Stages that fit into an SM's shared memory with what belongs to each: a block has the SM for
/// itself.
template <class Tile>
inline constexpr int bytes_of_stage = Tile::slice_bytes +
                                      static_cast<int>(2 * sizeof(tma::Barrier) + sizeof(Slice));
template <class Tile>
inline constexpr int stages_that_fit = 227 * 1024 / bytes_of_stage<Tile>;

/// The stages of a tile's slices, and behind them what is told of each.
template <class TileT>
struct Stages : matrix::SliceStages<stages_that_fit<TileT>, TileT::slice_bytes> {
  using Tile = TileT;
  using Base = matrix::SliceStages<stages_that_fit<Tile>, Tile::slice_bytes>;
  using typename Base::State;
  static constexpr std::size_t bytes = std::size_t{Base::count} * bytes_of_stage<Tile>;

  __device__ Slice* slice(const State& s) const {
    return reinterpret_cast<Slice*>(this->full(State{}) + 2 * Base::count) + s.index;
  }
};

/// What consumers of FFMA have to know of the slice at `at`; by one thread, before the stage is
/// full.
template <class Stages, class Walk>
__device__ __forceinline__ void describe(const Stages& stages, const typename Stages::State& state,
                                         const Problem& p, const Walk& walk,
                                         const typename Walk::Position& at) {
  using Tile = typename Stages::Tile;
  if constexpr (Tile::mode == Mode::fp32) {
    static_assert(Tile::schedule.shared.empty(), "a tile in C, not a piece of its sum");
    Slice* const slice = stages.slice(state);
    const bool ends = at.slice + 1 == walk.slices;
    slice->ends = ends;
    if (!ends) return;
    const TilePlace place = walk.place(at.step, rank_in(walk));
    const int row = place.row * Tile::m, column = place.column * Tile::n;
    slice->c = &p.c.at(row, column);
    slice->pitch = p.c.pitch;
    slice->rows = static_cast<int>(p.m) - row;
    slice->columns = static_cast<int>(p.n) - column;
    slice->is_last = !walk.has(at.step + step_stride(walk));
  }
}

/// Teams look for their slices one after the other. A wait by parity tells a use of a stage from
/// the one before, and no other: a team that waited for slices more than a round of the ring ahead
/// would go on with old ones. So a team begins when the one before it has seen its last slice.
struct InTurn {
  static constexpr int threads = consuming_warpgroups * warpgroup;  // who waits and who lets go
  static __device__ void wait(int team) { block::sync(1 + team, threads); }
  static __device__ void let_go(int team) { block::arrive(1 + team, threads); }
};

/// The turns of the warpgroups of one tile, slice by slice and from tile to tile, where a slice is
/// read at once.
template <class Tile>
using SliceInTurn = matrix::WarpgroupsInTurn<Tile::read_at_once>;

/// A slice whose multiplication is waited for one slice later, when its stage can be released; or
/// at once.
template <class Producer, int PARITY, class Stages, class Accumulator, class Fragments>
__device__ __forceinline__ void multiply_slice(Accumulator& acc, Fragments& fragments,
                                               const Stages& stages, typename Stages::State& state,
                                               bool first,
                                               const SliceInTurn<typename Producer::Tile>& turn,
                                               int thread) {
  using Tile = typename Producer::Tile;
  stages.wait(state);
  const unsigned char* const a = stages.at(state);
  turn.wait();
  Tile::template multiply<PARITY>(acc, fragments, a, a + Tile::a_bytes, thread,
                                  [&] { turn.let_go(); });
  if (Tile::read_at_once) {
    matrix::release<Producer>(stages.empty(state));
  } else if (!first) {
    matrix::release<Producer>(stages.empty(state.before()));
  }
  ++state;
}

/// acc += the next `slices` slices in the ring, all of which are released. Calls seen() when the
/// last one is being multiplied.
template <class Producer, class Stages, class Accumulator, class Seen>
__device__ __forceinline__ void multiply_slices(Accumulator& acc, const Stages& stages,
                                                typename Stages::State state, int slices,
                                                const SliceInTurn<typename Producer::Tile>& turn,
                                                int thread, Seen&& seen) {
  using Tile = typename Producer::Tile;
  typename Tile::Fragments fragments[2] = {};
  acc.hold();
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice) {
    multiply_slice<Producer, 0>(acc, fragments, stages, state, slice == 0, turn, thread);
    if constexpr (!std::is_empty_v<typename Tile::Fragments>) {
      if (++slice == slices) break;
      multiply_slice<Producer, 1>(acc, fragments, stages, state, false, turn, thread);
    }
  }
  seen();
  if constexpr (!Tile::read_at_once) {
    wgmma::wait<0>();
    acc.hold();
    matrix::release<Producer>(stages.empty(state.before()));
  }
}

/// The consumers' part where they compute by FFMA, all of them one tile.
template <class Producer>
__device__ __forceinline__ void consume_described(const Stages<typename Producer::Tile>& stages,
                                                  float alpha, int thread) {
  using Tile = typename Producer::Tile;
  typename Stages<Tile>::State state;
  bool is_last = false;
#pragma unroll 1
  while (!is_last) {
    typename Tile::Accumulator acc;
    acc.clear();
    const auto multiply = [&] {
      stages.wait(state);
      // Asked for before the slice is multiplied: behind it, a warp would wait for the answer.
      const bool ends = stages.slice(state)->ends;
      const unsigned a = async::shared_address(stages.at(state));
      Tile::multiply(acc, typename Tile::Left{a, thread}, a + Tile::a_bytes, thread, [](int) {});
      return ends;
    };
    const auto release = [&] {
      matrix::release<Producer>(stages.empty(state));
      ++state;
    };
#pragma unroll 1
    while (!multiply()) release();
    const Slice tile = *stages.slice(state);
    release();
    Problem target{};
    target.m = tile.rows, target.n = tile.columns;
    target.c = {tile.c, tile.rows, tile.columns, tile.pitch};
    target.alpha = alpha;
    Tile::store(acc, target, 0, 0, thread);
    is_last = tile.is_last;
  }
}

/// The consumers' part of the walk. A team: warpgroups that compute a tile together.
template <class Producer>
__device__ __forceinline__ void consume(const Stages<typename Producer::Tile>& stages,
                                        const Problem& p, const typename Producer::Walk& walk,
                                        float* pieces, int consumer) {
  using Tile = typename Producer::Tile;
  constexpr int warpgroups_of_team = Tile::threads / warpgroup;
  constexpr int teams = consuming_warpgroups / warpgroups_of_team;
  static_assert(teams * warpgroups_of_team == consuming_warpgroups);
  const int team = consumer / warpgroups_of_team;
  const int thread =
      static_cast<int>(threadIdx.x) % warpgroup + consumer % warpgroups_of_team * warpgroup;
  Turns<Stages<Tile>::count, teams> turns;
  const SliceInTurn<Tile> turn{consumer % warpgroups_of_team};
  static_assert(!Tile::read_at_once || Tile::threads == turn.threads);
  turn.begin();
#pragma unroll 1
  for (auto step = first_step(walk); walk.has(step); step += step_stride(walk)) {
    const Range run = walk.run(step);
    const int slices = run.end - run.first;
    if (turns.is_of(team)) {
      if (teams > 1 && !turns.is_first()) InTurn::wait(team);
      typename Tile::Accumulator acc;
      acc.clear();
      multiply_slices<Producer>(acc, stages, turns.state(), slices, turn, thread, [&] {
        if (teams > 1 && walk.has(step + step_stride(walk))) InTurn::let_go(turns.next());
      });
      store_sum<Tile>(acc, p, walk, step, pieces, thread);
    }
    turns.pass(slices);
  }
  turn.end();
}

template <class Producer>
__global__ void __launch_bounds__(role_threads, 1)
    specialised(const __grid_constant__ typename Producer::View view, const Problem p,
                const typename Producer::Walk walk, float* pieces, int) {
  using Tile = typename Producer::Tile;
  // Elsewhere nobody launches it: nothing of it is compiled for those who would not run it.
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) unsigned char shared[];
  const Stages<Tile> stages{{shared}};
  admit_successor(walk);
  if (threadIdx.x == 0) stages.init(Producer::arrivals, Producer::cluster * (Tile::threads / 32));
  Producer::enter();
  if (const int role = matrix::role(); role == 0) {
    registers::decrease<Producer::registers>();
    Producer::produce(stages, view, p, walk);
    __syncwarp();
    Producer::leave();
  } else {
    registers::increase<matrix::of_consumer<Producer>>();
    if constexpr (Tile::asynchronous) {
      consume<Producer>(stages, p, walk, pieces, role - 1);
    } else {
      static_assert(Tile::threads == consuming_warpgroups * warpgroup);
      consume_described<Producer>(stages, p.alpha, static_cast<int>(threadIdx.x) - warpgroup);
    }
    __syncwarp();
    Producer::leave();
  }
#else
  __trap();
#endif
}

/// What tile_kernel() asks of a mover, of a Producer.
template <class ProducerT>
struct Specialised : ProducerT {
  static constexpr int stages = Stages<typename ProducerT::Tile>::count;
  static constexpr std::size_t shared_bytes(int) { return Stages<typename ProducerT::Tile>::bytes; }
  static constexpr int bytes_in_flight(int) { return ProducerT::bytes_in_flight; }
};

template <class Producer>
struct KernelOf<Specialised<Producer>> {
  static constexpr auto function = specialised<Producer>;
  static constexpr int threads = role_threads, producer_warps = Producer::producer_warps;
  static constexpr bool for_90a = true;
};

// The tiles. `chunks`: as in wgmma_tile.cuh, for producers of pieces; `registers`: those that a
// consuming thread needs (ptxas).

struct Fp32ByProducer : Fp32Tile<256> {
  static constexpr TileSchedule schedule = ffma_producer_128x256;
  static constexpr int chunks = 3, registers = 232;
};
struct Tf32ByProducer : WgmmaTf32<256, 2> {
  static constexpr TileSchedule schedule = tf32_producer_256x128;
  static constexpr int chunks = 6, registers = 192;
};
struct Tf32ByTurns : WgmmaTf32<128, 1> {
  static constexpr TileSchedule schedule = tf32_ping_pong_128x64;
  static constexpr int chunks = 3, registers = 136;
};

/// The schedules of one mode and layout.
struct Roles {
  TileSchedule producer_128x256, ping_pong_128x128, ping_pong_64x128, ping_pong_128x192{};
};
constexpr Roles roles(Mode mode, Layout layout) {
  if (mode == Mode::tf32) {
    return {tf32_tn_producer_128x256, tf32_tn_ping_pong_128x128, tf32_tn_ping_pong_64x128};
  }
  if (mode == Mode::e4m3) {
    return {e4m3_producer_128x256, e4m3_ping_pong_128x128, e4m3_ping_pong_64x128,
            e4m3_ping_pong_128x192};
  }
  if (layout == Layout::tn) {
    return {bf16_tn_producer_128x256, bf16_tn_ping_pong_128x128, bf16_tn_ping_pong_64x128,
            bf16_tn_ping_pong_128x192};
  }
  return {bf16_producer_128x256, bf16_ping_pong_128x128, bf16_ping_pong_64x128,
          bf16_ping_pong_128x192};
}

template <Mode MODE, Layout LAYOUT>
struct ByProducer : WgmmaTile<MODE, LAYOUT, 128, 256, 2> {
  static constexpr TileSchedule schedule = roles(MODE, LAYOUT).producer_128x256;
  static constexpr int chunks = 3, registers = 160;
};
template <Mode MODE, Layout LAYOUT>
struct ByTurns : WgmmaTile<MODE, LAYOUT, 128, 128, 1> {
  static constexpr TileSchedule schedule = roles(MODE, LAYOUT).ping_pong_128x128;
  static constexpr int chunks = 2, registers = 160;
};
/// At 8192 there are 20.85 waves of it, where 128 x 128 has 31.03 and 128 x 256 has 15.5.
template <Mode MODE, Layout LAYOUT>
struct WideByTurns : WgmmaTile<MODE, LAYOUT, 128, 192, 1> {
  static constexpr TileSchedule schedule = roles(MODE, LAYOUT).ping_pong_128x192;
  static constexpr int chunks = 5, registers = 216;
};
template <Mode MODE, Layout LAYOUT>
struct SmallByTurns : WgmmaTile<MODE, LAYOUT, 64, 128, 1> {
  static constexpr TileSchedule schedule = roles(MODE, LAYOUT).ping_pong_64x128;
  static constexpr int chunks = 3, registers = 96;
};

/// Mode tf32x3. At 8192 there are 31.03 waves of 128 x 128 and 20.85 of 128 x 192; a slice is 64
/// and 80 KB, and there are three and two stages of it.
struct Tf32x3ByProducer : WgmmaTf32x3<128> {
  static constexpr TileSchedule schedule = tf32x3_producer_128x128;
  static constexpr int chunks = 2, registers = 152;
};
struct WideTf32x3ByProducer : WgmmaTf32x3<192> {
  static constexpr TileSchedule schedule = tf32x3_producer_128x192;
  static constexpr int chunks = 5, registers = 216;
};

/// The tiles of blocks whose warps have roles, but for those that a producer leaves too few
/// registers.
template <template <class, class> class Producer>
void add_roles(std::vector<ConfigOf<Problem>>& configs) {
  const auto add = [&](auto tile) {
    using Tile = decltype(tile);
    using Mover = Specialised<Producer<Tile, SharedWalk>>;
    if constexpr (consumer_registers(Mover::registers) >= Tile::registers) {
      add_both<Mover>(configs, Mover::stages);
    }
  };
  const auto add_all = [&](auto... tiles) { (add(tiles), ...); };
  add_all(Fp32ByProducer{}, Tf32x3ByProducer{}, WideTf32x3ByProducer{}, Tf32ByProducer{},
          Tf32ByTurns{}, WideByTurns<Mode::bf16, Layout::nn>{},
          WideByTurns<Mode::bf16, Layout::tn>{}, WideByTurns<Mode::e4m3, Layout::tn>{},
          ByProducer<Mode::bf16, Layout::nn>{}, ByTurns<Mode::bf16, Layout::nn>{},
          SmallByTurns<Mode::bf16, Layout::nn>{}, ByProducer<Mode::tf32, Layout::tn>{},
          ByTurns<Mode::tf32, Layout::tn>{}, SmallByTurns<Mode::tf32, Layout::tn>{},
          ByProducer<Mode::bf16, Layout::tn>{}, ByTurns<Mode::bf16, Layout::tn>{},
          SmallByTurns<Mode::bf16, Layout::tn>{}, ByProducer<Mode::e4m3, Layout::tn>{},
          ByTurns<Mode::e4m3, Layout::tn>{}, SmallByTurns<Mode::e4m3, Layout::tn>{});
}

}  // namespace
}  // namespace amasia::gemm
