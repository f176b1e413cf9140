// Elements as records of one sector, a launch for each stage, in which as many blocks as fit walk
// the tiles. A run packs the inputs, computes its stages, and unpacks the result.
//
// Records have three places. The first holds what was before the iteration; the last stage
// overwrites it, because only an element's own thread still reads it then.
#pragma once

#include <algorithm>
#include <utility>

#include "apps/cfd/kernel.cuh"
#include "apps/cfd/schedules.hpp"
#include "apps/common/start.hpp"
#include "variants/device/dependent_launch.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::cfd {

/// Every other four records have their halves swapped: 8 lanes that read halves of consecutive
/// records in shared memory then meet all banks. place_of(): bytes to the first half of record i.
template <class Index>
AMASIA_HD Index place_of(Index i) {
  return 32 * i + 16 * (i >> 2 & 1);
}
template <class Place>
__device__ __forceinline__ float4* half_at(const Record* records, Place place) {
  return reinterpret_cast<float4*>(reinterpret_cast<char*>(const_cast<Record*>(records)) + place);
}
__device__ __forceinline__ Record record_of(const float4& a, const float4& b) {
  return {{a.x, a.y, a.z, a.w, b.x}, b.y, b.z, b.w};
}
template <class Place>
__device__ __forceinline__ Record load_record(const Record* records, Place place) {
  return record_of(*half_at(records, place), *half_at(records, place ^ 16));
}
template <class Place>
__device__ __forceinline__ void store_record(Record* records, Place place, const Record& r) {
  *half_at(records, place) = make_float4(r.u[0], r.u[1], r.u[2], r.u[3]);
  *half_at(records, place ^ 16) = make_float4(r.u[4], r.pressure, r.wave, r.volume);
}
__device__ __forceinline__ Face load_face(const Face* from) {
  const int4 f = *reinterpret_cast<const int4*>(from);
  return {{__int_as_float(f.x), __int_as_float(f.y), __int_as_float(f.z)}, f.w};
}

/// What the scratch of a run holds. Padding up to the pitch may be copied, but holds no data.
struct Packed {
  Problem p;
  Record* records = reinterpret_cast<Record*>(p.scratch);                 // (3, pitch)
  Face* faces = reinterpret_cast<Face*>(records + 3 * p.pitch);           // (4, pitch)
  float* roots = reinterpret_cast<float*>(faces + cfd::faces * p.pitch);  // (pitch), of the areas
};

template <int THREADS>
__global__ void __launch_bounds__(THREADS) pack_records(Packed to) {
  const Problem& p = to.p;
  const std::int64_t i = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
  if (i >= p.elements) return;
  store_record(to.records, place_of(i), record_at(p.initial, p.pitch, i));
#pragma unroll
  for (int f = 0; f < faces; ++f) to.faces[f * p.pitch + i] = face_at(p, f, i);
  to.roots[i] = root(p.areas[i]);
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) unpack_records(Problem p, const Record* records) {
  wait_for_predecessor();
  const std::int64_t i = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
  if (i < p.elements) store_at(p.result, p.pitch, i, load_record(records, place_of(i)));
}

/// A run between them; stages(stream) says where it has left the records.
template <class Stages>
Launch packed_run(const Packed& packed, bool early_unpack, const Stages& stages) {
  const LaunchShape each{dim3(static_cast<unsigned>(ceil_div(packed.p.elements, tile_threads))),
                         dim3(tile_threads)};
  return [=](Stream stream) {
    launch(pack_records<tile_threads>, each, stream, packed);
    const Record* const end = stages(stream);
    launch(unpack_records<tile_threads>, FollowingShape{each, early_unpack}, stream, packed.p, end);
  };
}

/// What the harness is told of a config whose kernel is launched with `shape`.
template <class Mover>
ConfigInfo records_info(const char* schedule, const void* kernel, const LaunchShape& shape,
                        int per_thread, int stages) {
  return info_of(schedule, per_thread, stages,
                 {{kernel, static_cast<int>(shape.block.x), shape.dynamic_shared_bytes,
                   Mover::cluster_blocks, Mover::bytes_in_flight},
                  {reinterpret_cast<const void*>(pack_records<tile_threads>), tile_threads},
                  {reinterpret_cast<const void*>(unpack_records<tile_threads>), tile_threads}});
}

/// Arguments of a stage. `records`: before the iteration.
struct StageView : Packed {
  const Record* now;
  Record* next;
  int stage;
};

/// How tiles come to a block, and its results to global memory: here through the registers of the
/// elements' threads, which put the records into shared memory for others. A tile begins at
/// element `first` and has one of `stages` slots.
struct TileMover {
  struct Storage {
    Record own[tile_threads];
  };
  static constexpr int stages = 1, cluster_blocks = 1;
  static constexpr std::size_t bytes_in_flight = sizeof(Storage);
  const StageView& v;
  Storage& tile;
  const int t = static_cast<int>(threadIdx.x);
  Face faces_of_own[faces];
  float root_of_own = 0;
  Record before;

  __device__ TileMover(const StageView& view, Storage& s) : v(view), tile(s) {}
  __device__ static int rank() { return 0; }  // in the cluster
  /// Asks for what no stage writes; for records.
  __device__ void ask_faces(int, int first) {
#pragma unroll
    for (int f = 0; f < faces; ++f)
      faces_of_own[f] = load_face(v.faces + f * v.p.pitch + first + t);
    root_of_own = v.roots[first + t];
  }
  __device__ void ask_records(int, int first) {
    const std::int64_t place = place_of(std::int64_t{first} + t);
    store_record(tile.own, place_of(t), load_record(v.now, place));
    if (v.stage > 0) before = load_record(v.records, place);
  }
  /// Until a tile can be read. `more`: another one has been asked for behind it.
  __device__ void wait(int, bool) { __syncthreads(); }
  __device__ const Record* records(int) const { return tile.own; }  // of the whole cluster
  __device__ Face face(int, int f) const { return faces_of_own[f]; }
  __device__ float root(int) const { return root_of_own; }
  __device__ Record old(int) const { return before; }  // before the iteration, but in stage 0
  __device__ void store(int, int i, const Record& r) const {
    store_record(v.next, place_of(std::int64_t{i}), r);
  }
  /// When a tile has been computed. `more`: its slot will be used again.
  __device__ void release(int, int, bool more) {
    if (more) __syncthreads();
  }
  __device__ void end() {}
};

/// Everything that a stage reads of a tile's own elements, as contiguous as in global memory.
struct StageTile {
  alignas(128) Record own[tile_threads];
  alignas(128) Record old[tile_threads];
  alignas(128) Face face[faces][tile_threads];
  alignas(128) float root_of_area[tile_threads];
};

/// By cp.async into STAGES tiles. One is waited for at once; of two, the next stays in flight.
template <int STAGES>
struct CopiedTileMover : TileMover {
  struct Storage {
    StageTile tile[STAGES];
  };
  static constexpr int stages = STAGES;
  static constexpr std::size_t bytes_in_flight = sizeof(Storage);
  Storage& ring;
  __device__ CopiedTileMover(const StageView& view, Storage& s)
      : TileMover(view, reinterpret_cast<TileMover::Storage&>(s)), ring(s) {}

  /// Of the thread's own element: a chunk of 16 bytes for each face.
  __device__ void ask_faces(int slot, int first) {
    StageTile& to = ring.tile[slot];
#pragma unroll
    for (int f = 0; f < faces; ++f) {
      async::copy16(async::shared_address(&to.face[f][t]), v.faces + f * v.p.pitch + first + t);
    }
    async::copy<4>(&to.root_of_area[t], v.roots + first + t);
  }
  /// A chunk of two neighbouring ones for each thread and half.
  __device__ void ask_records(int slot, int first) {
    const auto copy = [&](Record* to, const Record* from) {
#pragma unroll
      for (int chunk = t; chunk < 2 * tile_threads; chunk += tile_threads) {
        async::copy16(async::shared_address(to) + 16 * chunk,
                      reinterpret_cast<const float4*>(from + first) + chunk);
      }
    };
    copy(ring.tile[slot].own, v.now);
    if (v.stage > 0) copy(ring.tile[slot].old, v.records);
    async::commit();
  }
  __device__ void wait(int, bool more) {
    STAGES > 1 && more ? async::wait<1>() : async::wait<0>();
    __syncthreads();
  }
  __device__ const Record* records(int slot) const { return ring.tile[slot].own; }
  __device__ Face face(int slot, int f) const { return load_face(&ring.tile[slot].face[f][t]); }
  __device__ float root(int slot) const { return ring.tile[slot].root_of_area[t]; }
  __device__ Record old(int slot) const { return load_record(ring.tile[slot].old, place_of(t)); }
};

template <class Mover>
__global__ void __launch_bounds__(tile_threads, 3) walk(StageView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr int span = Mover::cluster_blocks * tile_threads;
  constexpr bool ahead = Mover::stages > 1;
  Mover mover(v, *reinterpret_cast<typename Mover::Storage*>(memory));
  int first = static_cast<int>(blockIdx.x) * tile_threads;
  const int step = static_cast<int>(gridDim.x) * tile_threads;
  // All blocks of a cluster have as many turns, those behind the last tile with nothing to do.
  const int last = v.p.elements + mover.rank() * tile_threads;

  // Prologue: what no stage writes comes before the wait for the stage before this one
  admit_successor();
  mover.ask_faces(0, first);
  wait_for_predecessor();
  mover.ask_records(0, first);

  // Main loop
  const auto ask = [&](int slot, int of) {
    mover.ask_faces(slot, of);
    mover.ask_records(slot, of);
  };
  for (int slot = 0; first < last; first += step, slot ^= ahead) {
    const int next = first + step;
    const bool more = next < last;
    if (ahead && more) ask(slot ^ 1, next);
    mover.wait(slot, more);
    const int i = first + static_cast<int>(threadIdx.x);
    if (i < v.p.elements) {
      const Record* const near = mover.records(slot);
      const int first_near = first - mover.rank() * tile_threads;
      const Record own = load_record(near, place_of(i - first_near));
      Face face[faces];
      Record behind[faces];  // all four are asked for before the first is used
#pragma unroll
      for (int f = 0; f < faces; ++f) {
        face[f] = mover.face(slot, f);
        behind[f] = v.p.far;
        if (const int n = face[f].neighbour; n >= 0) {
          const auto place = static_cast<unsigned>(n - first_near);
          behind[f] = place < span ? load_record(near, place_of(place))
                                   : load_record(v.now, place_of(std::int64_t{n}));
        }
      }
      Sums sums;
#pragma unroll
      for (int f = 0; f < faces; ++f) sums.add_face(own, face[f], behind[f]);
      const Flux flux = sums.finish(own);
      const Record before = v.stage > 0 ? mover.old(slot) : own;
      mover.store(slot, i,
                  advance(before, step_factor(mover.root(slot), before.wave), v.stage, flux));
    }
    mover.release(slot, first, more);
    if (!ahead && more) ask(slot, next);
  }
  mover.end();
}

/// The config records-walk of a mover, or records-walk-dependent.
template <class Mover>
ConfigOf<Problem> walk_config(bool dependent) {
  constexpr int clusters = Mover::cluster_blocks;
  const auto kernel = walk<Mover>;
  const auto* const function = reinterpret_cast<const void*>(kernel);
  const LaunchShape full{{}, dim3(tile_threads), sizeof(typename Mover::Storage), clusters};
  ConfigOf<Problem> config;
  config.info =
      records_info<Mover>(dependent ? dependent_name : walk_name, function, full, 1, Mover::stages);
  config.unsupported = [=](const Problem&, const Device& d) {
    return start_objection(dependent ? Start::dependent : Start::in_turn, d);
  };
  config.prepare = [=](const Problem& p, const Device& device) {
    const Packed packed{p};
    LaunchShape shape = full;
    allow_launch(function, shape);
    const int fit = resident_blocks(function, shape, device.sm_count);
    const std::int64_t tiles = round_up(ceil_div(p.elements, tile_threads), clusters);
    shape.grid.x = static_cast<unsigned>(std::min<std::int64_t>(tiles, std::max(fit, clusters)));
    return packed_run(packed, dependent, [=](Stream stream) {
      for (int k = 0; k < stages_of_iteration * p.iterations; ++k) {
        const int stage = k % stages_of_iteration, next = (stage + 1) % stages_of_iteration;
        const StageView v{packed, packed.records + stage * p.pitch, packed.records + next * p.pitch,
                          stage};
        // Kernels read faces before they wait for their predecessor; the first one must not.
        launch(kernel, FollowingShape{shape, dependent && k > 0}, stream, v);
      }
      return packed.records;
    });
  };
  return config;
}

}  // namespace amasia::cfd
