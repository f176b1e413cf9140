// cfd/tma: one thread asks the copy engine for what lies together; an mbarrier counts the bytes.
// Boxes cannot help a gather, so neighbours outside the tile are read by the threads. Results leave
// by bulk store, from the place of the records before the iteration, which each thread has read.
#include "apps/cfd/planes.cuh"
#include "apps/cfd/resident.cuh"
#include "apps/cfd/stage_tile.cuh"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/bulk.cuh"

namespace amasia::cfd {
namespace {

// iso: a barrier for each face of 192 elements.
__global__ void __launch_bounds__(iso_threads) tma_fluxes(IsoView v) {
  __shared__ FacePlanes planes;
  __shared__ tma::Barrier arrived[faces];
  if (threadIdx.x == 0) {
    for (int f = 0; f < faces; ++f) tma::init(&arrived[f], 1);
    tma::fence_init();
    for (int f = 0; f < faces; ++f) {
      tma::expect(&arrived[f], FacePlanes::face_bytes);
      for (int plane = 0; plane < 4; ++plane) {
        tma::load_bytes(planes.place(f, plane), FacePlanes::source(v, f, plane),
                        FacePlanes::face_bytes / 4, &arrived[f]);
      }
    }
  }
  __syncthreads();
  const int i = IsoView::element();
  if (i >= v.elements) return;
  const Record own = v.record(i);
  Sums sums;
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    tma::wait(&arrived[f], 0);
    const Face face = planes.face(f);
    sums.add_face(own, face, face.neighbour >= 0 ? v.record(face.neighbour) : v.far);
  }
  v.store_flux(i, sums.finish(own));
}

template <int STAGES>
struct TmaStorage {
  StageTile tiles[STAGES];
  tma::Barrier arrived[STAGES];
};

// L2_AHEAD: the engine brings the faces of the tile that comes so much later into L2; 0: none.
template <int STAGES, int L2_AHEAD>
__global__ void __launch_bounds__(tile_threads) tma_stage(StageView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<TmaStorage<STAGES>*>(memory);
  TileRun run(v);
  constexpr unsigned records = sizeof(StageTile::own), plane = sizeof(StageTile::face) / faces,
                     roots = sizeof(StageTile::root_of_area);
  // By one thread: what no stage writes, then what the stage before this one wrote.
  const auto ask_faces = [&](int stage, int ahead) {
    StageTile& tile = shared.tiles[stage];
    tma::Barrier* const arrived = &shared.arrived[stage];
    const std::int64_t first = run.first(ahead);
    tma::expect(arrived, faces * plane + roots + (v.stage > 0 ? 2 : 1) * records);
    for (int f = 0; f < faces; ++f) {
      tma::load_bytes(tile.face[f], v.faces + f * v.pitch + first, plane, arrived);
      if (L2_AHEAD > 0 && run.has(ahead + L2_AHEAD)) {
        tma::prefetch_bytes(v.faces + f * v.pitch + run.first(ahead + L2_AHEAD), plane);
      }
    }
    tma::load_bytes(tile.root_of_area, v.roots + first, roots, arrived);
  };
  const auto ask_records = [&](int stage, int ahead) {
    StageTile& tile = shared.tiles[stage];
    tma::Barrier* const arrived = &shared.arrived[stage];
    tma::load_bytes(tile.own, v.now + run.first(ahead), records, arrived);
    if (v.stage > 0) tma::load_bytes(tile.old, v.old + run.first(ahead), records, arrived);
  };

  // Prologue
  admit_successor();
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) tma::init(&shared.arrived[s], 1);
    tma::fence_init();
    for (int s = 0; s < STAGES - 1 && run.has(s); ++s) ask_faces(s, s);
  }
  wait_for_predecessor();
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES - 1 && run.has(s); ++s) ask_records(s, s);
  }
  __syncthreads();

  // Main loop
  for (PipelineState<STAGES> state; !run.done(); run.next(), ++state) {
    if (threadIdx.x == 0 && run.has(STAGES - 1)) {
      const int stage = (state.index + STAGES - 1) % STAGES;
      tma::wait_stores_read<0>();  // of the tile before, whose stage this is
      ask_faces(stage, STAGES - 1);
      ask_records(stage, STAGES - 1);
    }
    StageTile& tile = shared.tiles[state.index];
    tma::wait(&shared.arrived[state.index], state.phase);
    const std::int64_t i = run.first() + threadIdx.x;
    if (i < v.elements) {
      store_record(&tile.old[threadIdx.x], tile.after(v, tile.flux(v, run.first())));
    }
    tma::fence_async_proxy();
    __syncthreads();  // the tile has been read, and its results are there
    if (threadIdx.x == 0) {
      tma::store_bytes(v.next + run.first(), tile.old, records);
      tma::commit_stores();
    }
  }
  // Shared memory must outlive the last store; the launch after this one sees all of them.
  if (threadIdx.x == 0) tma::wait_stores<0>();
}

// resident: the share comes by bulk copies, once, and its records leave by a bulk store.
struct TmaShare : Share {
  tma::Barrier arrived;
};

struct TmaMover : Mover {
  using Storage = TmaShare;
  static constexpr bool sends_share = true;
  tma::Barrier* const arrived;
  __device__ TmaMover(TmaShare& s, const ResidentView& view)
      : Mover(s, view), arrived(&s.arrived) {}

  __device__ void load() {
    if (threadIdx.x == 0) {
      tma::init(arrived, 1);
      tma::fence_init();
      const auto copied = round_up(static_cast<unsigned>(count), 4u);  // roots by 16 bytes
      tma::expect(arrived,
                  copied * static_cast<unsigned>(faces * sizeof(Face) + sizeof(Record) + 4));
      for (int f = 0; f < faces; ++f) {
        tma::load_bytes(share.face[f], v.faces + f * v.pitch + first, copied * sizeof(Face),
                        arrived);
      }
      tma::load_bytes(share.record, v.records + first, copied * sizeof(Record), arrived);
      tma::load_bytes(share.root_of_area, v.roots + first, copied * sizeof(float), arrived);
    }
    __syncthreads();
    tma::wait(arrived, 0);
  }
  __device__ void send(int, const Record&) {}
  __device__ void meet() {
    tma::fence_async_proxy();
    __syncthreads();
  }
  __device__ void arrive() {
    tma::store_bytes(next + first, share.record, static_cast<unsigned>(count * sizeof(Record)));
    tma::commit_stores();
    tma::wait_stores<0>();
    Mover::arrive();
  }
};

template <int STAGES, int L2_AHEAD>
void add_tma(std::vector<ConfigOf<Problem>>& all, const char* suffix) {
  add_records(all, tma_stage<STAGES, L2_AHEAD>,
              {1, sizeof(TmaStorage<STAGES>), STAGES * stage_tile_bytes, STAGES, suffix, L2_AHEAD});
}

std::vector<ConfigOf<Problem>> tma_configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(iso(tma_fluxes, faces, sizeof(FacePlanes)));
  add_resident<TmaMover>(all, sizeof(Record) * share_elements);
  add_tma<2, 0>(all, "");
  add_tma<2, 2>(all, "l2");
  return all;
}

const bool tma_registered = register_variant<Problem>("cfd", Strategy::tma, tma_configs());

}  // namespace
}  // namespace amasia::cfd
