// The schedule resident: one cooperative launch for all iterations. A block has an SM for itself
// and keeps a share of the elements, consecutive ones, in shared memory for the whole run. Records
// also go to global memory, where other blocks read them: a stage reads one of two arrays and
// writes the other, so one barrier of the grid between stages is enough.
//
// A variant brings a Mover: how the share comes in, how records of other shares come, and how
// results leave.
#pragma once

#include <cstddef>

#include "apps/cfd/records.cuh"

namespace amasia::cfd {

struct ResidentView : Packed {
  unsigned* arrivals;  // of blocks at the barrier of the grid, 0 at the start
  int share, stages;
};

/// What a block keeps, 140 bytes an element: the largest share that fits beside the movers' slots.
struct Share {
  alignas(128) Face face[faces][share_elements];  // `neighbour` is a place, see Mover
  alignas(128) Record record[share_elements];     // swizzled
  Record boundary[2];                             // the far field's, for faces without a neighbour
  alignas(128) float root_of_area[share_elements];
  float4 viscosity[share_elements];  // of the faces
  float4 old[share_elements];        // variables before the iteration
  float old_energy[share_elements], step[share_elements];

  /// What does not change in an iteration, from the element's record before it.
  __device__ void begin_iteration(int i, const Record& r) {
    old[i] = make_float4(r.u[0], r.u[1], r.u[2], r.u[3]);
    old_energy[i] = r.u[4];
    step[i] = step_factor(root_of_area[i], r.wave);
  }
  __device__ Record before(int i) const {
    return {{old[i].x, old[i].y, old[i].z, old[i].w, old_energy[i]}, 0, 0, 0};
  }
};
static_assert(offsetof(Share, boundary) == offsetof(Share, record) + sizeof(Share::record));

/// What movers have in common, and how all goes through registers. The place of a neighbour is what
/// place_of() says in Share::record, or outside of the share in an array of all records. A bit says
/// which, so that nothing of it is worked out twice.
struct Mover {
  using Storage = Share;
  static constexpr int cluster_blocks = 1;
  static constexpr std::size_t bytes_in_flight = 0;
  static constexpr bool sends_share = false;  // with what it has written to shared memory
  static constexpr int elsewhere = 1 << 30;   // another block's
  static constexpr int far_field_place = static_cast<int>(share_elements * sizeof(Record));
  static constexpr int wing_place = far_field_place + static_cast<int>(sizeof(Record));
  Share& share;
  const ResidentView& v;
  const int first = static_cast<int>(blockIdx.x) * v.share;
  const int count = min(v.share, static_cast<int>(v.p.elements) - first);
  const Record* now = v.records;
  Record* next = v.records;

  __device__ Mover(Share& s, const ResidentView& view) : share(s), v(view) {}

  __device__ static int element(int turn) {
    return turn * resident_threads + static_cast<int>(threadIdx.x);
  }
  __device__ bool has(int turn) const { return turn < resident_turns && element(turn) < count; }
  /// Brings the share in; copy(to, from) moves one object. A barrier of the block follows.
  template <class Copy>
  __device__ void load_by(const Copy& copy) {
#pragma unroll
    for (int turn = 0; turn < resident_turns && has(turn); ++turn) {
      const int i = element(turn), all = first + i;  // of all elements
#pragma unroll
      for (int f = 0; f < faces; ++f) copy(&share.face[f][i], v.faces + f * v.p.pitch + all);
      copy(share.root_of_area + i, v.roots + all);
      copy(half_at(share.record, 32 * i), half_at(v.records, 32 * std::int64_t{all}));
      copy(half_at(share.record, 32 * i + 16), half_at(v.records, 32 * std::int64_t{all} + 16));
    }
  }
  __device__ void load() {
    load_by([](auto* to, const auto* from) { *to = *from; });
  }
  /// Is the record there in shared memory that this block reads?
  __device__ static bool is_near(int place) { return place < elsewhere; }
  __device__ int place_in_share(int n) const {
    const auto i = static_cast<unsigned>(n - first);
    return i < static_cast<unsigned>(v.share) ? place_of(static_cast<int>(i)) : elsewhere;
  }
  __device__ Record near(int place) const { return load_record(share.record, place); }
  /// Far records of a turn are read next, once those of the turn before have been.
  __device__ void ask_turn(int) {}
  /// The record of an element of another share, past L1, which may still hold what was there.
  __device__ Record far(int, int, int place) {
    return record_of(__ldcg(half_at(now, place - elsewhere)),
                     __ldcg(half_at(now, (place - elsewhere) ^ 16)));
  }
  /// A result on its way to other blocks.
  __device__ void send(int i, const Record& r) { store_record(next, place_of(first + i), r); }
  /// All threads that read this block's records have come; what they wrote is visible.
  __device__ void meet() { __syncthreads(); }
  /// By one thread: the results of the block are visible to the grid.
  __device__ void arrive() {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;\n" ::"l"(v.arrivals) : "memory");
  }
  /// All blocks have arrived `times` times.
  __device__ void wait(unsigned times) {
    for (unsigned seen = 0; threadIdx.x == 0 && seen < times * gridDim.x;) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(v.arrivals) : "memory");
    }
    __syncthreads();
  }
};

/// By cp.async into a slot of the thread, each waited for at once.
struct SlotMover : Mover {
  struct Storage : Share {
    float4 slot[2][resident_threads];  // halves of a thread's record
  };
  static constexpr std::size_t bytes_in_flight = sizeof(Storage::slot);
  Storage& slots;
  __device__ SlotMover(Storage& s, const ResidentView& view) : Mover(s, view), slots(s) {}

  __device__ void load() {
    load_by([](auto* to, const auto* from) { async::copy<sizeof(*to)>(to, from); });
    async::commit();
    async::wait<0>();
  }
  __device__ void ask(int place) {
    async::copy16(async::shared_address(&slots.slot[0][threadIdx.x]),
                  half_at(now, place - elsewhere));
    async::copy16(async::shared_address(&slots.slot[1][threadIdx.x]),
                  half_at(now, (place - elsewhere) ^ 16));
    async::commit();
  }
  __device__ Record take() const {
    async::wait<0>();
    return record_of(slots.slot[0][threadIdx.x], slots.slot[1][threadIdx.x]);
  }
  __device__ Record far(int, int, int place) {
    ask(place);
    return take();
  }
};

/// The next turn's first far record is in flight while a turn is computed. ALL: so is each next one
/// of an element when one is taken. Otherwise these go through registers.
template <bool ALL>
struct AheadMover : SlotMover {
  using SlotMover::SlotMover;
  bool taken = false;

  /// Asks for the first far record of the turn's element from face `from` on.
  __device__ void ask_from(int turn, int from) {
    if (!has(turn)) return;
#pragma unroll
    for (int f = from; f < faces; ++f) {
      const int place = share.face[f][element(turn)].neighbour;
      if (!is_near(place)) return ask(place);
    }
  }
  __device__ void ask_turn(int turn) {
    taken = false;
    ask_from(turn, 0);
  }
  __device__ Record far(int turn, int f, int place) {
    if (!ALL && taken) return Mover::far(turn, f, place);
    taken = true;
    const Record record = take();
    if (ALL) ask_from(turn, f + 1);
    return record;
  }
};

template <class OwnMover>
__global__ void __launch_bounds__(resident_threads, 1) resident(ResidentView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  OwnMover mover(*reinterpret_cast<typename OwnMover::Storage*>(memory), v);
  Share& share = mover.share;

  // Prologue
  mover.load();
  if (threadIdx.x < 2) store_record(share.boundary + threadIdx.x, 0, v.p.far);
  __syncthreads();
#pragma unroll
  for (int turn = 0; turn < resident_turns && mover.has(turn); ++turn) {
    const int i = Mover::element(turn);
    float viscosity[faces];
#pragma unroll
    for (int f = 0; f < faces; ++f) {
      const Face face = load_face(&share.face[f][i]);
      const int n = face.neighbour;
      viscosity[f] = n >= 0 ? viscosity_of(face) : 0;
      int place = n == wing ? Mover::wing_place : Mover::far_field_place;
      if (n >= 0) place = mover.place_in_share(n);
      share.face[f][i].neighbour = place == Mover::elsewhere ? place + place_of(n) : place;
    }
    share.viscosity[i] = make_float4(viscosity[0], viscosity[1], viscosity[2], viscosity[3]);
    share.begin_iteration(i, load_record(share.record, place_of(i)));
  }
  mover.meet();

  // Main loop: a turn of threads after the other
#pragma unroll 1
  for (int k = 0, stage = 0; k < v.stages; ++k, stage = stage == 2 ? 0 : stage + 1) {
    mover.now = v.records + (k % 2) * v.p.pitch;
    mover.next = v.records + (k + 1) % 2 * v.p.pitch;
    Record result[resident_turns];
#pragma unroll
    for (int turn = 0; turn < resident_turns; ++turn) {
      const int i = Mover::element(turn);
      const bool exists = mover.has(turn);
      Record own, behind[faces];
      Face face[faces];
      if (exists) {
        own = load_record(share.record, place_of(i));
#pragma unroll
        for (int f = 0; f < faces; ++f) {
          face[f] = load_face(&share.face[f][i]);
          if (mover.is_near(face[f].neighbour)) behind[f] = mover.near(face[f].neighbour);
        }
      }
      if (turn == 0 && k > 0) mover.wait(k);  // other shares are as far
      if (!exists) continue;
      if (turn == 0) mover.ask_turn(0);
      bool winged = false;
#pragma unroll
      for (int f = 0; f < faces; ++f) {
        if (!mover.is_near(face[f].neighbour)) behind[f] = mover.far(turn, f, face[f].neighbour);
        winged |= face[f].neighbour == Mover::wing_place;
      }
      mover.ask_turn(turn + 1);
      const float4 four = share.viscosity[i];
      const float viscosity[faces] = {four.x, four.y, four.z, four.w};
      // The far field is a neighbour without viscosity; wings are rare. So no branch for each face.
      Sums sums;
      const auto add_faces = [&](bool with_wings) {
#pragma unroll
        for (int f = 0; f < faces; ++f) {
          face[f].neighbour = with_wings && face[f].neighbour == Mover::wing_place ? wing : 0;
          sums.add_face(own, face[f], behind[f], viscosity[f]);
        }
      };
      winged ? add_faces(true) : add_faces(false);
      result[turn] = advance(share.before(i), share.step[i], stage, sums.finish(own));
      mover.send(i, result[turn]);
    }
    mover.meet();  // the block's records have been read
    if (threadIdx.x == 0 && !OwnMover::sends_share) mover.arrive();
#pragma unroll
    for (int turn = 0; turn < resident_turns && mover.has(turn); ++turn) {
      const int i = Mover::element(turn);
      store_record(share.record, place_of(i), result[turn]);
      if (stage == 2) share.begin_iteration(i, result[turn]);
    }
    mover.meet();  // and are those of the next stage
    if (threadIdx.x == 0 && OwnMover::sends_share) mover.arrive();
  }
}

template <class OwnMover>
ConfigOf<Problem> resident_config() {
  constexpr int clusters = OwnMover::cluster_blocks;
  const auto kernel = resident<OwnMover>;
  const auto* const function = reinterpret_cast<const void*>(kernel);
  const LaunchShape full{
      {}, dim3(resident_threads), sizeof(typename OwnMover::Storage), clusters, true};
  ConfigOf<Problem> config;
  config.info = records_info<OwnMover>(resident_name, function, full, resident_turns, 1);
  const auto blocks_that_fit = [=](const Device& device) {
    if (full.dynamic_shared_bytes > device.shared_per_block) return 0;
    allow_launch(function, full);
    return resident_blocks(function, full, device.sm_count);
  };
  config.unsupported = [=](const Problem& p, const Device& d) -> std::optional<std::string> {
    if (!d.cooperative_launch) return "the device has no cooperative launch";
    const std::int64_t room = std::int64_t{share_elements} * blocks_that_fit(d);
    if (p.elements <= room) return std::nullopt;
    return "the device's SMs keep " + std::to_string(room) + " elements, fewer than " +
           std::to_string(p.elements);
  };
  config.prepare = [=](const Problem& p, const Device& device) {
    const Packed packed{p};
    // Whole warps, whose roots are 128 bytes: pieces of every array are aligned.
    const std::int64_t share = round_up(ceil_div(p.elements, blocks_that_fit(device)), 32);
    LaunchShape shape = full;
    shape.grid = dim3(static_cast<unsigned>(round_up(ceil_div(p.elements, share), clusters)));
    const ResidentView v{packed, reinterpret_cast<unsigned*>(packed.records + 2 * p.pitch),
                         static_cast<int>(share), stages_of_iteration * p.iterations};
    return packed_run(packed, false, [=](Stream stream) {
      AMASIA_CUDA(cudaMemsetAsync(v.arrivals, 0, sizeof(unsigned), stream));
      launch(kernel, shape, stream, v);
      return packed.records + v.stages % 2 * p.pitch;
    });
  };
  return config;
}

}  // namespace amasia::cfd
