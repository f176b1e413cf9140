// gemm/drop_off: a thread's own rows of A travel to slots of its own, and it waits for its own
// copies alone (Svedin et al. 2021, algorithm 3). Every thread that works on a row copies it for
// itself, so A passes through L1 8 or 16 times as often as in overlap; the price of privacy in a
// product. B is shared by the block and comes as in overlap, a block barrier per slice.
#include "apps/gemm/own_elements.cuh"
#include "apps/gemm/staged.cuh"

namespace amasia::gemm {
namespace {

// iso: 4 columns of the thread's row of A at a time, the next 4 in flight; two tiles of B.
struct OwnRow {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 2;
  static constexpr int slots = 2, chunks = side / 4;
  static constexpr int slot_bytes = iso_threads * 16;
  static constexpr int shared_bytes = slots * slot_bytes + stages * Side::bytes;
  static constexpr int bytes_in_flight = slot_bytes + Side::bytes;
  const float* next_a;  // 4 columns of the thread's row: there are `chunks` times 4 in a tile
  int chunks_of_a;      // none where the thread is below the matrix
  ElementsOfB own_b;
  float4* slot;
  float* b_tiles;
  float2 held{};  // 2 of the 4: with all 4 it is 36 registers, with which an SM has one block

  __device__ OwnRow(unsigned char* shared, View, const Problem& p, std::int64_t row,
                    std::int64_t column, int tiles)
      : OwnRow(shared, OwnElements(p, row, column), tiles) {}
  // The padding of A's rows is zero up to the end of the last tile.
  __device__ OwnRow(unsigned char* shared, const OwnElements& own, int tiles)
      : next_a(&own.a.at(own.row, 0)),
        chunks_of_a(own.row < own.a.rows ? tiles * chunks : 0),
        own_b(own),
        slot(reinterpret_cast<float4*>(shared) + threadIdx.x),
        b_tiles(reinterpret_cast<float*>(shared + slots * slot_bytes)) {
    copy_b(0);
    copy_a(0);
    async::commit();
  }
  __device__ void copy_a(int chunk) {
    async::copy<16>(slot + chunk % slots * iso_threads, next_a, chunk < chunks_of_a ? 16 : 0);
    next_a += 4;
  }
  __device__ void copy_b(int s) {
    async::copy<4>(b_tiles + s % stages * side_elements + threadIdx.x, own_b.next,
                   own_b.has(s) ? 4 : 0);
    own_b.move_on();
  }
  __device__ void acquire(int) const {
    async::wait<0>();
    __syncthreads();  // the tile of B, everybody's; the slot is the thread's own
  }
  __device__ float a(int s, int i) {
    const int chunk = i / 4;
    if (i % 4 == 0) {
      if (chunk > 0) async::wait<0>();
      copy_a(s * chunks + chunk + 1);
      if (chunk == 0) copy_b(s + 1);
      async::commit();
    }
    if (i % 2 == 0) {
      const float4* here = slot + chunk % slots * iso_threads;
      held = reinterpret_cast<const float2*>(here)[i % 4 / 2];
    }
    return i % 2 == 0 ? held.x : held.y;
  }
  __device__ float b(int s, int i) const {
    return b_tiles[s % stages * side_elements + i * side + tile_column()];
  }
  __device__ void release(int) const {}
  __device__ void leave() const { async::wait<0>(); }
};

/// Four columns of the thread's eight rows of A per slot; chunk g of the walk is in slot g % slots.
template <class Tile>
struct OwnRows {
  static constexpr int slots = 3;
  static constexpr int slot_bytes = Tile::rows_per_thread * Tile::threads * 16;
  unsigned slot;   // the thread's place in the first one
  unsigned first;  // slot of the slice's first chunk
  __device__ void before(int) const { async::wait<slots - 1>(); }
  __device__ float4 load(int i, int chunk) const {
    const unsigned at = (first + static_cast<unsigned>(chunk)) % slots;
    return async::load_float4(slot + at * slot_bytes +
                              static_cast<unsigned>(i * Tile::threads * 16));
  }
};

template <class TileT>
struct OwnSlots {
  using Tile = TileT;
  using Walk = WalkOf<Tile>;
  using Rows = OwnRows<Tile>;
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 3, slots = Rows::slots;
  static constexpr std::size_t shared_bytes(int) {
    return slots * Rows::slot_bytes + stages * Tile::b_bytes;
  }
  static constexpr int bytes_in_flight(int) {
    return (slots - 1) * Rows::slot_bytes + (stages - 1) * Tile::b_bytes;
  }

  const Problem& problem;
  const Walk& walk;
  unsigned slot, ring;
  int thread, stage = 0;
  unsigned first = 0;
  Ahead<Tile, Walk> ahead;  // of B, by `stages - 1` slices
  Target<Tile> target;
  // Of A: `slots` chunks.
  typename Walk::Step step;
  int chunk_of_row = 0, last_chunk, rows_below = 0;
  const unsigned char* a = nullptr;
  unsigned to = 0;

  __device__ OwnSlots(unsigned char* shared, View, const Problem& p, const Walk& w, int)
      : problem(p),
        walk(w),
        slot(async::held_address(shared) + threadIdx.x * 16),
        ring(async::held_address(shared) + slots * Rows::slot_bytes - Tile::a_bytes),
        thread(static_cast<int>(threadIdx.x)),
        ahead(p, w, thread),
        target(ring, thread),
        step(first_step(w)),
        last_chunk(w.slices * Tile::chunks) {
    enter();
    ahead.skip_a();
    target.enter_b(0);
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
#pragma unroll 1
      for (int chunk = 0; chunk < Tile::chunks; ++chunk) copy_b();
      end_b();
    }
#pragma unroll 1
    for (int chunk = 0; chunk < slots; ++chunk) copy_a();
    async::wait<slots - 1>();
  }
  __device__ void enter() {
    if (step >= walk.steps()) return;
    const int row = walk.place(step, 0).row * Tile::m + Tile::row(thread, 0);
    const int last = static_cast<int>(problem.m) - 1;
    rows_below = row < last ? last - row : 0;
    a = problem.a.data + (row < last ? row : last) * problem.a.pitch;
  }
  /// Starts the copies of the thread's next chunk and closes the group.
  __device__ void copy_a() {
    if (step < walk.steps()) {
      Source source{a + 16 * chunk_of_row, rows_below, 8, 8 * static_cast<int>(problem.a.pitch)};
#pragma unroll
      for (int i = 0; i < Tile::rows_per_thread; ++i) {
        async::copy16<async::Cache::l1_too>(
            slot + to + static_cast<unsigned>(i * Tile::threads * 16), source.take());
      }
      if (++chunk_of_row == last_chunk) {
        chunk_of_row = 0;
        step += step_stride(walk);
        enter();
      }
    }
    async::commit();
    to += Rows::slot_bytes;
    if (to == slots * Rows::slot_bytes) to = 0;
  }
  /// Starts the copies of the thread's share of B during one chunk; copy_a() closes their group.
  __device__ void copy_b() {
    constexpr int per_chunk = Pieces<Tile>::of_b / Tile::chunks;
    static_assert(per_chunk * Tile::chunks == Pieces<Tile>::of_b);
    if (!ahead.more()) return;
    Source& from = ahead.pieces_from(per_chunk, thread);
    target.template take<per_chunk>([&](unsigned to) { async::copy16(to, from.take()); });
  }
  __device__ void end_b() {
    ahead.next_slice(stages, thread);
    ahead.skip_a();
    target.enter_b(ahead.stage);
  }
  // A thread's copies of B are done before it waited for the chunks of A that it used since.
  __device__ void acquire() const { __syncthreads(); }
  __device__ Rows left(int) const { return {slot, first}; }
  __device__ unsigned b() const {
    return ring + Tile::a_bytes + static_cast<unsigned>(stage * Tile::b_bytes);
  }
  __device__ void between(int) {
    copy_b();
    copy_a();
  }
  __device__ void release() {
    end_b();
    if (++stage == stages) stage = 0;
    first = (first + Tile::chunks) % slots;
  }
  __device__ void leave() const { async::wait<0>(); }
};

std::vector<Declined> declined() {
  std::vector<std::string_view> tensor_cores = mma_schedules();
  for (std::string_view name : wgmma_schedules()) tensor_cores.push_back(name);
  auto all =
      decline(tensor_cores,
              "on tensor cores no thread owns a row of A: a fragment is spread over the warp");
  all.push_back(
      {std::string(ffma_128x128.shared), "at 255 registers the position in a shared sum spills"});
  for (Declined& d : decline(both({ffma_producer_128x256}),
                             "rows of A go into slots of the very thread that multiplies them: no "
                             "other warp brings them")) {
    all.push_back(std::move(d));
  }
  return all;
}

const bool registered =
    register_variant<Problem>("gemm", Strategy::drop_off,
                              {iso<OwnRow>(), persistent<OwnSlots<Fp32Tile<256>>>({3}),
                               persistent<OwnSlots<Fp32Tile<128>>>({3})},
                              declined());

}  // namespace
}  // namespace amasia::gemm
