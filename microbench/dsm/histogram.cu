// dsm/histogram: how fast random keys are counted when the bins are spread over a cluster, by
// cluster size, block size and number of bins (Luo et al., III-D3 and Fig. 9).
//
// Method: 2^26 random 32-bit keys (a 64th of the memory where that is less; more than the L2), the
// bin is the key's low bits. Block r of a cluster keeps the r-th part of the bins and every thread
// adds to whichever block has its bin, with red.shared::cluster; cluster size 1 adds to its own by
// ATOMS. `copies` is what a block keeps: the bins once, or once per warp as CUDA's histogram sample
// does, where a block's bins cost `warps` times as much shared memory and fewer blocks are
// resident. The grid is what fits. Keys per second of the second of two launches; clearing the bins
// and adding them to the result are part of it. Every sample is compared with counts made without
// shared memory.

#include <cmath>
#include <map>

#include "microbench/dsm/cluster.cuh"

namespace amasia::dsm {
namespace {

constexpr int most_threads = 512;

struct Count {
  const uint4* keys;
  unsigned chunks;  // of four keys
  unsigned bins;
  unsigned bins_per_block;  // a power of two, as its logarithm
  unsigned log2_per_block;
  int copies;  // per block
};

template <unsigned SEED>
__global__ void fill_keys(uint4* keys, unsigned chunks) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < chunks;
       i += gridDim.x * blockDim.x) {
    keys[i] = make_uint4(random_word(4 * i, SEED), random_word(4 * i + 1, SEED),
                         random_word(4 * i + 2, SEED), random_word(4 * i + 3, SEED));
  }
}

template <unsigned SEED>
__global__ void count_plainly(Count run, unsigned* counts) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < run.chunks;
       i += gridDim.x * blockDim.x) {
    const uint4 k = run.keys[i];
    for (const unsigned key : {k.x, k.y, k.z, k.w}) atomicAdd(counts + key % run.bins, 1U);
  }
}

/// SPREAD: the bins are those of the cluster; else each block has all of them.
template <bool SPREAD>
__global__ void __launch_bounds__(most_threads) count_spread(Count run, unsigned* counts) {
  extern __shared__ unsigned held[];  // (copies, bins_per_block)
  const unsigned kept = static_cast<unsigned>(run.copies) * run.bins_per_block;
  for (unsigned i = threadIdx.x; i < kept; i += blockDim.x) held[i] = 0;
  unsigned* const mine = held + (run.copies == 1 ? 0 : threadIdx.x / 32 * run.bins_per_block);
  cluster_sync();
  const auto add = [&](unsigned key) {
    const unsigned bin = key & (run.bins - 1);
    if constexpr (SPREAD) {
      const unsigned slot = bin & (run.bins_per_block - 1);
      add_remote(remote_address(mine + slot, bin >> run.log2_per_block), 1);
    } else {
      atomicAdd(mine + bin, 1U);
    }
  };
  const unsigned all = gridDim.x * blockDim.x;
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < run.chunks; i += 2 * all) {
    const uint4 a = __ldg(run.keys + i);
    const bool second = i + all < run.chunks;  // both loads are under way before the first is used
    const uint4 b = second ? __ldg(run.keys + i + all) : uint4{};
    add(a.x);
    add(a.y);
    add(a.z);
    add(a.w);
    if (second) {
      add(b.x);
      add(b.y);
      add(b.z);
      add(b.w);
    }
  }
  __syncwarp();
  cluster_sync();  // all additions are done, everywhere
  const unsigned first = SPREAD ? rank() * run.bins_per_block : 0;
  for (unsigned i = threadIdx.x; i < run.bins_per_block; i += blockDim.x) {
    unsigned sum = 0;
    for (int c = 0; c < run.copies; ++c) {
      sum += held[static_cast<unsigned>(c) * run.bins_per_block + i];
    }
    if (sum != 0) atomicAdd(counts + first + i, sum);
  }
}

using CountKernel = void (*)(Count, unsigned*);

struct Case {
  int cluster;
  int threads;
  unsigned bins;
  bool per_warp;

  CountKernel kernel() const { return cluster == 1 ? count_spread<false> : count_spread<true>; }
  unsigned bins_per_block() const { return bins / static_cast<unsigned>(cluster); }
  int copies() const { return per_warp ? threads / 32 : 1; }
  std::size_t bytes() const {
    return sizeof(unsigned) * bins_per_block() * static_cast<unsigned>(copies());
  }
};

std::size_t key_count(const Device& d) {
  return std::min(std::size_t{1} << 26, d.memory_bytes / 64 / 4) / 4096 * 4096;
}

Sampling count_keys(const Case& c, const Device& device, Stream stream) {
  const CountKernel kernel = c.kernel();
  const LaunchShape shape = fill_device(kernel, c.cluster, c.threads, c.bytes(), device);
  const std::size_t keys = key_count(device);
  auto* const data = reinterpret_cast<uint4*>(buffer_of(4 * keys));
  const auto chunks = static_cast<unsigned>(keys / 4);
  unsigned log2 = 0;
  while ((1U << log2) < c.bins_per_block()) ++log2;
  const Count run{data, chunks, c.bins, c.bins_per_block(), log2, c.copies()};
  constexpr unsigned seed = 42;
  fill_keys<seed><<<1024, 256, 0, stream>>>(data, chunks);
  auto counts = std::make_shared<DeviceArray<unsigned>>(c.bins);
  AMASIA_CUDA(cudaMemsetAsync(counts->data(), 0, counts->bytes(), stream));
  count_plainly<seed><<<1024, 256, 0, stream>>>(run, counts->data());
  finish(stream);
  const std::vector<unsigned> expected = downloaded(*counts);
  return [=] {
    const auto clear = [&] {
      AMASIA_CUDA(cudaMemsetAsync(counts->data(), 0, counts->bytes(), stream));
    };
    const auto count = [&] { launch(kernel, shape, stream, run, counts->data()); };
    const auto run_before = [&] {
      clear();
      count();
      clear();
    };
    const double ms = milliseconds(stream, run_before, count);
    if (downloaded(*counts) != expected) throw std::runtime_error("the counts are wrong");
    return of_time(1e6 * ms, static_cast<double>(keys) / (1e6 * ms));
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  for (const bool per_warp : {false, true}) {
    for (const int threads : {128, 512}) {
      for (const int cluster : {1, 2, 4, 8}) {
        for (unsigned bins = 256; bins <= 8192; bins *= 2) {
          const Case c{cluster, threads, bins, per_warp};
          const bool around = bins == 1024 || bins == 2048;
          if (scope == Scope::quick && (!around || per_warp)) continue;
          Point& p = add_cluster_point(all,
                                       {{"cluster", std::to_string(cluster)},
                                        {"threads", std::to_string(threads)},
                                        {"bins", std::to_string(bins)},
                                        {"copies", per_warp ? "warp" : "block"}},
                                       "rate", "Gkeys/s", Better::larger,
                                       kernel_use(c.kernel(), threads, c.bytes(), cluster), device);
          const bool own = cluster == 1;
          p.claims = {{own ? "ATOMS" : "ATOM", own ? "atom.shared" : "red.shared::cluster", 8}};
          p.prepare = [c](const Device& d, Stream stream) { return count_keys(c, d, stream); };
        }
      }
    }
  }
  return all;
}

/// The cluster size with the highest rate, as the geometric mean over the bins.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::map<std::pair<std::string, std::string>, std::map<int, std::pair<double, int>>> curves;
  for (const MeasuredPoint& p : measured) {
    auto& [sum, n] = curves[{value_of(p.at, "copies"), value_of(p.at, "threads")}]
                           [std::stoi(value_of(p.at, "cluster"))];
    sum += std::log(p.value);
    ++n;
  }
  std::vector<Finding> found;
  for (const auto& [at, of_cluster] : curves) {
    const auto best =
        std::max_element(of_cluster.begin(), of_cluster.end(), [](const auto& a, const auto& b) {
          return a.second.first / a.second.second < b.second.first / b.second.second;
        });
    found.push_back(single_finding(
        {{"copies", at.first}, {"threads", at.second}}, "optimum", "blocks", best->first,
        "The cluster size with the highest geometric mean of the rates over the bins"));
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"dsm/histogram", "Does it pay to spread the bins of a histogram over a cluster?",
     "Random keys of a quarter of a gigabyte counted with atomics into bins that lie in the blocks "
     "of a cluster, once per block or once per warp, by cluster size, block size and bins; keys "
     "over the time of the second of two launches. The counts are compared with others made "
     "without shared memory.",
     points, findings});

}  // namespace
}  // namespace amasia::dsm
