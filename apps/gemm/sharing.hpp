// Sums that several blocks share: as many steps as fill all workers in full waves are walked as
// before; the slices of all others, laid end to end, are dealt out evenly. A worker's share may end
// one tile's sum and begin another's: each piece becomes a partial tile of its own. The pieces of a
// tile are added in the order of their slices, so the result does not depend on who was first.
#pragma once

#include "apps/gemm/gemm.hpp"
#include "apps/gemm/walk.hpp"

namespace amasia::gemm {

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

}  // namespace amasia::gemm
