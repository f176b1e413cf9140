// Rodinia's geometry: what the schedule iso is for every strategy. Blocks of 192 threads, a thread
// an element, all arrays in planes; an iteration copies the variables, computes the step factors,
// and three times the fluxes and what follows from them.
#pragma once

#include "apps/cfd/kernel.cuh"
#include "apps/cfd/schedules.hpp"
#include "variants/device/launch.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::cfd {

/// p.result holds the variables of now.
struct IsoView {
  Problem p;
  float* old;     // before the iteration
  float* fluxes;  // (5, pitch)
  float* steps;   // (pitch)

  __device__ static int element() {
    return static_cast<int>(blockIdx.x) * iso_threads + static_cast<int>(threadIdx.x);
  }
  /// The record of an element, computed from its variables as often as it is asked for.
  __device__ Record record(int i) const { return record_at(p.result, p.pitch, i); }
};

/// How the data of a flux come to their thread: here through registers, by the thread itself.
struct IsoMover {
  struct Storage {};  // in shared memory
  static constexpr int stages = 1, cluster_blocks = 1;
  static constexpr bool block_waits = false;  // all threads take part in wait() and leave()
  static constexpr std::size_t bytes_in_flight = 0;
  const IsoView& v;
  const int i = IsoView::element();

  template <class Storage>
  __device__ IsoMover(const IsoView& view, Storage&) : v(view) {}
  __device__ Record own() const { return v.record(i); }
  /// Until face f and what is behind it have come.
  __device__ void wait(int) {}
  __device__ Face face(int f) const { return face_at(v.p, f, i); }
  __device__ Record behind(int, int n) const { return v.record(n); }
  __device__ void leave() {}
};

/// The faces of a block's elements in shared memory, in planes as in global memory: neighbours, and
/// the axes of normals. 16-byte chunks belong to four elements, so all threads copy for all.
struct FacePlanes {
  alignas(128) float plane[faces][4][iso_threads];
};
constexpr unsigned plane_bytes = iso_threads * sizeof(float);

struct PlanesMover : IsoMover {
  using Storage = FacePlanes;
  static constexpr std::size_t bytes_in_flight = sizeof(Storage);
  FacePlanes& planes;
  __device__ PlanesMover(const IsoView& view, FacePlanes& p) : IsoMover(view, p), planes(p) {}

  __device__ Face face(int f) const {
    const auto value = [&](int plane) { return planes.plane[f][plane][threadIdx.x]; };
    return {{value(1), value(2), value(3)}, __float_as_int(value(0))};
  }
  /// The block's part of a plane of face f.
  __device__ const char* source(int f, int plane) const {
    const std::int64_t first = std::int64_t{blockIdx.x} * iso_threads + f * v.p.pitch;
    const void* const from = plane == 0 ? static_cast<const void*>(v.p.neighbours + first)
                                        : v.p.normals + (plane - 1) * faces * v.p.pitch + first;
    return static_cast<const char*>(from);
  }
  __device__ char* place(int f, int plane) const {
    return reinterpret_cast<char*>(planes.plane[f][plane]);
  }
  /// Copies a face of all elements: four planes of 48 chunks, one for each thread.
  __device__ void copy(int f) {
    constexpr unsigned chunks = iso_threads / 4;
    const int plane = static_cast<int>(threadIdx.x / chunks);
    const unsigned byte = 16 * (threadIdx.x % chunks);
    async::copy16(async::shared_address(place(f, plane) + byte), source(f, plane) + byte);
  }
};

template <class Mover>
__global__ void __launch_bounds__(iso_threads) iso_fluxes(IsoView v) {
  __shared__ typename Mover::Storage storage;
  Mover mover(v, storage);
  const bool exists = mover.i < v.p.elements;
  if (!Mover::block_waits && !exists) return;
  const Record own = exists ? mover.own() : v.p.far;
  Sums sums;
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    mover.wait(f);
    if (!exists) continue;
    const Face face = mover.face(f);
    sums.add_face(own, face, face.neighbour >= 0 ? mover.behind(f, face.neighbour) : v.p.far);
  }
  if (exists) store_at(v.fluxes, v.p.pitch, mover.i, sums.finish(own));
  mover.leave();
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) iso_step_factors(IsoView v) {
  const int i = IsoView::element();
  if (i < v.p.elements) v.steps[i] = step_factor(root(v.p.areas[i]), v.record(i).wave);
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) iso_time_step(IsoView v, int stage) {
  const int i = IsoView::element();
  if (i >= v.p.elements) return;
  Flux flux;
  for (int k = 0; k < variables; ++k) flux.u[k] = v.fluxes[k * v.p.pitch + i];
  store_at(v.p.result, v.p.pitch, i,
           advance(record_at(v.old, v.p.pitch, i), v.steps[i], stage, flux));
}

template <class Mover>
ConfigOf<Problem> iso() {
  constexpr int clusters = Mover::cluster_blocks;
  const auto fluxes = iso_fluxes<Mover>;
  ConfigOf<Problem> config;
  config.info = info_of(
      iso_name, 1, Mover::stages,
      {{reinterpret_cast<const void*>(fluxes), iso_threads, 0, clusters, Mover::bytes_in_flight},
       {reinterpret_cast<const void*>(iso_step_factors<iso_threads>), iso_threads},
       {reinterpret_cast<const void*>(iso_time_step<iso_threads>), iso_threads}});
  config.prepare = [fluxes](const Problem& p, const Device&) -> Launch {
    const std::int64_t plane = variables * p.pitch;
    const IsoView v{p, p.scratch, p.scratch + plane, p.scratch + 2 * plane};
    const auto blocks = static_cast<unsigned>(ceil_div(p.elements, iso_threads));
    const LaunchShape shape{dim3(blocks), dim3(iso_threads)};
    LaunchShape of_fluxes = shape;
    of_fluxes.cluster_blocks = clusters;
    of_fluxes.grid.x = static_cast<unsigned>(round_up(blocks, clusters));
    return [=](Stream stream) {
      const auto copy = [&](float* to, const float* from) {
        AMASIA_CUDA(
            cudaMemcpyAsync(to, from, plane * sizeof(float), cudaMemcpyDeviceToDevice, stream));
      };
      copy(v.p.result, p.initial);
      for (int iteration = 0; iteration < p.iterations; ++iteration) {
        copy(v.old, v.p.result);
        launch(iso_step_factors<iso_threads>, shape, stream, v);
        for (int stage = 0; stage < stages_of_iteration; ++stage) {
          launch(fluxes, of_fluxes, stream, v);
          launch(iso_time_step<iso_threads>, shape, stream, v, stage);
        }
      }
    };
  };
  return config;
}

}  // namespace amasia::cfd
