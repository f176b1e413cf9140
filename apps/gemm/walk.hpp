// Which tile of C, and which slices of its sum, a block computes: plain arithmetic, the same on
// host and device.
//
// The walk over the tiles (tile_walk.hpp) as kernels ask for it is in 32 bits, and by divisors that
// are known before the launch. A small matrix is multiplied in a few microseconds, and where a
// block's first tile lies stands before its first copy.
//
// Sums that several blocks share: as many steps as fill all workers in full waves are walked as
// before; the slices of all others, laid end to end, are dealt out evenly. A worker's share may end
// one tile's sum and begin another's: each piece becomes a partial tile of its own. The pieces of a
// tile are added in the order of their slices, so the result does not depend on who was first.
#pragma once

#include <cstdint>

#include "apps/common/tile_walk.hpp"
#include "apps/gemm/gemm.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::gemm {

using matrix::Range;
using matrix::TilePlace;

/// Division by what is known before a launch: one multiplication and a shift, where a division of
/// integers takes some twenty instructions that wait for each other. Of numbers from 0 to 2^31 - 1,
/// by the reciprocal rounded up (Granlund and Montgomery, Division by Invariant Integers using
/// Multiplication, PLDI 1994, figure 4.1). Divisors are from 1 to 2^30.
struct Divisor {
  int value = 1;
  unsigned reciprocal = 1;  // 2^32 (2^shift - value) / value, and one more
  int shift = 0;            // 2^shift >= value

  Divisor() = default;
  AMASIA_HD constexpr explicit Divisor(int d) : value(d) {
    while (1 << shift < d) ++shift;
    const auto above = static_cast<std::uint64_t>((1 << shift) - d);
    reciprocal = static_cast<unsigned>((above << 32) / static_cast<std::uint64_t>(d) + 1);
  }
  AMASIA_HD int quotient(int x) const {
#ifdef __CUDA_ARCH__
    const unsigned high = __umulhi(static_cast<unsigned>(x), reciprocal);  // no pair of registers
#else
    const auto n = static_cast<std::uint64_t>(static_cast<unsigned>(x));
    const auto high = static_cast<unsigned>(n * reciprocal >> 32);
#endif
    return static_cast<int>((high + static_cast<unsigned>(x)) >> shift);
  }
};

/// As matrix::Walk; for up to 2^27 steps, which are 2^20 x 2^20 elements in tiles of 64 x 128.
struct Walk : matrix::Walk {
  using Step = int;
  int total = 0;         // steps
  int log2_cluster = 0;  // clusters have a power of two of blocks
  int whole_groups = 0;  // groups of full height
  Divisor per_group, height, last_height;

  Walk() = default;
  AMASIA_HD Walk(std::int64_t m, std::int64_t n, std::int64_t k, int tile_m, int tile_n, int tile_k,
                 int blocks_of_cluster)
      : matrix::Walk(m, n, k, tile_m, tile_n, tile_k, blocks_of_cluster),
        total(static_cast<int>(matrix::Walk::steps())),
        whole_groups(rows / cluster / group),
        per_group(group * columns),
        height(group) {
    while (1 << log2_cluster < cluster) ++log2_cluster;
    const int left = rows / cluster % group;
    if (left > 0) last_height = Divisor(left);
  }
  AMASIA_HD int steps() const { return total; }
  AMASIA_HD bool has(Step step) const { return step < total; }
  AMASIA_HD Range run(Step) const { return {0, slices}; }
  AMASIA_HD TilePlace place(Step step, int rank) const {
    const int above = per_group.quotient(step);
    const int rest = step - above * per_group.value;
    const Divisor& rows_here = above < whole_groups ? height : last_height;
    const int column = rows_here.quotient(rest);
    const int row = above * group + rest - column * rows_here.value;
    return {(row << log2_cluster) + rank, column};
  }

  using Position = matrix::WalkPosition<Step>;
};

/// Slices that a share has at least: multiplying them takes twice as long as writing a partial tile
/// and reading it again, 8 bytes per element of C. All SMs do that at one time, at the rate of the
/// L2: of an H200's 9.3 TB/s an SM has 70 bytes per ns, which is 1.9 us for a tile of 128 x 128 and
/// 3.7 us for 256 x 128. A slice of the former takes FFMA 2.1 us and mode tf32x3 0.9 us, one of the
/// latter takes tensor cores 0.6 us.
constexpr int shortest_share(Mode mode) {
  if (mode == Mode::tf32x3) return 4;
  return mode == Mode::fp32 ? 2 : 12;
}

/// Step s < whole is walked as in Walk. Beyond, step whole + i workers + w is the i-th piece of
/// worker w's share. The order of the members is one with which the FFMA loops of all strategies
/// have few operands that meet in a register bank (README.md): with another, baseline's had four
/// times as many.
struct SharedWalk : Walk {
  Divisor by_workers, by_slices, by_share, by_longer_share;
  int longer = 0;  // sharers, the first ones, that have a slice more
  int workers = 1;
  int whole = 0;    // steps that one worker computes alone: full waves
  int shared = 0;   // the steps whose slices are dealt out
  int sharers = 0;  // workers that have a share
  int share = 0;    // slices each of them has

  SharedWalk() = default;
  /// Nothing is shared: the kernels that can share walk whole tiles by the same loop.
  AMASIA_HD explicit SharedWalk(const Walk& walk) : Walk(walk), whole(walk.steps()) {}
  /// `resident`: workers that the device holds at one time.
  AMASIA_HD SharedWalk(const Walk& walk, int resident, int shortest)
      : Walk(walk),
        by_workers(resident),
        workers(resident),
        whole(walk.steps() / resident * resident),
        shared(walk.steps() - whole) {
    if (shared == 0) return;
    const int dealt = shared * slices;
    const int most = shortest < slices ? dealt / shortest : shared;
    sharers = most < resident ? most : resident;
    share = dealt / sharers;
    longer = dealt % sharers;
    if (whole == 0) workers = sharers;
    by_workers = Divisor(workers);
    by_slices = Divisor(slices);
    by_share = Divisor(share);
    by_longer_share = Divisor(share + 1);
  }
  /// Slices by which the last wave is shorter than that of whole tiles.
  AMASIA_HD int saved() const { return shared == 0 ? 0 : slices - share - (longer > 0 ? 1 : 0); }
  /// Partial tiles, or columns of `cluster` of them, that there may be.
  AMASIA_HD int pieces() const { return shared == 0 ? 0 : sharers + shared - 1; }

  struct Piece {
    int tile = 0;  // of the shared ones
    Range run{};   // empty when the worker has no such piece
    int slot = 0;  // among all pieces; those of a tile are neighbours, in the order of slices
  };
  AMASIA_HD Piece piece(Step step) const {
    const int i = step - whole, nth = by_workers.quotient(i), worker = i - nth * workers;
    const int from = start_of(worker), to = start_of(worker + 1);
    const int tile = by_slices.quotient(from) + nth, before = tile * slices;
    return {tile,
            {nth == 0 ? from - before : 0, to - before < slices ? to - before : slices},
            worker + tile};
  }
  /// The slots [first, end) of a shared tile.
  AMASIA_HD Range slots_of(int tile) const {
    return {worker_of(tile * slices) + tile, worker_of((tile + 1) * slices - 1) + tile + 1};
  }

  AMASIA_HD bool is_whole(Step step) const { return step < whole; }
  AMASIA_HD Range run(Step step) const {
    return is_whole(step) ? Walk::run(step) : piece(step).run;
  }
  AMASIA_HD bool has(Step step) const {
    const Range r = run(step);
    return r.first < r.end;
  }
  AMASIA_HD TilePlace place(Step step, int rank) const {
    return Walk::place(is_whole(step) ? step : whole + piece(step).tile, rank);
  }

  struct Position {
    Step step;
    int slice, end;  // end <= slice: there is no more
    AMASIA_HD Position(const SharedWalk& walk, Step first_step)
        : step(first_step), slice(walk.run(step).first), end(walk.run(step).end) {}
    AMASIA_HD bool more(const SharedWalk&) const { return slice < end; }
    AMASIA_HD bool advance(const SharedWalk& walk, Step stride) {
      if (++slice < end) return false;
      step += stride;
      const Range next = walk.run(step);
      slice = next.first;
      end = next.end;
      return true;
    }
  };

 private:
  /// Slices dealt to the workers before this one.
  AMASIA_HD int start_of(int worker) const {
    const int w = worker < sharers ? worker : sharers;
    return w * share + (w < longer ? w : longer);
  }
  AMASIA_HD int worker_of(int slice) const {
    const int of_longer = longer * (share + 1);
    return slice < of_longer ? by_longer_share.quotient(slice)
                             : longer + by_share.quotient(slice - of_longer);
  }
};

/// Whose step is next, where warpgroups compute the tiles of a block by turns (specialised.cuh),
/// and where in the ring of stages its slices are. A walk by `TEAMS` teams: the first step of the
/// block's is team 0's. The producer fills the STAGES of the ring in the order of the steps, so a
/// team passes over the slices of the others.
template <int STAGES, int TEAMS>
struct Turns {
  int turn = 0;
  long long before = 0;  // slices of earlier steps

  AMASIA_HD constexpr bool is_of(int team) const { return turn == team; }
  AMASIA_HD constexpr bool is_first() const { return before == 0; }
  /// Whose step the next one is.
  AMASIA_HD constexpr int next() const { return turn + 1 == TEAMS ? 0 : turn + 1; }
  /// Where the step's first slice is.
  AMASIA_HD constexpr PipelineState<STAGES> state() const {
    return PipelineState<STAGES>::after(before);
  }
  /// To the step behind one of `slices`.
  AMASIA_HD constexpr void pass(int slices) {
    before += slices;
    turn = next();
  }
};

}  // namespace amasia::gemm
