// histogram/thrust: what is written in an hour with Thrust and no kernel of one's own. The keys are
// sorted, the place where each bin ends is found by binary search, and neighbouring places are
// subtracted. Sorting overwrites its input, which a run must not, so that a copy of the keys is
// sorted; the copy is part of the work and is timed.
//
// reduce_by_key would list the bins that occur, and how many these are it says on the host, which
// has to wait for it in the middle of the work. Such a wait cannot be captured into a graph, and
// bins without keys would still need their zeros.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

#include <algorithm>
#include <list>
#include <memory>
#include <stdexcept>

#include "apps/histogram/histogram.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"

namespace amasia::histogram {
namespace {

/// Temporary memory for Thrust, which asks for it whenever an algorithm begins. What the first run
/// allocates is kept, and later runs, which ask for the same sizes in the same order, get it again:
/// cudaMalloc takes longer than the histogram and cannot be captured. All runs are on one stream at
/// a time, so that memory given back on the host is free on the device when its turn comes.
class KeptMemory {
 public:
  using value_type = char;

  char* allocate(std::ptrdiff_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    auto piece = std::find_if(pieces_.begin(), pieces_.end(), [size](const Piece& p) {
      return !p.taken && p.memory.bytes() == size;
    });
    if (piece == pieces_.end()) {
      if (complete_) throw std::logic_error("Thrust asks for more memory than in its first run");
      piece = pieces_.insert(pieces_.end(), Piece{DeviceBytes(size), false});
    }
    piece->taken = true;
    return static_cast<char*>(piece->memory.data());
  }
  void deallocate(char* memory, std::size_t) {
    for (Piece& piece : pieces_) {
      if (piece.memory.data() == memory) piece.taken = false;
    }
  }
  /// The first run is over.
  void complete() { complete_ = true; }

 private:
  struct Piece {
    DeviceBytes memory;
    bool taken;
  };
  std::list<Piece> pieces_;
  bool complete_ = false;
};

/// The least key behind a bin.
struct KeyBehind {
  Binning binning;
  __host__ __device__ std::uint32_t operator()(std::uint32_t bin) const {
    return first_key_of(bin + 1, binning);
  }
};

/// Without it the search would compare in the type of the keys, and 256 is no uint8.
struct Below {
  __host__ __device__ bool operator()(std::uint32_t key, std::uint32_t limit) const {
    return key < limit;
  }
};

template <class Key>
class Counter {
 public:
  explicit Counter(const Problem& p)
      : problem_(p),
        sorted_(static_cast<std::size_t>(p.count)),
        ends_(std::size_t{p.binning.bins} + 1) {
    // Behind the keys outside the range, which a sort of unsigned numbers puts last, there is
    // nothing. Places are counted modulo 2^32: no counter exceeds that, nor does a difference.
    const auto all = static_cast<unsigned>(p.count);
    AMASIA_CUDA(cudaMemcpy(ends_.data() + p.binning.bins, &all, sizeof(all), cudaMemcpyDefault));
    const OwnedStream stream;
    run(stream);
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    memory_.complete();
  }

  void run(Stream stream) {
    const auto policy = thrust::cuda::par_nosync(memory_).on(stream);
    const auto* const keys = static_cast<const Key*>(problem_.keys);
    Key* const begin = sorted_.data();
    Key* const end = begin + problem_.count;
    // What thrust::copy enqueues. In Thrust 2.3 (CUDA 12.4) that waits for it, which ends a
    // capture.
    AMASIA_CUDA(cudaMemcpyAsync(begin, keys, sorted_.bytes(), cudaMemcpyDeviceToDevice, stream));
    thrust::sort(policy, begin, end);
    const auto limits = thrust::make_transform_iterator(thrust::counting_iterator<std::uint32_t>(0),
                                                        KeyBehind{problem_.binning});
    unsigned* const ends = ends_.data();
    thrust::lower_bound(policy, begin, end, limits, limits + problem_.binning.bins, ends, Below{});
    thrust::adjacent_difference(policy, ends, ends + ends_.size(), problem_.counts);
  }

 private:
  Problem problem_;
  DeviceArray<Key> sorted_;
  DeviceArray<unsigned> ends_;  // per counter, how many keys it and those before it have
  KeptMemory memory_;
};

template <class Key>
Launch counter_of(const Problem& p) {
  const auto counter = std::make_shared<Counter<Key>>(p);
  return [counter](Stream stream) { counter->run(stream); };
}

ConfigOf<Problem> sort_and_search() {
  ConfigOf<Problem> config;
  config.info.name = "sort-and-search";
  config.info.geometry = {{"version", THRUST_VERSION}};
  config.prepare = [](const Problem& p, const Device&) {
    return p.type == KeyType::uint8 ? counter_of<std::uint8_t>(p) : counter_of<std::uint32_t>(p);
  };
  config.unsupported = [](const Problem& p, const Device& d) -> std::optional<std::string> {
    // The keys, the copy, and the sort's other half, between which its passes alternate.
    const std::int64_t bytes = 3 * p.count * (p.type == KeyType::uint8 ? 1 : 4);
    if (static_cast<std::size_t>(bytes) <= d.memory_bytes) return std::nullopt;
    return "sorting a copy takes the memory of the keys twice more, " + std::to_string(bytes) +
           " bytes with them, and the device has " + std::to_string(d.memory_bytes);
  };
  return config;
}

const bool registered = register_comparator<Problem>("histogram", "thrust", {sort_and_search()});

}  // namespace
}  // namespace amasia::histogram
