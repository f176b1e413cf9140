// cfd/drop_off: a thread has slots of its own for all it reads, neighbours included, and no barrier
// (Svedin et al. 2021, algorithm 3). It can carry a gather: first faces travel, then what they
// name. A thread that walks has two elements in flight: faces of the second, records of the next.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/slots.cuh"

namespace amasia::cfd {
namespace {

// iso: 4 bytes at a time, as Rodinia's arrays are. Variables of the next face's neighbour are in
// flight while a face is added.
struct IsoSlots {
  std::int32_t neighbour[faces][iso_threads];
  float normal[faces][3][iso_threads];
  float variable[2][variables][iso_threads];
};

__global__ void __launch_bounds__(iso_threads) drop_off_fluxes(IsoView v) {
  __shared__ IsoSlots slots;
  const int t = static_cast<int>(threadIdx.x), i = IsoView::element();
  if (i >= v.elements) return;
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    const std::int64_t at = f * v.pitch + i;
    async::copy<4>(&slots.neighbour[f][t], v.neighbours + at);
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      async::copy<4>(&slots.normal[f][axis][t], v.normals + axis * faces * v.pitch + at);
    }
  }
  async::commit();
  const Record own = v.record(i);  // meanwhile
  async::wait<0>();
  const auto fetch = [&](int f) {
    const std::int32_t n = slots.neighbour[f][t];
#pragma unroll
    for (int k = 0; k < variables && n >= 0; ++k) {
      async::copy<4>(&slots.variable[f % 2][k][t], v.now + k * v.pitch + n);
    }
    async::commit();
  };
  Sums sums;
  fetch(0);
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    if (f + 1 < faces) {
      fetch(f + 1);
      async::wait<1>();
    } else {
      async::wait<0>();
    }
    const Face face{slots.normal[f][0][t], slots.normal[f][1][t], slots.normal[f][2][t],
                    slots.neighbour[f][t]};
    const auto arrived = [&](int k) { return slots.variable[f % 2][k][t]; };
    sums.add_face(own, face, face.neighbour >= 0 ? record_of(arrived) : v.far);
  }
  v.store_flux(i, sums.finish(own));
}

// Records: pieces of 16 bytes, each plane one piece of all threads, so that no bank conflicts.
struct Slots {
  Face face[faces][tile_threads];
  float4 record[faces + 2][2][tile_threads];  // behind the faces, own, old
  float root_of_area[tile_threads];

  __device__ void copy_faces(const StageView& v, std::int64_t i) {
#pragma unroll
    for (int f = 0; f < faces; ++f) {
      async::copy16(async::shared_address(&face[f][threadIdx.x]), v.faces + f * v.pitch + i);
    }
  }
  __device__ void copy_record(int which, const Record* from) {
    const auto* const halves = reinterpret_cast<const float4*>(from);
    async::copy16(async::shared_address(&record[which][0][threadIdx.x]), halves);
    async::copy16(async::shared_address(&record[which][1][threadIdx.x]), halves + 1);
  }
  __device__ void copy_records(const StageView& v, std::int64_t i, const Face (&own)[faces]) {
#pragma unroll
    for (int f = 0; f < faces; ++f) {
      if (own[f].neighbour >= 0) copy_record(f, v.now + own[f].neighbour);
    }
    copy_record(faces, v.now + i);
    if (v.stage > 0) copy_record(faces + 1, v.old + i);
    async::copy<4>(&root_of_area[threadIdx.x], v.roots + i);
  }
  __device__ void read_faces(Face (&own)[faces]) const {
#pragma unroll
    for (int f = 0; f < faces; ++f) own[f] = load_face(&face[f][threadIdx.x]);
  }
  __device__ Record read_record(int which) const {
    const float4 a = record[which][0][threadIdx.x], b = record[which][1][threadIdx.x];
    return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  }
};

__global__ void __launch_bounds__(tile_threads, 2) drop_off_stage(StageView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& slots = *reinterpret_cast<Slots*>(memory);
  TileRun run(v);
  const auto element = [&](int ahead) { return run.first(ahead) + threadIdx.x; };
  const auto exists = [&](int ahead) { return element(ahead) < v.elements; };
  admit_successor();

  Face face[faces];  // Prologue: of the first element, then its records and the next faces
  if (exists(0)) slots.copy_faces(v, element(0));
  async::commit();
  async::wait<0>();
  slots.read_faces(face);
  wait_for_predecessor();
  if (!exists(0)) return;
  slots.copy_records(v, element(0), face);
  if (exists(1)) slots.copy_faces(v, element(1));
  async::commit();

  // Main loop: take all that has arrived out of the slots and fill them again
  for (; exists(0); run.next()) {
    async::wait<0>();
    Record behind[faces];
#pragma unroll
    for (int f = 0; f < faces; ++f) behind[f] = slots.read_record(f);
    const Record own = slots.read_record(faces);
    const Record old = v.stage > 0 ? slots.read_record(faces + 1) : own;
    const float root_of_area = slots.root_of_area[threadIdx.x];
    Face next[faces];
    if (exists(1)) {
      slots.read_faces(next);
      slots.copy_records(v, element(1), next);
      if (exists(2)) slots.copy_faces(v, element(2));
      async::commit();
    }
    const Flux flux = flux_of(v, own, face, [&](int f, int) { return behind[f]; });
    store_record(v.next + element(0), after_stage(v, old, root_of_area, flux));
#pragma unroll
    for (int f = 0; f < faces; ++f) face[f] = next[f];
  }
}

std::vector<ConfigOf<Problem>> drop_off_configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(iso(drop_off_fluxes, 2, sizeof(IsoSlots)));
  add_resident<AheadMover<true>>(all, sizeof(SlotShare::slot));
  add_records(all, drop_off_stage, {1, sizeof(Slots), sizeof(Slots)});
  return all;
}

const bool drop_off_registered =
    register_variant<Problem>("cfd", Strategy::drop_off, drop_off_configs());

}  // namespace
}  // namespace amasia::cfd
