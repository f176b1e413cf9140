// nw/baseline: every element of ref passes through a register on its way to shared memory.
//
// - iso: the original: a tile of ref and its borders are stored to shared memory, a barrier,
// compute.
// - bands: movers load a stage into registers one period before they store it: what careful code
// did before cp.async, paid for with 44 registers a thread.
#include "apps/nw/diagonals.cuh"
#include "apps/nw/stages.cuh"
#include "variants/copies/tile_through_registers.cuh"

namespace amasia::nw {
namespace {

__global__ void __launch_bounds__(Iso::threads) diagonal(DiagonalRun run) {
  __shared__ Scores scores;
  __shared__ alignas(16) int ref[Iso::tile][Iso::tile];
  const std::int64_t column = run.first_column + blockIdx.x;
  const Tile16 tile(run, run.diagonal - column, column);
  const Borders borders(run, tile);
  baseline::copy_tile<Tile<int, Iso::tile, Iso::tile>, Iso::threads>(
      &ref[0][0], run.ref, {tile.row, tile.column}, threadIdx.x);
  borders.store(scores, tile);
  __syncthreads();
  WholeRef source{ref};
  sweep(scores, source, run.penalty);
  store_scores(scores, run, tile);
}

template <class B>
struct HeldLoader {
  StageMemory<B>& memory;
  const Chunks<B>& chunks;
  int filled;
  int4 held[Chunks<B>::count];

  __device__ HeldLoader(StageMemory<B>& m, const Chunks<B>& c, int f)
      : memory(m), chunks(c), filled(f) {}
  __device__ void hold(int n) {
    if (n >= filled) return;
    chunks.each(n, [&](int i, int, std::int64_t from) {
      held[i] = __ldcs(reinterpret_cast<const int4*>(chunks.ref + from));
    });
  }
  __device__ void begin() {
    hold(0);
    for (int n = 0; n < B::stages - 2; ++n) load(n);
  }
  __device__ void load(int n) {
    if (n >= filled) return;
    int* stage = memory.stage[n % B::stages];
    chunks.each(
        n, [&](int i, int to, std::int64_t) { *reinterpret_cast<int4*>(stage + to) = held[i]; });
    hold(n + 1);
  }
  __device__ void ready() {}
};

template <class B>
__global__ void __launch_bounds__(band_threads) bands(BandRun run) {
  extern __shared__ __align__(128) unsigned char memory[];
  move_bands<B, HeldLoader<B>>(run, *reinterpret_cast<StageMemory<B>*>(memory));
}

template <class B>
ConfigOf<Problem> config(const char* name) {
  return bands_config<B>(name, bands<B>, band_threads, sizeof(StageMemory<B>), 1);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::baseline,
    {diagonals_config(diagonal, sizeof(int) * Iso::tile * Iso::tile), config<Bands<4>>("bands-4")});

}  // namespace
}  // namespace amasia::nw
