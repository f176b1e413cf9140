// The device instance of histogram: keys generated in place or uploaded, poisoned counts, exact
// verification.
#include <algorithm>
#include <optional>

#include "apps/common/device_instance.cuh"
#include "apps/histogram/cpu_reference.hpp"
#include "apps/histogram/histogram.hpp"
#include "variants/device/launch.hpp"

namespace amasia::histogram {
namespace {

constexpr int fill_threads = 256;

template <class Key>
__global__ void fill_keys(Key* keys, Source source, std::uint64_t log2_ranks) {
  const std::int64_t stride = std::int64_t{gridDim.x} * fill_threads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * fill_threads + threadIdx.x; i < source.count;
       i += stride) {
    keys[i] = static_cast<Key>(key_at(source, log2_ranks, i));
  }
}

template <class Key>
__global__ void fill_challenge(Key* keys, std::int64_t count, Challenge challenge) {
  const std::int64_t stride = std::int64_t{gridDim.x} * fill_threads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * fill_threads + threadIdx.x; i < count;
       i += stride) {
    keys[i] = static_cast<Key>(challenge_key(challenge, i));
  }
}

class DeviceInstance : public InstanceOf<Problem>, public CountsSource {
 public:
  DeviceInstance(const Parameters& p, std::uint64_t seed)
      : setup_(make_setup(p, seed)),
        keys_(static_cast<std::size_t>(
            padded_pitch<std::uint8_t>(setup_.source.count * setup_.key_bytes()))),
        counts_(static_cast<std::size_t>(
            padded_pitch<std::uint32_t>(std::int64_t{setup_.binning.bins} + 1))) {
    const Source& source = setup_.source;
    problem_.keys = keys_.data();
    problem_.count = source.count;
    problem_.type = setup_.type;
    problem_.binning = setup_.binning;
    problem_.counters = setup_.counters();
    problem_.counts = counts_.data();
    problem_.strays = setup_.strays();
    if (problem_.counters <= most_original_counters) {
      partials_.emplace(static_cast<std::size_t>(original_blocks * problem_.counters));
      problem_.partials = partials_->data();
    }
    if (const std::int64_t words = scratch_words(setup_); words > 0) {
      scratch_.emplace(static_cast<std::size_t>(words));
      problem_.scratch = scratch_->data();
    }
    keys_.poison(nullptr);  // what lies behind the last key must not be counted
    DeviceInstance::pose(0);
  }

  const Problem& problem() const override { return problem_; }

  void reset(Stream stream) override {
    counts_.poison(stream);
    if (partials_) partials_->poison(stream);
    if (scratch_) scratch_->poison(stream);
  }

  int challenges() const override { return challenge_count; }

  void pose(int challenge) override {
    posed_ = challenge;
    if (setup_.type == KeyType::uint8) {
      fill(keys_.data());
    } else {
      fill(reinterpret_cast<std::int32_t*>(keys_.data()));
    }
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  Verdict verify() override {
    std::vector<std::uint32_t>& expected = expected_[posed_];
    if (expected.empty()) {
      expected = posed_ == 0 ? count_keys(setup_) : count_challenge(setup_, posed_);
    }
    return compare(counts(), expected);
  }

  std::vector<std::uint32_t> counts() const override {
    std::vector<std::uint32_t> all(counts_.size());
    counts_.download(all.data());
    all.resize(std::size_t{setup_.binning.bins} + 1);
    return all;
  }

 private:
  template <class Key>
  void fill(Key* keys) const {
    const Source& source = setup_.source;
    LaunchShape shape;
    // Enough blocks to fill any GPU; the rest by strides.
    shape.grid = dim3(
        static_cast<unsigned>(std::min<std::int64_t>(ceil_div(source.count, fill_threads), 65536)));
    shape.block = dim3(fill_threads);
    if (posed_ > 0) {
      launch(fill_challenge<Key>, shape, nullptr, keys, source.count, challenge_of(setup_, posed_));
    } else if (setup_.key_file.empty()) {
      launch(fill_keys<Key>, shape, nullptr, keys, source, log2_of(source.ranks + 1));
    } else {
      const std::vector<std::int32_t> from_file = host_keys(setup_);
      const std::vector<Key> held(from_file.begin(), from_file.end());
      AMASIA_CUDA(cudaMemcpy(keys, held.data(), held.size() * sizeof(Key), cudaMemcpyHostToDevice));
    }
  }

  Setup setup_;
  DeviceArray<std::uint8_t> keys_;
  DeviceArray<std::uint32_t> counts_;
  std::optional<DeviceArray<std::uint32_t>> partials_, scratch_;
  Problem problem_;
  int posed_ = 0;
  std::vector<std::uint32_t> expected_[1 + challenge_count];
};

const bool registered = register_instance<DeviceInstance>("histogram");

}  // namespace
}  // namespace amasia::histogram
