// The problem on the device: allocation, inputs, verification.
//
// A result is compared exactly with that of the plainest kernel: a thread an element, a stage a
// launch, Rodinia's arrays. That kernel is itself checked against fp64 on the CPU, after as many
// iterations as a bound can be derived for.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "apps/cfd/cpu_reference.hpp"
#include "apps/cfd/kernel.cuh"
#include "apps/common/device_instance.cuh"
#include "apps/common/verification_report.cuh"
#include "variants/device/cuda.hpp"

namespace amasia::cfd {
namespace {

constexpr int threads = 256;

__global__ void reference_stage(Problem p, const float* now, const float* old, float* next,
                                int stage) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= p.elements) return;
  const Record own = record_at(now, p.pitch, i), before = record_at(old, p.pitch, i);
  Sums sums;
  for (int f = 0; f < faces; ++f) {
    const Face face = face_at(p, f, i);
    sums.add_face(own, face, face.neighbour >= 0 ? record_at(now, p.pitch, face.neighbour) : p.far);
  }
  store_at(next, p.pitch, i,
           advance(before, step_factor(root(p.areas[i]), before.wave), stage, sums.finish(own)));
}

__global__ void find_differences(const float* got, const float* expected, std::int64_t elements,
                                 std::int64_t pitch, VerificationReport* report) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= elements) return;
  for (int k = 0; k < variables; ++k) {
    const double value = got[k * pitch + i], right = expected[k * pitch + i];
    report->add(fabs(value - right), 0, {k, i, value, right});
  }
}

class DeviceInstance final : public CfdInstance {
 public:
  DeviceInstance(const Parameters& p, std::uint64_t seed)
      : seed_(seed),
        elements_(p.integer("elements")),
        pitch_(pitch_of(elements_)),
        keeps_result_(!p.text("out_file").empty()),
        mesh_(host_mesh(p, seed)),
        problem_{areas_.data(),
                 neighbours_.data(),
                 normals_.data(),
                 initial_.data(),
                 result_.data(),
                 scratch_.data(),
                 elements_,
                 pitch_,
                 static_cast<int>(p.integer("iterations")),
                 far_record()} {
    // The padding stays NaN: a variant that takes it for data fails verification.
    for (const auto* inputs : {&areas_, &normals_, &initial_}) inputs->poison(nullptr);
    neighbours_.poison(nullptr);
    upload(areas_, 1, [this](int, std::int64_t i) { return mesh_.areas[i]; });
    upload(neighbours_, faces,
           [this](int f, std::int64_t i) { return mesh_.neighbours[faces * i + f]; });
    upload(normals_, 3 * faces, [this](int plane, std::int64_t i) {
      return mesh_.normals[3 * (faces * i + plane % faces) + plane / faces];
    });
    pose(0);
  }

  const Problem& problem() const override { return problem_; }

  // The inputs are never written, so there is nothing to restore.
  void reset(Stream stream) override {
    result_.poison(stream);
    scratch_.poison(stream);
  }

  int challenges() const override { return 1; }

  void pose(int challenge) override {
    posed_ = challenge;
    DeviceArray<float>& initial = inputs_[posed_].initial;
    if (initial.size() == 0) {
      DeviceArray<float> made(planes(variables));  // kept only when complete
      made.poison(nullptr);
      upload_rows(posed_on_host().data(), Grid<float>{made.data(), variables, elements_, pitch_});
      initial = std::move(made);
    }
    AMASIA_CUDA(
        cudaMemcpy(initial_.data(), initial.data(), initial.bytes(), cudaMemcpyDeviceToDevice));
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  Verdict verify() override {
    AMASIA_CUDA(cudaDeviceSynchronize());
    DeviceArray<float>& expected = inputs_[posed_].expected;
    if (expected.size() == 0) {
      DeviceArray<float> made(planes(variables));  // as in pose()
      if (!checked_) checked_ = check_on_cpu(made);
      compute_expected(made, problem_.iterations);
      expected = std::move(made);
    }
    if (!checked_->passed) return *checked_;
    Verdict verdict{false, "exact", 0, 0, variables * elements_, 0};
    const DeviceReport report;
    find_differences<<<blocks(), threads>>>(result_.data(), expected.data(), elements_, pitch_,
                                            report.data());
    AMASIA_CUDA(cudaGetLastError());
    verdict = report.complete(verdict, "got");
    if (verdict.passed && posed_ == 0 && keeps_result_ && right_.empty())
      right_ = download(result_);
    return verdict;
  }

  const HostVariables& right_result() const override {
    if (right_.empty()) {
      throw std::runtime_error("out_file is not written: no run of this size was right");
    }
    return right_;
  }

 private:
  std::size_t planes(std::int64_t count) const {
    return static_cast<std::size_t>(checked_product({count, pitch_}, "planes of elements"));
  }
  unsigned blocks() const { return static_cast<unsigned>(ceil_div(elements_, threads)); }

  // value(plane, element) of every element; the padding is left alone.
  template <class T, class Value>
  void upload(const DeviceArray<T>& to, int count, const Value& value) const {
    std::vector<T> plane(static_cast<std::size_t>(elements_));
    for (int k = 0; k < count; ++k) {
      for (std::int64_t i = 0; i < elements_; ++i) plane[i] = value(k, i);
      AMASIA_CUDA(cudaMemcpy(to.data() + k * pitch_, plane.data(), plane.size() * sizeof(T),
                             cudaMemcpyHostToDevice));
    }
  }
  HostVariables download(const DeviceArray<float>& from) const {
    HostVariables to(static_cast<std::size_t>(variables * elements_));
    download_rows(Grid<float>{from.data(), variables, elements_, pitch_}, to.data());
    return to;
  }

  HostVariables posed_on_host() const {
    return host_initial(elements_, seed_, posed_ == 0 ? usual_swing : challenging_swing);
  }

  // Uses scratch, never result; what it leaves there no later run may take for its own.
  void compute_expected(const DeviceArray<float>& expected, int iterations) {
    float* const first = scratch_.data();
    float* const second = first + variables * pitch_;
    AMASIA_CUDA(
        cudaMemcpy(expected.data(), initial_.data(), expected.bytes(), cudaMemcpyDeviceToDevice));
    for (int iteration = 0; iteration < iterations; ++iteration) {
      // Only an element's own thread reads what it was, so the last stage may overwrite it.
      float* const ways[][2] = {
          {expected.data(), first}, {first, second}, {second, expected.data()}};
      for (int stage = 0; stage < stages_of_iteration; ++stage) {
        reference_stage<<<blocks(), threads>>>(problem_, ways[stage][0], expected.data(),
                                               ways[stage][1], stage);
        AMASIA_CUDA(cudaGetLastError());
      }
    }
    scratch_.poison(nullptr);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  Verdict check_on_cpu(const DeviceArray<float>& expected) {
    const int iterations = std::min(problem_.iterations, checked_iterations);
    compute_expected(expected, iterations);
    Verdict v =
        compare(download(expected).data(), elements_, reference(mesh_, posed_on_host(), iterations),
                error_bound(mesh_, iterations));
    v.norm = "the reference on the device against fp64 on the CPU, " + v.norm;
    return v;
  }

  std::uint64_t seed_;
  std::int64_t elements_, pitch_;
  bool keeps_result_;
  formats::Mesh mesh_;
  // Of one challenge: made once, however many configs are verified.
  struct Input {
    DeviceArray<float> initial, expected;
  };
  Input inputs_[2];
  DeviceArray<float> areas_{planes(1)}, normals_{planes(3 * faces)}, initial_{planes(variables)},
      result_{planes(variables)}, scratch_{planes(scratch_floats_per_element)};
  DeviceArray<std::int32_t> neighbours_{planes(faces)};
  const Problem problem_;
  int posed_ = 0;
  std::optional<Verdict> checked_;  // the kernel that computes what is expected
  HostVariables right_;
};

const bool registered = register_instance<DeviceInstance>("cfd");

}  // namespace
}  // namespace amasia::cfd
