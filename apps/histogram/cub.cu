// histogram/cub: cub::DeviceHistogram::HistogramEven of the toolkit's CCCL, the library everybody
// would use. Header-only, so nothing is loaded at run time.
#include <cub/device/device_histogram.cuh>
#include <limits>

#include "apps/histogram/histogram.hpp"
#include "harness/variant.hpp"
#include "variants/launch.hpp"

namespace amasia::histogram {
namespace {

template <class Key, class Level, class Offset>
cudaError_t histogram_even(void* scratch, std::size_t& bytes, const Problem& p, Stream stream) {
  return cub::DeviceHistogram::HistogramEven(
      scratch, bytes, static_cast<const Key*>(p.keys), reinterpret_cast<int*>(p.counts),
      static_cast<int>(p.binning.bins) + 1, Level{0}, static_cast<Level>(p.binning.range),
      static_cast<Offset>(p.count), stream);
}

/// Offsets of 32 bits are what CUB is fastest with.
cudaError_t count(void* scratch, std::size_t& bytes, const Problem& p, Stream stream) {
  return p.type == KeyType::uint8
             ? histogram_even<std::uint8_t, int, int>(scratch, bytes, p, stream)
             : histogram_even<int, int, int>(scratch, bytes, p, stream);
}

ConfigOf<Problem> even() {
  ConfigOf<Problem> config;
  config.info.name = "even";
  config.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (p.strays) return "CUB leaves keys outside the range uncounted";
    if (p.count > std::numeric_limits<int>::max()) {
      return "instantiated for up to 2147483647 keys";
    }
    return std::nullopt;
  };
  config.prepare = [](const Problem& p, const Device&) -> Launch {
    std::size_t bytes = 0;
    AMASIA_CUDA(count(nullptr, bytes, p, nullptr));
    const auto scratch = std::make_shared<DeviceBytes>(bytes);
    return [p, bytes, scratch](Stream stream) {
      // The counter of keys outside the range, of which this problem has none.
      AMASIA_CUDA(cudaMemsetAsync(p.counts + p.binning.bins, 0, sizeof(unsigned), stream));
      std::size_t size = bytes;
      AMASIA_CUDA(count(scratch->data(), size, p, stream));
    };
  };
  return config;
}

const bool registered = register_comparator<Problem>("histogram", "cub", {even()});

}  // namespace
}  // namespace amasia::histogram
