// Proves that the verification of histogram can fail (tests/gpu/mutants.hpp).
#include "apps/histogram/histogram.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia {
namespace {

constexpr int tile = 1024;  // keys of the tile that a fault pretends to have

// edge: the last key is left out. stale_halo: a key that another tile ends with is counted again,
// as by a copy that a ring handed out twice.
__global__ void count(histogram::Problem p, Fault fault) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i >= p.count - (fault == Fault::edge ? 1 : 0)) return;
  if (fault == Fault::skipped_tile && i / tile == 2) return;
  const bool stale = fault == Fault::stale_halo && i % tile == 0 && i > 0;
  const std::int64_t from = stale ? i - 1 : i;
  const std::uint32_t key = p.type == histogram::KeyType::uint8
                                ? static_cast<const std::uint8_t*>(p.keys)[from]
                                : static_cast<const std::uint32_t*>(p.keys)[from];
  atomicAdd(p.counts + histogram::bin_of(key, p.binning), 1u);
}

class HistogramMutants : public Mutants {
 protected:
  static void expect_caught(const std::map<std::string, std::string>& size) {
    const auto i = instance("histogram", size);
    const auto& p = dynamic_cast<InstanceOf<histogram::Problem>&>(*i).problem();
    i->reset(nullptr);
    if (GetParam() != Fault::nothing) {
      AMASIA_CUDA(cudaMemset(p.counts, 0, (p.binning.bins + 1) * sizeof(unsigned)));
      count<<<static_cast<unsigned>((p.count + 255) / 256), 256>>>(p, GetParam());
      AMASIA_CUDA(cudaGetLastError());
    }
    expect_verdict(*i);
  }
};

TEST_P(HistogramMutants, AreCaughtWithWords) {
  expect_caught({{"keys", "100003"}, {"type", "int32"}, {"bins", "4096"}});
}
TEST_P(HistogramMutants, AreCaughtWithBytes) {
  expect_caught({{"keys", "100003"}, {"type", "uint8"}, {"bins", "256"}});
}
TEST_P(HistogramMutants, AreCaughtWithKeysOutside) {
  expect_caught({{"keys", "100003"}, {"bins", "1000"}, {"range", "30000"}, {"spread", "40000"}});
}

INSTANTIATE_TEST_SUITE_P(Faults, HistogramMutants, every_fault, fault_name);

}  // namespace
}  // namespace amasia
