// dsm/with_l2: do loads from the shared memory of another SM and loads from the L2 get in each
// other's way (Hopper Tuning Guide, 4.1.3)?
//
// Method: clusters of two fill the device, one block of 1024 threads per SM. In each round a thread
// has `dsm` loads of 16 bytes of its neighbour's shared memory and `l2` loads of 16 bytes past L1
// in flight. The latter read a quarter of the L2, another part in each round. The value is the
// bytes of both over the slope in time between two numbers of rounds, for each kind alone and for
// both together. The words are random; sums of both kinds are checked over the first rounds.

#include "microbench/dsm/cluster.cuh"

namespace amasia::dsm {
namespace {

constexpr int threads = 1024;
constexpr int cluster = 2;
constexpr unsigned own_words = 4 * 4 * threads;  // four loads of 16 bytes per thread: 64 KiB
constexpr std::size_t dynamic_bytes = std::size_t{2} * 4 * own_words;  // one block per SM
constexpr unsigned checked_rounds = 5;

constexpr unsigned global_owner = 0xFFFFFFFF;  // no block has that number

template <unsigned OWNER>
__global__ void fill_random(unsigned* data, unsigned words) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    data[i] = random_word(i, OWNER);
  }
}

struct Mix {
  const unsigned* global;
  unsigned chunks;  // of threads x L2 loads x 16 bytes
  int rounds;
  bool check;
  unsigned missing;  // words too few that the check is shown, 0 or 1
  unsigned step;     // 0, which the compiler does not know
};

template <int DSM, int L2>
__global__ void __launch_bounds__(threads, 1) load_both(Mix run, Stamp* taken, unsigned* wrong) {
  extern __shared__ __align__(16) unsigned own[];
  const unsigned me = rank(), before = me ^ 1;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < own_words; i += threads) own[i] = random_word(i, blockIdx.x);
  unsigned remote = remote_address(own, before) + 16 * threadIdx.x;
  constexpr unsigned chunk_words = 4 * threads * (L2 == 0 ? 1 : L2);
  unsigned chunk = blockIdx.x % run.chunks;
  unsigned sum[4] = {};
  cluster_sync();
  const Stopwatch watch;
#pragma unroll 1
  for (int r = 0; r < run.rounds; ++r) {
    uint4 v[DSM + L2];
    const unsigned* const from = run.global + std::size_t{chunk} * chunk_words + 4 * threadIdx.x;
#pragma unroll
    for (int k = 0; k < L2; ++k) v[k] = load_past_l1(from + k * 4 * threads);
#pragma unroll
    for (int k = L2; k < DSM + L2; ++k) {
      AMASIA_SM90_ASM("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                      : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                      : "r"(remote + static_cast<unsigned>((k - L2) * 16 * threads)));
    }
#pragma unroll
    for (int k = 0; k < DSM + L2; ++k) {
      sum[0] += v[k].x;
      sum[1] += v[k].y;
      sum[2] += v[k].z;
      sum[3] += v[k].w;
    }
    chunk += gridDim.x;
    if (chunk >= run.chunks) chunk %= run.chunks;
    remote += run.step;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(*taken);
  cluster_sync();
  if (!run.check) {  // the sums must be used all the same
    if (sum[0] == 1 && sum[1] == 2 && sum[2] == 3 && sum[3] == 4) *wrong = 1;
    return;
  }
  unsigned expected[4] = {run.missing, 0, 0, 0};
  chunk = blockIdx.x % run.chunks;
#pragma unroll 1
  for (int r = 0; r < run.rounds; ++r) {
#pragma unroll 1
    for (int w = 0; w < 4; ++w) {
      for (int k = 0; k < DSM; ++k) {
        expected[w] += random_word(4 * (threadIdx.x + k * threads) + w, blockIdx.x ^ 1);
      }
      for (int k = 0; k < L2; ++k) {
        expected[w] +=
            random_word(chunk * chunk_words + 4 * (threadIdx.x + k * threads) + w, global_owner);
      }
    }
    chunk = (chunk + gridDim.x) % run.chunks;
  }
  for (int w = 0; w < 4; ++w) {
    if (sum[w] != expected[w]) atomicAdd(wrong, 1U);
  }
}

using MixKernel = void (*)(Mix, Stamp*, unsigned*);
struct Case {
  int dsm, l2;  // loads of 16 bytes per thread and round
  MixKernel kernel;
};
const Case cases[] = {{4, 0, load_both<4, 0>}, {0, 4, load_both<0, 4>}, {4, 4, load_both<4, 4>},
                      {2, 4, load_both<2, 4>}, {1, 4, load_both<1, 4>}, {4, 2, load_both<4, 2>}};

Sampling load_mix(const Case& c, const Device& device, Stream stream) {
  const LaunchShape shape = fill_device(c.kernel, cluster, threads, dynamic_bytes, device);
  const std::size_t chunk_bytes =
      std::size_t{16} * threads * static_cast<unsigned>(std::max(c.l2, 1));
  const auto chunks = static_cast<unsigned>(device.l2_bytes / 4 / chunk_bytes);
  auto* const data = reinterpret_cast<unsigned*>(buffer_of(chunks * chunk_bytes));
  fill_random<global_owner>
      <<<1024, 256, 0, stream>>>(data, static_cast<unsigned>(chunks * chunk_bytes / 4));
  AMASIA_CUDA(cudaGetLastError());
  auto taken = std::make_shared<DeviceArray<Stamp>>(1);
  auto mistakes = std::make_shared<Mistakes>(stream);
  const auto enqueue = [=](int rounds, bool check = false, unsigned missing = 0) {
    launch(c.kernel, shape, stream, Mix{data, chunks, rounds, check, missing, 0}, taken->data(),
           mistakes->data());
  };
  enqueue(checked_rounds, true, 1);
  mistakes->expect_some("the check takes wrong sums for right ones");
  enqueue(checked_rounds, true);
  mistakes->expect_none("sums of loaded words were wrong");
  return [=] {
    const std::size_t bytes = std::size_t{16} * threads * static_cast<unsigned>(c.dsm + c.l2);
    const int many = static_cast<int>((std::size_t{8} << 20) / bytes);
    Reading r = time_of_round(stream, *taken, many / 8, many, enqueue);
    r.value = static_cast<double>(bytes) * shape.grid.x / *r.time_ns;
    return r;
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  for (const Case& c : cases) {
    if (scope == Scope::quick && (c.dsm == 1 || c.l2 == 2)) continue;
    Point& p = add_cluster_point(
        all, {{"dsm", std::to_string(c.dsm)}, {"l2", std::to_string(c.l2)}}, "bandwidth", "GB/s",
        Better::larger,
        kernel_use(c.kernel, threads, dynamic_bytes, cluster,
                   std::size_t{16} * threads * static_cast<unsigned>(c.dsm + c.l2)),
        device);
    p.claims = {{"LD", "ld.shared::cluster", c.dsm}, {"LDG", "ld.global", c.l2}};
    p.prepare = [c](const Device& d, Stream stream) { return load_mix(c, d, stream); };
  }
  return all;
}

/// What both together reach, against the better of the two alone and against their sum.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  double dsm = 0, l2 = 0, both = 0;
  for (const MeasuredPoint& p : measured) {
    const bool has_dsm = value_of(p.at, "dsm") != "0", has_l2 = value_of(p.at, "l2") != "0";
    double& best = has_dsm && has_l2 ? both : has_dsm ? dsm : l2;
    best = std::max(best, p.value);
  }
  if (dsm == 0 || l2 == 0 || both == 0) return {};
  const auto ratio = [&](const char* against, double of) {
    return single_finding({{"against", against}}, "bandwidth of both", "x", both / of,
                          "The best mix over what the loads reach alone");
  };
  return {ratio("the L2 alone", l2), ratio("the sum", dsm + l2)};
}

const bool registered = register_microbenchmark(
    {"dsm/with_l2", "Do loads from another SM's shared memory and from L2 disturb each other?",
     "Clusters of two, one block of 1024 threads per SM, each thread with 16-byte loads of its "
     "neighbour's shared memory, of the L2, or of both under way; bytes over the slope in time "
     "between two numbers of rounds, sums checked.",
     points, findings});

}  // namespace
}  // namespace amasia::dsm
