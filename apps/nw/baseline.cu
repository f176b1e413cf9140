// nw/baseline: every element of ref passes through a register on its way to shared memory.
//
// - iso: the original: tiles of ref and their borders are stored to shared memory, a barrier,
//   compute.
// - bands: producer warps load stages into registers some periods before they store them: what
//   careful code did before cp.async. What is in flight is paid for with registers, 4 for each 16
//   bytes of a thread, so more producer warps hold more.
#include "apps/nw/column_copies.cuh"
#include "apps/nw/diagonals.cuh"
#include "apps/nw/stages.cuh"
#include "variants/copies/tile.cuh"

namespace amasia::nw {
namespace {

template <class Schedule>
__global__ void __launch_bounds__(tile16) diagonal(DiagonalRun run) {
  __shared__ TileSharedStorage<Schedule> shared;
  // Prologue: all that the block reads is asked for at once
  const Tile16 top = tile_of_block<Schedule>(run, 0);
  const Borders<Schedule::tiles> borders(run, top);
  baseline::copy_tile<Tile<int, Schedule::tiles * tile16, tile16>, tile16>(
      &shared.ref[0][0][0], run.ref, top.origin(), threadIdx.x);
  borders.store(shared.scores);
  __syncthreads();
  // Main loop, Epilogue
  sweep_tiles<Schedule>(
      run, shared.scores, borders, [&](int n) { return WholeRef{shared.ref[n]}; },
      [&](int, const Tile16& tile) { store_scores(shared.scores, run, tile); });
}

/// HELD stages are on their way to registers while the walker walks.
template <class B, class W, int HELD>
struct HeldLoader {
  static constexpr int parts = HELD;
  BandSharedStorage<B>& shared;
  const Chunks<B, W>& chunks;
  const int filled;
  int4 held[HELD][Chunks<B, W>::count];

  __device__ HeldLoader(BandSharedStorage<B>& s, const Chunks<B, W>& c)
      : shared(s), chunks(c), filled(B::filled(c.run.ref.columns)) {}
  template <int PART>
  __device__ void hold(int n) {
    if (n >= filled) return;
    chunks.each(n, [&](int i, int, std::int64_t from) {
      held[PART][i] = *reinterpret_cast<const int4*>(chunks.ref + from);
    });
  }
  __device__ void producer_begin() {
    each_constant<HELD>([&](auto n) { hold<n.value>(n.value); });
    each_constant<B::stages - 2>(
        [&](auto n) { producer_load<n.value % HELD>(n.value, shared.stage[n.value]); });
  }
  template <int PART>
  __device__ void producer_load(int n, int* stage) {
    if (n >= filled) return;
    chunks.each(n, [&](int i, int to, std::int64_t) {
      *reinterpret_cast<int4*>(stage + to) = held[PART][i];
    });
    hold<PART>(n + HELD);
  }
  __device__ void producer_commit() {}
};

/// columns-128: one stage is on its way to registers while others are in the ring.
template <class B>
struct HeldColumnLoader {
  static constexpr int pending = 0;
  const ColumnChunks<B>& chunks;
  const int filled;
  int4 held[ColumnChunks<B>::count];

  __device__ HeldColumnLoader(const ColumnChunks<B>& c, int stages) : chunks(c), filled(stages) {}
  __device__ void begin() { hold(0); }
  __device__ void hold(int n) {
    if (n >= filled) return;
    chunks.each(n, [&](int i, unsigned, std::int64_t from, bool has) {
      held[i] = has ? *reinterpret_cast<const int4*>(chunks.ref + from) : int4{};
    });
  }
  __device__ void load(int n, int* stage) {
    if (n >= filled) return;
    chunks.each(n, [&](int i, unsigned to, std::int64_t, bool) {
      *reinterpret_cast<int4*>(stage + to) = held[i];
    });
    hold(n + 1);
  }
};

template <int STAGES>
ConfigOf<Problem> columns(const char* name) {
  using B = ColumnBands<STAGES>;
  return copied_columns_config<B, ColumnConsumer<B>, HeldColumnLoader<B>>(name, column_copiers / 32,
                                                                          1);
}

template <class Schedule>
ConfigOf<Problem> tiles() {
  return diagonals_config<Schedule>("", diagonal<Schedule>, {{"stages", 1}}, sizeof(RefTile));
}

template <int BATCH, int PRODUCERS, int HELD>
ConfigOf<Problem> held(const char* name) {
  using B = Bands<Bands128x32, BATCH, 4>;
  using W = Warps<PRODUCERS>;
  return copied_bands_config<B, W, BarrierPipeline<B, W>, HeldLoader<B, W, HELD>>(name, PRODUCERS,
                                                                                  HELD);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::baseline,
    {tiles<Iso>(), columns<7>("7-stages"), held<1, 6, 4>("6-warps-hold-4"),
     held<2, 6, 2>("6-warps-hold-2-pairs"), tiles<IsoPairs>()});

}  // namespace
}  // namespace amasia::nw
