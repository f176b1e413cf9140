// Rodinia's geometry: what the schedule iso is for every strategy. Blocks of 192 threads, a thread
// an element, all arrays in planes; an iteration copies the variables, computes the step factors,
// and three times the fluxes and what follows from them. A variant brings the kernel of the fluxes.
#pragma once

#include <utility>

#include "apps/cfd/kernel.cuh"
#include "apps/cfd/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"

namespace amasia::cfd {

struct IsoView {
  const float* areas;
  const std::int32_t* neighbours;
  const float* normals;
  float* now;     // the variables, and at the end the result
  float* old;     // before the iteration
  float* fluxes;  // (5, pitch)
  float* steps;   // (pitch)
  std::int64_t pitch;
  int elements;
  Record far;

  __device__ static int element() {
    return static_cast<int>(blockIdx.x) * iso_threads + static_cast<int>(threadIdx.x);
  }
  __device__ Face face(int f, int i) const {
    const std::int64_t at = f * pitch + i, axis = faces * pitch;
    return {normals[at], normals[axis + at], normals[2 * axis + at], neighbours[at]};
  }
  /// The record of an element, computed from its variables as often as it is asked for.
  __device__ Record record(int i) const { return record_at(now, pitch, i); }
  __device__ void store_flux(int i, const Flux& flux) const { store_at(fluxes, pitch, i, flux); }
};

/// The five variables of an element in another place, such as shared memory.
template <class Load>
__device__ Record record_of(const Load& load) {
  return complete(load(0), load(1), load(2), load(3), load(4));
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) iso_step_factors(IsoView v) {
  const int i = IsoView::element();
  if (i < v.elements) v.steps[i] = step_factor(root(v.areas[i]), v.record(i).wave);
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) iso_time_step(IsoView v, int stage) {
  const int i = IsoView::element();
  if (i >= v.elements) return;
  const auto flux = [&](int k) { return v.fluxes[k * v.pitch + i]; };
  store_at(v.now, v.pitch, i,
           advance(record_at(v.old, v.pitch, i), v.steps[i], stage,
                   {flux(0), flux(1), flux(2), flux(3), flux(4)}));
}

/// The config iso around a kernel of the fluxes. `clusters`: blocks of a cluster.
inline ConfigOf<Problem> iso(void (*fluxes)(IsoView), int stages, std::size_t bytes_in_flight,
                             int clusters = 1) {
  ConfigOf<Problem> config;
  config.info.schedule = config.info.name = iso_name;
  config.info.geometry = {{"threads", iso_threads}, {"elements_per_thread", 1}};
  if (clusters > 1) config.info.geometry.push_back({"cluster_blocks", clusters});
  config.info.movement = {{"stages", stages}, {"producer_warps", 0}};
  config.info.kernels = {
      {reinterpret_cast<const void*>(fluxes), iso_threads, 0, clusters, bytes_in_flight},
      {reinterpret_cast<const void*>(iso_step_factors<iso_threads>), iso_threads},
      {reinterpret_cast<const void*>(iso_time_step<iso_threads>), iso_threads}};
  config.prepare = [fluxes, clusters](const Problem& p, const Device&) -> Launch {
    const std::int64_t plane = p.pitch;
    const IsoView v{p.areas,
                    p.neighbours,
                    p.normals,
                    p.result,
                    p.scratch,
                    p.scratch + variables * plane,
                    p.scratch + 2 * variables * plane,
                    plane,
                    static_cast<int>(p.elements),
                    p.far};
    const auto blocks = static_cast<unsigned>(ceil_div(p.elements, iso_threads));
    const LaunchShape shape{dim3(blocks), dim3(iso_threads)};
    LaunchShape of_fluxes = shape;
    of_fluxes.cluster_blocks = static_cast<unsigned>(clusters);
    of_fluxes.grid.x = static_cast<unsigned>(round_up(blocks, clusters));
    return [=](Stream stream) {
      const auto copy = [&](float* to, const float* from) {
        AMASIA_CUDA(cudaMemcpyAsync(to, from, variables * plane * sizeof(float),
                                    cudaMemcpyDeviceToDevice, stream));
      };
      copy(v.now, p.initial);
      for (int iteration = 0; iteration < p.iterations; ++iteration) {
        copy(v.old, v.now);
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
