// Proves that the verification of cfd can fail (tests/gpu/mutants.hpp): a plain kernel, one stage
// per launch, that commits a fault in every stage, or once in one element of one stage.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "apps/cfd/cfd.hpp"
#include "apps/cfd/kernel.cuh"
#include "inputs/random.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::cfd_mutants_test {
namespace {

using namespace cfd;

class CfdMutants : public Mutants {};

constexpr int tile = 256;  // the tile that a fault pretends to have

/// What happens once. kept: the element is not advanced. neighbour: the element after the right one
/// is read. normals: two faces have each other's. old: the stage starts from the stage before.
/// boundary: the far field is taken for a wing, anything else for the far field.
enum class Once { nothing, kept, neighbour, normals, old, boundary };

struct Single {
  Once what = Once::nothing;
  int launch = 0;
  std::int64_t element = 0;
};

__global__ void cfd_stage(Problem p, const float* now, const float* old, float* next, int stage,
                          Fault fault, Single once) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.elements) return;
  const Once what = i == once.element ? once.what : Once::nothing;
  const Record own = record_at(now, p.pitch, i), before = record_at(old, p.pitch, i);
  if ((fault == Fault::skipped_tile && i / tile == 1) || what == Once::kept) {
    store_at(next, p.pitch, i, own);
    return;
  }
  Sums sums;
  for (int f = 0; f < faces; ++f) {
    const int n = what == Once::normals && f < 2 ? 1 - f : f;
    Face face{p.normals[n * p.pitch + i], p.normals[(faces + n) * p.pitch + i],
              p.normals[(2 * faces + n) * p.pitch + i], p.neighbours[f * p.pitch + i]};
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
void run(const Problem& p, Fault fault, const Single& once = {}) {
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
                               launch == once.launch ? once : Single{});
    AMASIA_CUDA(cudaGetLastError());
  }
  AMASIA_CUDA(cudaDeviceSynchronize());
}

TEST_P(CfdMutants, AreCaught) {
  const auto i = instance("cfd", {{"elements", "1009"}, {"iterations", "3"}});
  i->reset(nullptr);
  if (GetParam() != Fault::nothing) run(problem_of<Problem>(*i), GetParam());
  expect_verdict(*i);
}

INSTANTIATE_TEST_SUITE_P(Faults, CfdMutants, every_fault, fault_name);

class CfdSingleFault : public Mutants {
 protected:
  /// On how many of the inputs verification finds the result wrong.
  static int caught(Instance& i, const Single& once) {
    int wrong = 0;
    for (int input = 0; input <= i.challenges(); ++input) {
      i.pose(input);
      i.reset(nullptr);
      run(problem_of<Problem>(i), Fault::none, once);
      wrong += !i.verify().passed;
    }
    return wrong;
  }
};

TEST_P(CfdSingleFault, IsCaughtWhereverAndWheneverItHappens) {
  for (const char* order : {"front", "scattered"}) {
    const auto i = instance("cfd", {{"elements", "769"}, {"iterations", "20"}, {"order", order}});
    const Problem& p = problem_of<Problem>(*i);
    ASSERT_EQ(caught(*i, {}), 0);
    for (const Once what :
         {Once::kept, Once::neighbour, Once::normals, Once::old, Once::boundary}) {
      int possible = 0;
      for (std::uint64_t n = 0; n < 24; ++n) {
        const int launch = static_cast<int>(random_below(5, 0, n, 60));
        const std::int64_t element = n < 2 ? 768 * std::int64_t(n) : random_below(5, 1, n, 769);
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
        EXPECT_GT(caught(*i, {what, launch, element}), 0)
            << "fault " << static_cast<int>(what) << " in launch " << launch << " at element "
            << element << ", " << order;
      }
      EXPECT_GE(possible, 10);
    }
  }
}

// One value of the result that differs by one unit in its last place.
TEST_P(CfdSingleFault, OneWrongBitOfTheResultIsCaught) {
  const auto i = instance("cfd", {{"elements", "257"}, {"iterations", "2"}});
  const Problem& p = problem_of<Problem>(*i);
  for (const std::int64_t at : {std::int64_t{0}, 2 * p.pitch + 100, 4 * p.pitch + 256}) {
    i->pose(0);
    i->reset(nullptr);
    run(p, Fault::none);
    std::uint32_t bits = 0;
    AMASIA_CUDA(cudaMemcpy(&bits, p.result + at, sizeof bits, cudaMemcpyDeviceToHost));
    bits ^= 1;
    AMASIA_CUDA(cudaMemcpy(p.result + at, &bits, sizeof bits, cudaMemcpyHostToDevice));
    const Verdict v = i->verify();
    EXPECT_EQ(v.mismatches, 1);
    EXPECT_FALSE(v.passed);
  }
}

INSTANTIATE_TEST_SUITE_P(Once, CfdSingleFault, testing::Values(Fault::none), fault_name);

}  // namespace
}  // namespace amasia::cfd_mutants_test
