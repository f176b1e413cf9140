// Proves that the verification of cfd can fail (tests/gpu/mutants.hpp): a plain kernel, one stage
// per launch, that commits a fault in every stage, or once in one element of one stage.
#include "apps/cfd/cfd.hpp"
#include "apps/cfd/kernel.cuh"
#include "apps/cfd/resident.cuh"
#include "harness/gpu/preparation.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::cfd_mutants_test {
namespace {

using namespace cfd;

using CfdMutants = OnDevice<>;

constexpr int tile = 256;  // the tile that a fault pretends to have

/// What happens once:
/// - kept: the element is not advanced.
/// - neighbour: the element after the right one is read.
/// - normals: two faces have each other's.
/// - old: the stage starts from the stage before.
/// - boundary: the far field is taken for a wing, anything else for the far field.
enum class Once { nothing, kept, neighbour, normals, old, boundary };

__global__ void cfd_stage(Problem p, const float* now, const float* old, float* next, int stage,
                          Fault fault, Single<Once> once) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.elements) return;
  const Once what = once.at(0, i);
  const Record own = record_at(now, p.pitch, i), before = record_at(old, p.pitch, i);
  if ((fault == Fault::skipped_tile && i / tile == 1) || what == Once::kept) {
    store_at(next, p.pitch, i, own);
    return;
  }
  Sums sums;
  for (int f = 0; f < faces; ++f) {
    const int n = what == Once::normals && f < 2 ? 1 - f : f;
    Face face{{p.normals[n * p.pitch + i], p.normals[(faces + n) * p.pitch + i],
               p.normals[(2 * faces + n) * p.pitch + i]},
              p.neighbours[f * p.pitch + i]};
    if (fault == Fault::edge && face.neighbour == wing) face.neighbour = far_field;
    if (what == Once::boundary && f == 0) {
      face.neighbour = face.neighbour == far_field ? wing : far_field;
    }
    std::int64_t b = face.neighbour;
    if (what == Once::neighbour && b >= 0 && f == 3) b = (b + 1) % p.elements;
    const bool stale = fault == Fault::stale_halo && b / tile != i / tile;
    sums.add_face(own, face, b >= 0 ? record_at(stale ? old : now, p.pitch, b) : p.far);
  }
  const Record& start = what == Once::old ? own : before;
  store_at(next, p.pitch, i,
           advance(start, step_factor(root(p.areas[i]), before.wave), stage, sums.finish(own)));
}

/// A run that commits `fault` in every stage, or `once`.
void run(const Problem& p, Fault fault, const Single<Once>& once = {}) {
  const std::size_t plane = variables * static_cast<std::size_t>(p.pitch);
  DeviceArray<float> old(plane);
  float* const places[] = {p.scratch, p.scratch + plane};
  AMASIA_CUDA(cudaMemcpy(p.result, p.initial, plane * sizeof(float), cudaMemcpyDeviceToDevice));
  const auto blocks = static_cast<unsigned>((p.elements + 127) / 128);
  for (int launch = 0; launch < 3 * p.iterations; ++launch) {
    const int stage = launch % 3;
    if (stage == 0) {
      AMASIA_CUDA(cudaMemcpy(old.data(), p.result, old.bytes(), cudaMemcpyDeviceToDevice));
    }
    cfd_stage<<<blocks, 128>>>(p, stage == 0 ? p.result : places[stage - 1], old.data(),
                               stage == 2 ? p.result : places[stage], stage, fault,
                               launch == once.step ? once : Single<Once>{});
  }
}

TEST_F(CfdMutants, AreCaught) {
  const auto i = instance("cfd", {{"elements", "1009"}, {"iterations", "3"}});
  expect_caught(*i, [&](Fault fault) { run(problem_of<Problem>(*i), fault); });
}

class CfdSingleFault : public OnDevice<> {};

TEST_F(CfdSingleFault, IsCaughtWhereverAndWheneverItHappens) {
  for (const char* order : {"front", "scattered"}) {
    const auto i = instance("cfd", {{"elements", "769"}, {"iterations", "20"}, {"order", order}});
    const Problem& p = problem_of<Problem>(*i);
    const auto run_with = [&](const Single<Once>& once) { run(p, Fault::none, once); };
    ASSERT_EQ(caught_by(*i, [&] { run_with({}); }), -1);
    for (const Once what :
         {Once::kept, Once::neighbour, Once::normals, Once::old, Once::boundary}) {
      int possible = 0;
      for (std::uint64_t n = 0; n < 24; ++n) {
        const int launch = static_cast<int>(anywhere(0, n, 60));
        const std::int64_t element = n < 2 ? 768 * std::int64_t(n) : anywhere(1, n, 769);
        std::int32_t beside[faces];
        AMASIA_CUDA(cudaMemcpy2D(beside, sizeof *beside, p.neighbours + element,
                                 p.pitch * sizeof *beside, sizeof *beside, faces,
                                 cudaMemcpyDeviceToHost));
        // Where the fault is none: no neighbour to exchange, no stage before, normals of two faces
        // with the same neighbour.
        if ((what == Once::neighbour && beside[3] < 0) || (what == Once::old && launch % 3 == 0) ||
            (what == Once::normals && beside[0] == beside[1]))
          continue;
        ++possible;
        expect_caught_once(*i, Single<Once>{what, launch, 0, element}, run_with);
      }
      EXPECT_GE(possible, 10);
    }
  }
}

// One value of the result that differs by one unit in its last place.
TEST_F(CfdSingleFault, OneWrongBitOfTheResultIsCaught) {
  const auto i = instance("cfd", {{"elements", "257"}, {"iterations", "2"}});
  const Problem& p = problem_of<Problem>(*i);
  for (const std::int64_t at : {std::int64_t{0}, 2 * p.pitch + 100, 4 * p.pitch + 256}) {
    EXPECT_FALSE(passes(*i, 0, [&] {
      run(p, Fault::none);
      std::uint32_t bits = 0;
      AMASIA_CUDA(cudaMemcpy(&bits, p.result + at, sizeof bits, cudaMemcpyDeviceToHost));
      bits ^= 1;
      AMASIA_CUDA(cudaMemcpy(p.result + at, &bits, sizeof bits, cudaMemcpyHostToDevice));
    }));
    EXPECT_EQ(i->verify().mismatches, 1);
  }
}

class CfdResident : public OnDevice<> {};

// Shares of a warp, the last ones partial; more turns; all that fits, and one element more.
TEST_F(CfdResident, IsRightUpToTheLastElementThatFits) {
  for (const char* strategy :
       {"baseline", "register_bypass", "overlap", "drop_off", "tma", "dsm"}) {
    const Variant& variant = *find_variant(std::string("cfd/") + strategy);
    const auto run_of = [&](std::int64_t elements) {
      const auto i = instance("cfd", {{"elements", std::to_string(elements)}, {"iterations", "3"}});
      SCOPED_TRACE(variant.name() + " " + std::to_string(elements));
      std::string reason;
      const Config* config = choose_config(variant, resident_name, *i, device, reason);
      if (config == nullptr) return false;
      const Launch launch = config->prepare(*i, device);
      for (int run = 0; run < 2; ++run) EXPECT_TRUE(passes(*i, run, [&] { launch(nullptr); }));
      return true;
    };
    if (!run_of(1)) continue;  // an older device
    const std::int64_t sms = device.sm_count;
    for (const std::int64_t elements : {2L, 127L, 4099L, 32 * sms + 1, 513 * sms, 1025 * sms}) {
      EXPECT_TRUE(run_of(elements));
    }
    // A cluster takes two SMs of a group, of which one may be left.
    EXPECT_TRUE(run_of(share_elements * sms) || strategy == std::string("dsm"));
    EXPECT_FALSE(run_of(share_elements * sms + 1));
  }
}

/// Does not wait for the grid, and block 1 is slow.
struct EarlyMover : Mover {
  using Mover::Mover;
  __device__ void wait(unsigned) {
    if (blockIdx.x == 1) __nanosleep(100000);
    __syncthreads();
  }
};
/// Reads what records of other shares were a stage before.
struct StaleMover : Mover {
  using Mover::Mover;
  __device__ Record far(int turn, int f, int place) {
    if (now == v.records) return Mover::far(turn, f, place);
    return load_record(next, place - elsewhere);
  }
};

template <class OneMover>
bool mover_passes(Instance& i, const Device& device) {
  const Launch launch = resident_config<OneMover>().prepare(problem_of<Problem>(i), device);
  return passes(i, 0, [&] { launch(nullptr); });
}

TEST_F(CfdResident, WithoutItsBarrierOrWithStaleRecordsIsCaught) {
  if (device.shared_per_block < sizeof(Share)) GTEST_SKIP() << "a share does not fit";
  const auto i = instance("cfd", {{"elements", "9973"}, {"iterations", "4"}});
  EXPECT_TRUE(mover_passes<Mover>(*i, device));
  EXPECT_FALSE(mover_passes<EarlyMover>(*i, device));
  EXPECT_FALSE(mover_passes<StaleMover>(*i, device));
}

}  // namespace
}  // namespace amasia::cfd_mutants_test
