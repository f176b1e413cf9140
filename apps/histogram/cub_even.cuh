// cub::DeviceHistogram::HistogramEven as a comparator, of whichever CCCL the file that includes
// this is compiled with. Header-only, so nothing is loaded at run time.
#pragma once

#include <cub/device/device_histogram.cuh>
#include <limits>
#include <string>
#include <type_traits>

#include "apps/histogram/histogram.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"

namespace amasia::histogram {
namespace {

// CUB takes the bin of an integer key among integer levels by a division of 64 bits, among floating
// levels by one multiplication, which rounds. Offsets of 32 bits are what it is fastest with.
template <class Key, class Level>
cudaError_t histogram_even(void* scratch, std::size_t& bytes, const Problem& p, Stream stream) {
  return cub::DeviceHistogram::HistogramEven(
      scratch, bytes, static_cast<const Key*>(p.keys), reinterpret_cast<int*>(p.counts),
      static_cast<int>(p.binning.bins) + 1, Level{0}, static_cast<Level>(p.binning.range),
      static_cast<int>(p.count), stream);
}

template <class Level>
cudaError_t count(void* scratch, std::size_t& bytes, const Problem& p, Stream stream) {
  return p.type == KeyType::uint8 ? histogram_even<std::uint8_t, Level>(scratch, bytes, p, stream)
                                  : histogram_even<int, Level>(scratch, bytes, p, stream);
}

/// Whether key * (bins / range) is exact in double: 31 bits times a power of two.
bool exact_in_double(const Binning& b) {
  const std::uint32_t width = b.range / b.bins;
  return b.range % b.bins == 0 && (width & (width - 1)) == 0;
}

template <class Level>
ConfigOf<Problem> even(const char* name) {
  ConfigOf<Problem> config;
  config.info.name = name;
  config.info.geometry = {{"version", CUB_VERSION}};
  config.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (p.strays) return "CUB leaves keys outside the range uncounted";
    if (p.count > std::numeric_limits<int>::max()) {
      return "instantiated for up to 2147483647 keys";
    }
    if (std::is_floating_point_v<Level> && !exact_in_double(p.binning)) {
      return "bins whose width is no power of two could be missed by a rounding";
    }
    return std::nullopt;
  };
  config.prepare = [](const Problem& p, const Device&) -> Launch {
    std::size_t bytes = 0;
    AMASIA_CUDA(count<Level>(nullptr, bytes, p, nullptr));
    const auto scratch = std::make_shared<DeviceBytes>(bytes);
    return [p, bytes, scratch](Stream stream) {
      // The counter of keys outside the range, of which this problem has none.
      AMASIA_CUDA(cudaMemsetAsync(p.counts + p.binning.bins, 0, sizeof(unsigned), stream));
      std::size_t size = bytes;
      AMASIA_CUDA(count<Level>(scratch->data(), size, p, stream));
    };
  };
  return config;
}

std::vector<ConfigOf<Problem>> all_even() {
  return {even<double>("even-double"), even<int>("even")};
}

}  // namespace
}  // namespace amasia::histogram
