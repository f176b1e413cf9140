// Elements as records of one sector, a launch for each stage, for every strategy. A run packs the
// inputs, computes its stages, and unpacks the result.
//
// Records have three places. The first holds what was before the iteration; the last stage
// overwrites it, because only an element's own thread still reads it then.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "apps/cfd/kernel.cuh"
#include "apps/cfd/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/dependent_launch.cuh"

namespace amasia::cfd {

/// Arguments of a stage. Padding up to the pitch may be copied, but holds no data.
struct StageView {
  const Record* now;
  const Record* old;
  Record* next;
  const Face* faces;   // (4, pitch)
  const float* roots;  // of the areas
  std::int64_t pitch;
  int elements, tiles;
  int stage;
  Record far;
};

/// The tiles of a block: its first one, and as long as there are more, the one `gridDim.x` on.
struct TileRun {
  int tile, tiles;
  __device__ explicit TileRun(const StageView& v)
      : tile(static_cast<int>(blockIdx.x)), tiles(v.tiles) {}
  __device__ bool done() const { return tile >= tiles; }
  __device__ void next() { tile += static_cast<int>(gridDim.x); }
  /// First element of the tile that comes `ahead` later.
  __device__ std::int64_t first(int ahead = 0) const {
    return (tile + std::int64_t{ahead} * gridDim.x) * tile_threads;
  }
  __device__ bool has(int ahead) const { return tile + std::int64_t{ahead} * gridDim.x < tiles; }
};

__device__ __forceinline__ Record load_record(const Record* from) {
  const auto* const halves = reinterpret_cast<const float4*>(from);
  const float4 a = halves[0], b = halves[1];
  return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
}
__device__ __forceinline__ void store_record(Record* to, const Record& r) {
  auto* const halves = reinterpret_cast<float4*>(to);
  halves[0] = make_float4(r.density, r.momentum_x, r.momentum_y, r.momentum_z);
  halves[1] = make_float4(r.energy, r.pressure, r.wave, r.volume);
}
/// In a swizzled array every other four records have their halves swapped: 8 lanes that read halves
/// of consecutive records then meet all banks. place_of(): bytes to the first half of record i.
__device__ __forceinline__ int place_of(int i) { return 32 * i + 16 * (i >> 2 & 1); }
__device__ __forceinline__ const float4* half_at(const Record* swizzled, int place) {
  return reinterpret_cast<const float4*>(reinterpret_cast<const char*>(swizzled) + place);
}
__device__ __forceinline__ Record load_record(const Record* swizzled, int place) {
  const float4 a = *half_at(swizzled, place), b = *half_at(swizzled, place ^ 16);
  return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
}
__device__ __forceinline__ void store_record(Record* swizzled, int place, const Record& r) {
  const auto half = [&](int p) { return const_cast<float4*>(half_at(swizzled, p)); };
  *half(place) = make_float4(r.density, r.momentum_x, r.momentum_y, r.momentum_z);
  *half(place ^ 16) = make_float4(r.energy, r.pressure, r.wave, r.volume);
}
__device__ __forceinline__ Face load_face(const Face* from) {
  const int4 f = *reinterpret_cast<const int4*>(from);
  return {__int_as_float(f.x), __int_as_float(f.y), __int_as_float(f.z), f.w};
}

/// The flux of an element. neighbour(f, n) brings the record of element n, which is behind face f;
/// all four are asked for before the first is used.
template <class Neighbour>
__device__ __forceinline__ Flux flux_of(const StageView& v, const Record& own,
                                        const Face (&face)[faces], const Neighbour& neighbour) {
  Record behind[faces];
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    behind[f] = v.far;
    if (face[f].neighbour >= 0) behind[f] = neighbour(f, face[f].neighbour);
  }
  Sums sums;
#pragma unroll
  for (int f = 0; f < faces; ++f) sums.add_face(own, face[f], behind[f]);
  return sums.finish(own);
}

/// The element after the stage.
__device__ __forceinline__ Record after_stage(const StageView& v, const Record& old,
                                              float root_of_area, const Flux& flux) {
  return advance(old, step_factor(root_of_area, old.wave), v.stage, flux);
}

/// Neighbours from a tile in shared memory that begins at element `first`, others from where they
/// lie.
struct FromTile {
  const StageView& v;
  const Record* tile;
  std::int64_t first;
  __device__ __forceinline__ Record operator()(int, int n) const {
    const auto place = static_cast<unsigned>(n - static_cast<int>(first));
    return place < tile_threads ? load_record(tile + place) : load_record(v.now + n);
  }
};

template <int THREADS, bool SWIZZLED>
__global__ void __launch_bounds__(THREADS)
    pack_records(Problem p, Record* records, Face* to, float* roots) {
  const std::int64_t i = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
  if (i >= p.elements) return;
  const Record record = record_at(p.initial, p.pitch, i);
  if constexpr (SWIZZLED) {
    store_record(records, place_of(static_cast<int>(i)), record);
  } else {
    store_record(records + i, record);
  }
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    const auto normal = [&](int axis) { return p.normals[(axis * faces + f) * p.pitch + i]; };
    to[f * p.pitch + i] = {normal(0), normal(1), normal(2), p.neighbours[f * p.pitch + i]};
  }
  roots[i] = root(p.areas[i]);
}

template <int THREADS, bool SWIZZLED>
__global__ void __launch_bounds__(THREADS) unpack_records(Problem p, const Record* records) {
  wait_for_predecessor();
  const std::int64_t i = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
  if (i >= p.elements) return;
  store_at(
      p.result, p.pitch, i,
      SWIZZLED ? load_record(records, place_of(static_cast<int>(i))) : load_record(records + i));
}

/// How a variant's kernel of a stage is launched: blocks of a cluster, dynamic shared memory, what
/// a block has in flight, stages of its ring, and what tells the config from others of its
/// schedule.
struct Movement {
  int clusters = 1;
  std::size_t shared_bytes = 0;
  std::size_t bytes_in_flight = 0;
  int stages = 1;
  std::string suffix{};
  int l2_ahead = 0;  // tiles
};

/// What the scratch of a run holds.
struct Packed {
  Record* records;  // (3, pitch)
  Face* faces;      // (4, pitch)
  float* roots;     // (pitch), of the areas
  explicit Packed(const Problem& p)
      : records(reinterpret_cast<Record*>(p.scratch)),
        faces(reinterpret_cast<Face*>(records + 3 * p.pitch)),
        roots(reinterpret_cast<float*>(faces + cfd::faces * p.pitch)) {}
};

/// Launches of a thread for each element, after which no launch comes early.
inline FollowingShape element_shape(const Problem& p) {
  FollowingShape shape;
  shape.grid = dim3(static_cast<unsigned>(ceil_div(p.elements, tile_threads)));
  shape.block = dim3(tile_threads);
  return shape;
}

/// A run by `kernel`, a launch for each stage.
inline Launch records_launch(void (*kernel)(StageView), const Problem& p, const Device& device,
                             bool dependent, const Movement& m) {
  const Packed packed(p);
  FollowingShape shape = element_shape(p);
  StageView view{packed.records,
                 packed.records,
                 nullptr,
                 packed.faces,
                 packed.roots,
                 p.pitch,
                 static_cast<int>(p.elements),
                 static_cast<int>(shape.grid.x),
                 0,
                 p.far};
  shape.dynamic_shared_bytes = m.shared_bytes;
  shape.cluster_blocks = static_cast<unsigned>(m.clusters);
  allow_launch(reinterpret_cast<const void*>(kernel), shape);
  const int fit = resident_blocks(reinterpret_cast<const void*>(kernel), shape, device.sm_count);
  const long long blocks = std::max(fit / m.clusters, 1) * m.clusters;
  shape.grid.x = static_cast<unsigned>(std::min(round_up(view.tiles, m.clusters), blocks));
  return [=](Stream stream) {
    FollowingShape plain = element_shape(p);
    launch(pack_records<tile_threads, false>, plain, stream, p, packed.records, packed.faces,
           packed.roots);
    for (int iteration = 0; iteration < p.iterations; ++iteration) {
      for (int stage = 0; stage < stages_of_iteration; ++stage) {
        StageView v = view;
        v.stage = stage;
        v.now = packed.records + stage * p.pitch;
        v.next = packed.records + (stage + 1) % stages_of_iteration * p.pitch;
        // Kernels read faces before they wait for their predecessor; the first one must not.
        FollowingShape s = shape;
        s.early = dependent && iteration + stage > 0;
        launch(kernel, s, stream, v);
      }
    }
    plain.early = dependent;
    launch(unpack_records<tile_threads, false>, plain, stream, p, packed.records);
  };
}

/// What the harness is told of a config of records: its kernel's launches and those around it.
template <bool SWIZZLED>
ConfigInfo records_info(const std::string& schedule, const void* kernel, int threads,
                        int elements_per_thread, const Movement& m) {
  ConfigInfo info;
  info.schedule = schedule;
  info.name = m.suffix.empty() ? schedule : schedule + "/" + m.suffix;
  info.geometry = {{"threads", threads}, {"elements_per_thread", elements_per_thread}};
  if (m.clusters > 1) info.geometry.push_back({"cluster_blocks", m.clusters});
  info.movement = {{"stages", m.stages}, {"producer_warps", 0}, {"l2_ahead", m.l2_ahead}};
  const auto* pack = reinterpret_cast<const void*>(pack_records<tile_threads, SWIZZLED>);
  const auto* unpack = reinterpret_cast<const void*>(unpack_records<tile_threads, SWIZZLED>);
  info.kernels = {{kernel, threads, m.shared_bytes, m.clusters, m.bytes_in_flight},
                  {pack, tile_threads},
                  {unpack, tile_threads}};
  return info;
}

/// Adds the configs of `kernel` at both schedules of a launch a stage.
inline void add_records(std::vector<ConfigOf<Problem>>& all, void (*kernel)(StageView),
                        const Movement& m) {
  for (const bool dependent : {true, false}) {  // the faster one first
    ConfigOf<Problem> config;
    config.info = records_info<false>(dependent ? dependent_name : walk_name,
                                      reinterpret_cast<const void*>(kernel), tile_threads, 1, m);
    config.prepare = [=](const Problem& p, const Device& d) {
      return records_launch(kernel, p, d, dependent, m);
    };
    config.unsupported = [=](const Problem&, const Device& d) -> std::optional<std::string> {
      if (!dependent || d.compute_capability >= 90) return std::nullopt;
      return "programmatic dependent launch needs compute capability 9.0";
    };
    all.push_back(std::move(config));
  }
}

}  // namespace amasia::cfd
