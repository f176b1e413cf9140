// cfd/tma: one thread asks the copy engine for what lies together; an mbarrier counts the bytes.
// Neighbours outside the tile are read by the threads. Results leave by bulk store.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/resident.cuh"
#include "variants/ptx/bulk.cuh"

namespace amasia::cfd {
namespace {

struct TmaIso : PlanesMover {
  struct Storage : FacePlanes {
    tma::Barrier arrived[faces];
  };
  static constexpr int stages = faces;
  tma::Barrier* const arrived;
  __device__ TmaIso(const IsoView& view, Storage& s) : PlanesMover(view, s), arrived(s.arrived) {
    if (threadIdx.x == 0) {
      for (int f = 0; f < faces; ++f) tma::init(&arrived[f], 1);
      tma::fence_init();
      for (int f = 0; f < faces; ++f) {
        tma::expect(&arrived[f], 4 * plane_bytes);
        for (int plane = 0; plane < 4; ++plane) {
          tma::load_bytes(place(f, plane), source(f, plane), plane_bytes, &arrived[f]);
        }
      }
    }
    __syncthreads();
  }
  __device__ void wait(int f) { tma::wait(&arrived[f], 0); }
};

struct TmaTileMover : CopiedTileMover<2> {
  struct Storage : CopiedTileMover::Storage {
    tma::Barrier arrived[2];
  };
  tma::Barrier* const arrived;
  unsigned phases = 0;  // of both barriers, a bit each
  __device__ TmaTileMover(const StageView& view, Storage& s)
      : CopiedTileMover(view, s), arrived(s.arrived) {
    if (t == 0) {
      for (int slot = 0; slot < 2; ++slot) tma::init(&arrived[slot], 1);
      tma::fence_init();
    }
    __syncthreads();
  }
  __device__ void ask_faces(int slot, int first) {
    if (t > 0) return;
    StageTile& to = ring.tile[slot];
    constexpr unsigned plane = sizeof(to.face[0]), roots = sizeof(to.root_of_area);
    tma::wait_stores_read<0>();  // of the tile that was in this slot
    tma::expect(&arrived[slot], faces * plane + roots + (v.stage > 0 ? 2 : 1) * sizeof(to.own));
    for (int f = 0; f < faces; ++f) {
      tma::load_bytes(to.face[f], v.faces + f * v.p.pitch + first, plane, &arrived[slot]);
    }
    tma::load_bytes(to.root_of_area, v.roots + first, roots, &arrived[slot]);
  }
  __device__ void ask_records(int slot, int first) {
    if (t > 0) return;
    StageTile& to = ring.tile[slot];
    tma::load_bytes(to.own, v.now + first, sizeof(to.own), &arrived[slot]);
    if (v.stage > 0) tma::load_bytes(to.old, v.records + first, sizeof(to.old), &arrived[slot]);
  }
  __device__ void wait(int slot, bool) {
    tma::wait(&arrived[slot], phases >> slot & 1);
    phases ^= 1u << slot;
  }
  /// Into the place of the record before the iteration, which only this thread has read.
  __device__ void store(int slot, int, const Record& r) {
    store_record(ring.tile[slot].old, place_of(t), r);
  }
  __device__ void release(int slot, int first, bool) {
    tma::fence_async_proxy();
    __syncthreads();  // the tile has been read, and its results are there
    if (t > 0) return;
    tma::store_bytes(v.next + first, ring.tile[slot].old, sizeof(StageTile::old));
    tma::commit_stores();
  }
  /// Shared memory must outlive the last store; the launch after this one sees all of them.
  __device__ void end() {
    if (t == 0) tma::wait_stores<0>();
  }
};

struct TmaMover : Mover {
  struct Storage : Share {
    tma::Barrier arrived;
  };
  static constexpr bool sends_share = true;
  static constexpr std::size_t bytes_in_flight = sizeof(Share::record);
  tma::Barrier* const arrived;
  __device__ TmaMover(Storage& s, const ResidentView& view) : Mover(s, view), arrived(&s.arrived) {}

  __device__ void load() {
    const unsigned copied = round_up(static_cast<unsigned>(count), 4u);  // roots by 16 bytes
    const auto ask = [&](auto* to, const auto* from) {
      tma::load_bytes(to, from + first, copied * sizeof(*to), arrived);
    };
    if (threadIdx.x == 0) {
      tma::init(arrived, 1);
      tma::fence_init();
      tma::expect(arrived, copied * unsigned{faces * sizeof(Face) + sizeof(Record) + 4});
      for (int f = 0; f < faces; ++f) ask(share.face[f], v.faces + f * v.p.pitch);
      ask(share.record, v.records);
      ask(share.root_of_area, v.roots);
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

const bool tma_registered =
    register_variant<Problem>("cfd", Strategy::tma,
                              {iso<TmaIso>(), resident_config<TmaMover>(),
                               walk_config<TmaTileMover>(true), walk_config<TmaTileMover>(false)});

}  // namespace
}  // namespace amasia::cfd
