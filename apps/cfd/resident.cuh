// The schedule resident: one cooperative launch for all iterations. A block has an SM for itself
// and keeps a share of the elements, consecutive ones, in shared memory for the whole run. Records
// also go to global memory, where other blocks read them: a stage reads one of two arrays and
// writes the other, so one barrier of the grid between stages is enough.
//
// A variant brings a Mover: how the share comes in, how records of other shares come, and how
// results leave.
#pragma once

#include <cstddef>
#include <string>

#include "apps/cfd/records.cuh"

namespace amasia::cfd {

struct ResidentView {
  Record* records;     // (2, pitch), swizzled
  const Face* faces;   // (4, pitch)
  const float* roots;  // of the areas
  unsigned* arrivals;  // of blocks at the barrier of the grid, 0 at the start
  std::int64_t pitch;
  int elements, share, stages;
  Record far;
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
    old[i] = make_float4(r.density, r.momentum_x, r.momentum_y, r.momentum_z);
    old_energy[i] = r.energy;
    step[i] = step_factor(root_of_area[i], r.wave);
  }
  /// The variables before the iteration, all that advance() reads.
  __device__ Record before(int i) const {
    return {old[i].x, old[i].y, old[i].z, old[i].w, old_energy[i], 0, 0, 0};
  }
};
static_assert(offsetof(Share, boundary) == offsetof(Share, record) + sizeof(Share::record));

/// What movers have in common, and how all goes through registers. The place of a neighbour is what
/// place_of() says in Share::record, or outside of the share in an array of all records. A bit says
/// which, so that nothing of it is worked out twice.
struct Mover {
  using Storage = Share;
  static constexpr bool sends_share = false;  // with what it has written to shared memory
  static constexpr int elsewhere = 1 << 30;   // another block's
  static constexpr int far_field_place = static_cast<int>(share_elements * sizeof(Record));
  static constexpr int wing_place = far_field_place + static_cast<int>(sizeof(Record));
  Share& share;
  const ResidentView& v;
  const int first = static_cast<int>(blockIdx.x) * v.share;
  const int count = min(v.share, v.elements - first);
  const Record* now = v.records;
  Record* next = v.records;

  __device__ Mover(Share& s, const ResidentView& view) : share(s), v(view) {}

  /// The thread's element of a turn.
  __device__ static int element(int turn) {
    return turn * resident_threads + static_cast<int>(threadIdx.x);
  }
  __device__ bool has(int turn) const { return turn < resident_turns && element(turn) < count; }
  /// Calls what(i) for the thread's elements.
  template <class What>
  __device__ void each(const What& what) const {
#pragma unroll
    for (int turn = 0; turn < resident_turns; ++turn) {
      if (has(turn)) what(element(turn));
    }
  }

  /// Brings the share in. A barrier of the block follows.
  __device__ void load() {
    each([&](int i) {
#pragma unroll
      for (int f = 0; f < faces; ++f) {
        share.face[f][i] = load_face(v.faces + f * v.pitch + first + i);
      }
      share.root_of_area[i] = v.roots[first + i];
      share.record[i] = v.records[first + i];
    });
  }
  /// Is the record there in shared memory that this block reads?
  __device__ static bool is_near(int place) { return place < elsewhere; }
  __device__ int place_in_share(int n) const {
    const auto i = static_cast<unsigned>(n - first);
    return i < static_cast<unsigned>(v.share) ? place_of(static_cast<int>(i)) : elsewhere;
  }
  __device__ Record near(int place) const { return load_record(share.record, place); }
  /// Before the far records of a turn's elements are read; behind that.
  __device__ void begin_turn(int) {}
  __device__ void end_turn(int) {}
  /// The record of an element of another share, past L1, which may still hold what was there.
  __device__ Record far(int, int place) {
    const float4 a = __ldcg(half_at(now, place - elsewhere));
    const float4 b = __ldcg(half_at(now, (place - elsewhere) ^ 16));
    return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
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
    if (threadIdx.x == 0) {
      unsigned seen = 0;
      while (seen < times * gridDim.x) {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];\n"
                     : "=r"(seen)
                     : "l"(v.arrivals)
                     : "memory");
      }
    }
    __syncthreads();
  }
};

template <class OwnMover>
__global__ void __launch_bounds__(resident_threads, 1) resident(ResidentView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  OwnMover mover(*reinterpret_cast<typename OwnMover::Storage*>(memory), v);
  Share& share = mover.share;

  // Prologue
  mover.load();
  if (threadIdx.x < 2) store_record(share.boundary + threadIdx.x, v.far);
  __syncthreads();
  mover.each([&](int i) {
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
    share.begin_iteration(i, mover.near(place_of(i)));
  });
  mover.meet();

  // Main loop: a turn of threads after the other
#pragma unroll 1
  for (int k = 0, stage = 0; k < v.stages; ++k, stage = stage == 2 ? 0 : stage + 1) {
    mover.now = v.records + (k % 2) * v.pitch;
    mover.next = v.records + (k + 1) % 2 * v.pitch;
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
      mover.begin_turn(turn);
      bool winged = false;
#pragma unroll
      for (int f = 0; f < faces; ++f) {
        if (!mover.is_near(face[f].neighbour)) behind[f] = mover.far(f, face[f].neighbour);
        winged |= face[f].neighbour == Mover::wing_place;
      }
      mover.end_turn(turn);
      const float4 four = share.viscosity[i];
      const float viscosity[faces] = {four.x, four.y, four.z, four.w};
      // The far field is a neighbour without viscosity; wings are rare. So no branch for each face.
      Sums sums;
      const auto add_faces = [&](const auto& is_wing) {
#pragma unroll
        for (int f = 0; f < faces; ++f) {
          Face of = face[f];
          of.neighbour = is_wing(of) ? wing : 0;
          sums.add_face(own, of, behind[f], [&] { return viscosity[f]; });
        }
      };
      if (winged) {
        add_faces([](const Face& of) { return of.neighbour == Mover::wing_place; });
      } else {
        add_faces([](const Face&) { return false; });
      }
      result[turn] = advance(share.before(i), share.step[i], stage, sums.finish(own));
      mover.send(i, result[turn]);
    }
    mover.meet();  // the block's records have been read
    if (threadIdx.x == 0 && !OwnMover::sends_share) mover.arrive();
#pragma unroll
    for (int turn = 0; turn < resident_turns; ++turn) {
      if (!mover.has(turn)) continue;
      const int i = Mover::element(turn);
      store_record(share.record, place_of(i), result[turn]);
      if (stage == 2) share.begin_iteration(i, result[turn]);
    }
    mover.meet();  // and are those of the next stage
    if (threadIdx.x == 0 && OwnMover::sends_share) mover.arrive();
  }
}

/// Adds the config resident of a mover. `clusters`: blocks of a cluster.
template <class OwnMover>
void add_resident(std::vector<ConfigOf<Problem>>& all, std::size_t bytes_in_flight,
                  int clusters = 1) {
  const auto kernel = resident<OwnMover>;
  const auto* const function = reinterpret_cast<const void*>(kernel);
  LaunchShape full;
  full.block = dim3(resident_threads);
  full.dynamic_shared_bytes = sizeof(typename OwnMover::Storage);
  full.cluster_blocks = static_cast<unsigned>(clusters);
  full.cooperative = true;
  ConfigOf<Problem> config;
  config.info = records_info<true>(resident_name, function, resident_threads, resident_turns,
                                   {clusters, full.dynamic_shared_bytes, bytes_in_flight});
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
  config.prepare = [=](const Problem& p, const Device& device) -> Launch {
    const Packed packed(p);
    // Whole warps, whose roots are 128 bytes: pieces of every array are aligned.
    const std::int64_t share = round_up(ceil_div(p.elements, blocks_that_fit(device)), 32);
    LaunchShape shape = full;
    shape.grid = dim3(static_cast<unsigned>(round_up(ceil_div(p.elements, share), clusters)));
    const ResidentView v{packed.records,
                         packed.faces,
                         packed.roots,
                         reinterpret_cast<unsigned*>(packed.records + 2 * p.pitch),
                         p.pitch,
                         static_cast<int>(p.elements),
                         static_cast<int>(share),
                         stages_of_iteration * p.iterations,
                         p.far};
    return [=](Stream stream) {
      AMASIA_CUDA(cudaMemsetAsync(v.arrivals, 0, sizeof(unsigned), stream));
      launch(pack_records<tile_threads, true>, element_shape(p), stream, p, packed.records,
             packed.faces, packed.roots);
      launch(kernel, shape, stream, v);
      launch(unpack_records<tile_threads, true>, element_shape(p), stream, p,
             v.records + v.stages % 2 * p.pitch);
    };
  };
  all.push_back(std::move(config));
}

}  // namespace amasia::cfd
