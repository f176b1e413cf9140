// async_copy/tiled_gemm: what does a two-stage pipeline of asynchronous copies give a textbook
// tiled multiplication (Luo et al. 2024, Tables XIII and XIV)?
//
// Method: C = A B in fp32; A is 2048 wide, B 2048 high. One thread per element of C, blocks of 8 x
// 8, 16 x 16 and 32 x 32. In each step every thread brings one element of A's tile and one of B's
// into shared memory, then computes one row times one column of them.
// SyncShare: through registers, a block barrier before and one after the products.
// AsyncPipe: `cuda::pipeline` of two stages, 4-byte `cp.async`, the next tiles in flight during the
// products.
// "Blocks per SM" n is a grid of n x SMs blocks, as wide as there are SMs and n high: C has as many
// tiles, but not so many blocks are resident. The paper's kernels are those of a CUDA sample, whose
// code is not used here; the shape of C, which the paper leaves open, is that of the grid. The
// value is the slope in time over 2 and 10 launches back to back, warm: the matrices fit in the L2
// of large GPUs, as in the paper.
// Verified: random A and B in [-1, 1), from a poisoned C. The reference is products in double
// precision of one thread per element straight from global memory. The tolerance is the bound of a
// dot product of 2048 fp32 terms in any order.

#include <cmath>
#include <cstddef>
#include <cuda/pipeline>

#include "microbench/walks.cuh"

namespace amasia::async_copy {
namespace {

constexpr int inner = 2048;  // width of A, height of B

/// Row-major: A (rows, inner), B (inner, columns), C (rows, columns); sizes are multiples of EDGE.
struct Matrices {
  const float* a;
  const float* b;
  float* c;
  int columns;
};

template <int EDGE>
struct Tiles {
  float a[EDGE][EDGE];  // (row, k)
  float b[EDGE][EDGE];  // (k, column)

  __device__ float dot(float sum) const {
#pragma unroll
    for (int k = 0; k < EDGE; ++k) sum = fmaf(a[threadIdx.y][k], b[k][threadIdx.x], sum);
    return sum;
  }
};

/// The element of A's and of B's tile that a thread brings, and the step to the next tile.
template <int EDGE>
struct Source {
  const float* a;
  const float* b;
  std::size_t b_step;

  __device__ explicit Source(const Matrices& m)
      : a(m.a + std::size_t{blockIdx.y * EDGE + threadIdx.y} * inner + threadIdx.x),
        b(m.b + std::size_t{threadIdx.y} * m.columns + blockIdx.x * EDGE + threadIdx.x),
        b_step(std::size_t{EDGE} * m.columns) {}
  __device__ void advance() {
    a += EDGE;
    b += b_step;
  }
};

template <int EDGE>
__device__ void store_result(const Matrices& m, float sum) {
  m.c[std::size_t{blockIdx.y * EDGE + threadIdx.y} * m.columns + blockIdx.x * EDGE + threadIdx.x] =
      sum;
}

template <int EDGE>
__global__ void __launch_bounds__(EDGE* EDGE) sync_share(Matrices m) {
  __shared__ Tiles<EDGE> tiles;
  Source<EDGE> source(m);
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < inner / EDGE; ++step) {
    tiles.a[threadIdx.y][threadIdx.x] = *source.a;
    tiles.b[threadIdx.y][threadIdx.x] = *source.b;
    source.advance();
    __syncthreads();
    sum = tiles.dot(sum);
    __syncthreads();
  }
  store_result<EDGE>(m, sum);
}

template <int EDGE>
__global__ void __launch_bounds__(EDGE* EDGE) async_pipe(Matrices m) {
  constexpr int steps = inner / EDGE;
  constexpr int stages = 2;
  __shared__ Tiles<EDGE> tiles[stages];
  Source<EDGE> source(m);
  auto pipe = cuda::make_pipeline();
  const auto issue = [&](int step) {
    pipe.producer_acquire();
    if (step < steps) {
      Tiles<EDGE>& to = tiles[step % stages];
      constexpr cuda::aligned_size_t<4> one(sizeof(float));
      cuda::memcpy_async(&to.a[threadIdx.y][threadIdx.x], source.a, one, pipe);
      cuda::memcpy_async(&to.b[threadIdx.y][threadIdx.x], source.b, one, pipe);
      source.advance();
    }
    pipe.producer_commit();
  };
  issue(0);
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    issue(step + 1);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();  // this step's tiles are there for everybody
    sum = tiles[step % stages].dot(sum);
    pipe.consumer_release();
    __syncthreads();  // and have been read: the step after next may come
  }
  store_result<EDGE>(m, sum);
}

__global__ void __launch_bounds__(256) fill_random(float* out, std::size_t count, unsigned seed) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i >= count) return;
  std::uint64_t h = (i + 1 + (std::uint64_t{seed} << 40)) * 0x9E3779B97F4A7C15ULL;
  h = (h ^ (h >> 31)) * 0xBF58476D1CE4E5B9ULL;
  out[i] = static_cast<float>(h >> 40) * 0x1p-23F - 1;
}

/// Elements of C that are further from the product than `bound` times the sum of the terms' sizes.
__global__ void __launch_bounds__(256)
    count_wrong_products(Matrices m, std::size_t count, double bound, unsigned* wrong) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i >= count) return;
  const float* const a = m.a + i / m.columns * inner;
  const float* const b = m.b + i % m.columns;
  double sum = 0, sizes = 0;
  for (int k = 0; k < inner; ++k) {
    const double term = static_cast<double>(a[k]) * b[static_cast<std::size_t>(k) * m.columns];
    sum += term;
    sizes += fabs(term);
  }
  // Written so that NaN, the poison, is wrong.
  if (!(fabs(m.c[i] - sum) <= bound * sizes)) atomicAdd(wrong, 1U);
}

using Kernel = void (*)(Matrices);

struct Case {
  Kernel kernel;
  int edge;
  int blocks_per_sm;
};

unsigned blocks_for(std::size_t threads) { return static_cast<unsigned>((threads + 255) / 256); }

class Product {
 public:
  Product(const Case& which, const Device& device, Stream stream)
      : case_(which),
        stream_(stream),
        grid_(static_cast<unsigned>(device.sm_count), static_cast<unsigned>(which.blocks_per_sm)),
        rows_(static_cast<std::size_t>(which.edge) * grid_.y),
        columns_(static_cast<std::size_t>(which.edge) * grid_.x),
        a_(rows_ * inner),
        b_(inner * columns_),
        c_(rows_ * columns_) {
    fill_random<<<blocks_for(a_.size()), 256, 0, stream>>>(a_.data(), a_.size(), 1);
    fill_random<<<blocks_for(b_.size()), 256, 0, stream>>>(b_.data(), b_.size(), 2);
    c_.poison(stream);
    launch(1);
    verify();
  }

  double operations() const {
    return 2.0 * static_cast<double>(inner) * static_cast<double>(rows_ * columns_);
  }

  /// Of one launch, back to back.
  double nanoseconds() const {
    constexpr int few = 2, many = 10;
    const auto time_ns = [&](int launches) {
      return 1e6 * milliseconds(
                       stream_, [&] { launch(2); }, [&] { launch(launches); });
    };
    const double less = time_ns(few), more = time_ns(many);
    return slope_of({{few, less}, {many, more}});
  }

 private:
  Matrices matrices() const {
    return {a_.data(), b_.data(), c_.data(), static_cast<int>(columns_)};
  }
  void launch(int times) const {
    const auto edge = static_cast<unsigned>(case_.edge);
    for (int i = 0; i < times; ++i) {
      case_.kernel<<<grid_, dim3(edge, edge), 0, stream_>>>(matrices());
    }
    AMASIA_CUDA(cudaGetLastError());
  }
  void verify() const {
    // |fl(sum) - sum| <= n u / (1 - n u) * sum |terms| (Higham 2002, 3.1), u = 2^-24.
    const double nu = inner * std::ldexp(1.0, -24);
    const DeviceArray<unsigned> wrong(1);
    const auto count = [&](double bound) {
      return counted(stream_, wrong, [&](unsigned* count) {
        count_wrong_products<<<blocks_for(c_.size()), 256, 0, stream_>>>(matrices(), c_.size(),
                                                                         bound, count);
      });
    };
    if (const unsigned n = count(nu / (1 - nu)); n != 0) {
      throw std::runtime_error(std::to_string(n) + " elements of the product are wrong");
    }
    // fp32 sums are not exact: a check that finds no difference at all does not look.
    if (count(0) == 0) throw std::runtime_error("the check finds fp32 sums exact");
  }

  Case case_;
  Stream stream_;
  dim3 grid_;
  std::size_t rows_, columns_;
  DeviceArray<float> a_, b_, c_;
};

Sampling multiply(const Case& which, const Device& device, Stream stream) {
  auto product = std::make_shared<Product>(which, device, stream);
  return [product] {
    const double time_ns = product->nanoseconds();
    return of_time(time_ns, product->operations() / time_ns);
  };
}

template <int EDGE>
void add(std::vector<Point>& points, Scope scope) {
  for (const bool async : {true, false}) {
    for (const int blocks : {1, 2, 4, 8, 16, 32}) {
      if (scope == Scope::quick && blocks != 1 && blocks != 8) continue;
      const Case which{async ? async_pipe<EDGE> : sync_share<EDGE>, EDGE, blocks};
      Point& p = add_point(points,
                           {{"kernel", async ? "AsyncPipe" : "SyncShare"},
                            {"block", std::to_string(EDGE) + "x" + std::to_string(EDGE)},
                            {"blocks_per_sm", std::to_string(blocks)}},
                           "rate", "GFLOP/s", Better::larger);
      p.runs_from = async ? 80 : 0;
      p.kernels = {kernel_use(which.kernel, EDGE * EDGE, 0, 1, sizeof(Tiles<EDGE>))};
      p.claims = {{"LDGSTS", "cp.async", async ? 2 : 0},
                  {"LDG", "ld.global", async ? 0 : 2},
                  {"FFMA", "fma", EDGE}};
      p.prepare = [which](const Device& d, Stream stream) { return multiply(which, d, stream); };
    }
  }
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  add<8>(all, scope);
  add<16>(all, scope);
  add<32>(all, scope);
  return all;
}

/// The mean gain that the paper prints beside each block size, over the grids.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const char* block : {"8x8", "16x16", "32x32"}) {
    std::vector<double> gains;
    for (const MeasuredPoint& sync : measured) {
      if (!has(sync, {{"kernel", "SyncShare"}, {"block", block}})) continue;
      const double async =
          value_at(measured, {{"kernel", "AsyncPipe"},
                              {"block", block},
                              {"blocks_per_sm", value_of(sync.at, "blocks_per_sm")}});
      if (async > 0) gains.push_back(100 * (async / sync.value - 1));
    }
    if (gains.empty()) continue;
    found.push_back(mean_finding({{"block", block}}, "gain", "%", gains,
                                 "AsyncPipe over SyncShare, minus one: mean over the grids; low "
                                 "and high: the extremes"));
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"async_copy/tiled_gemm",
     "What does a two-stage pipeline of asynchronous copies give a textbook tiled multiplication?",
     "C = A B in fp32, width of A and height of B 2048, one thread per element of C, blocks of 8 x "
     "8, 16 x 16 and 32 x 32 in grids of 1 to 32 blocks per SM: tiles through registers between "
     "two barriers (SyncShare), and by cuda::pipeline of two stages (AsyncPipe). Slope in time "
     "over 2 and 10 launches, warm; verified against products in double precision.",
     points, findings});

}  // namespace
}  // namespace amasia::async_copy
