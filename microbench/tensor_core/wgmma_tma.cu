// tensor_core/wgmma_tma: does wgmma keep its rate when the copy engine has to feed it, and how many
// tiles must be in flight for that?
//
// Method: one block per SM: a producer thread asks for boxes of A (128 x 64) and B (256 x 64, bf16)
// by tensor map into a ring of 1 to 4 stages of 48 KiB, two warpgroups multiply m64n256k16 from it.
// Every SM has its own rows of A and all share B; k is 1024, gone through again and again, so that
// the operands come from L2: 48 KiB in the 1024 cycles that their products take. Random data, the
// second of two launches of milliseconds, by events. Beside it the same two warpgroups without
// copies, on what the first box left (stages=0). The last SM's product is compared with the CPU's.

#include <cuda_bf16.h>

#include <random>

#include "microbench/tensor_core/operands.hpp"
#include "microbench/walks.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/wgmma.cuh"

namespace amasia::tensor {
namespace {

constexpr int tile_m = 128, tile_n = 256, tile_k = 64;
constexpr int depth = 1024;  // k of the matrices
constexpr int steps = depth / tile_k;
constexpr int consumers = 2;                    // warpgroups, 64 rows each
constexpr int threads = 128 * (1 + consumers);  // the first warpgroup is the producer's
constexpr unsigned a_bytes = tile_m * tile_k * 2, b_bytes = tile_n * tile_k * 2;
constexpr unsigned stage_bytes = a_bytes + b_bytes;

/// The ring of STAGES; 0: one stage that is filled once.
template <int STAGES>
constexpr int slots = STAGES == 0 ? 1 : STAGES;
template <int STAGES>
constexpr unsigned shared_bytes = slots<STAGES>* stage_bytes + 1024 + 16 * slots<STAGES>;

template <int STAGES>
__global__ void __launch_bounds__(threads, 1)
    run_fed(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
            int passes, Stamp* taken, float* out) {
  extern __shared__ unsigned char raw[];
  constexpr int ring = slots<STAGES>;
  unsigned char* const tiles = raw + (1024 - async::shared_address(raw) % 1024) % 1024;
  auto* const full = reinterpret_cast<tma::Barrier*>(tiles + ring * stage_bytes);
  tma::Barrier* const empty = full + ring;
  if (threadIdx.x == 0) {
    for (int s = 0; s < ring; ++s) {
      tma::init(full + s, 1);
      tma::init(empty + s, consumers);
    }
    tma::fence_init();
  }
  __syncthreads();
  const Stopwatch watch;
  const int total = STAGES == 0 ? 1 : passes * steps;

  if (threadIdx.x < 128) {
    if (threadIdx.x != 0) return;
#pragma unroll 1
    for (int i = 0; i < total; ++i) {
      const int s = i % ring;
      tma::wait(empty + s, (i / ring + 1) % 2);  // the first round finds them empty
      tma::expect(full + s, stage_bytes);
      unsigned char* const stage = tiles + s * stage_bytes;
      tma::load_tile(stage, &a, i % steps * tile_k, blockIdx.x * tile_m, full + s);
      tma::load_tile(stage + a_bytes, &b, i % steps * tile_k, 0, full + s);
    }
    return;
  }

  const int group = threadIdx.x / 128 - 1;
  float d[128] = {};
#pragma unroll 1
  for (int i = 0; i < passes * steps; ++i) {
    const int s = STAGES == 0 ? 0 : i % ring;
    if (STAGES > 0 || i == 0) tma::wait(full + s, i / ring % 2);
    const std::uint64_t a_s = wgmma::k_major(tiles + s * stage_bytes + group * (a_bytes / 2));
    const std::uint64_t b_s = wgmma::k_major(tiles + s * stage_bytes + a_bytes);
    wgmma::fence();
#pragma unroll
    for (int k = 0; k < tile_k / 16; ++k) {
      // Each pass starts anew, so that sums stay bounded.
      wgmma::m64n256k16(d, wgmma::advance(a_s, 32 * k), wgmma::advance(b_s, 32 * k),
                        i % steps > 0 || k > 0);
    }
    wgmma::commit();
    if constexpr (STAGES == 1) {
      wgmma::wait<0>();
      if (threadIdx.x % 128 == 0) tma::arrive(empty + s);
    } else {
      wgmma::wait<1>();  // the stage before this one has been read
      if (STAGES > 1 && i > 0 && threadIdx.x % 128 == 0) tma::arrive(empty + (i - 1) % ring);
    }
  }
  wgmma::wait<0>();
  wgmma::hold(d);
  if (blockIdx.x == 0 && threadIdx.x == 128) watch.stop(*taken);
  if (blockIdx.x != gridDim.x - 1) return;
  const int t = threadIdx.x % 128;
  const int row = group * 64 + t / 32 * 16 + t % 32 / 4, column = 2 * (t % 4);
  for (int i = 0; i < 128; ++i) {
    out[(row + i % 4 / 2 * 8) * tile_n + i / 4 * 8 + column + i % 2] = d[i];
  }
}

struct Operands {
  explicit Operands(int blocks)
      : a(static_cast<std::size_t>(blocks) * tile_m * depth), b(std::size_t{tile_n} * depth) {
    host_a = fill(a, 1);
    host_b = fill(b, 2);
    const std::int64_t rows = static_cast<std::int64_t>(blocks) * tile_m;
    map_a = tensor_map(Grid<const __nv_bfloat16>{a.data(), rows, depth, depth}, tile_m, tile_k,
                       Swizzle::bytes128);
    map_b = tensor_map(Grid<const __nv_bfloat16>{b.data(), tile_n, depth, depth}, tile_n, tile_k,
                       Swizzle::bytes128);
    out.poison(nullptr);
  }

  /// Compares rows of the last block with the CPU. Throws when they differ.
  void hold() const {
    const std::vector<float> got = downloaded(out);
    const std::size_t first = host_a.size() - std::size_t{tile_m} * depth;
    for (int m = 0; m < tile_m; m += 3) {
      for (int n = m % 5; n < tile_n; n += 7) {
        Expected e;
        for (int k = 0; k < depth; ++k) {
          const double term =
              static_cast<double>(__bfloat162float(host_a[first + m * std::size_t{depth} + k])) *
              __bfloat162float(host_b[n * std::size_t{depth} + k]);
          e.value += term;
          e.magnitude += std::fabs(term);
        }
        hold_to(got[m * tile_n + n], e, Element::bf16, Sum::f32, m, n);
      }
    }
  }

  DeviceArray<__nv_bfloat16> a, b;
  DeviceArray<float> out{tile_m * tile_n};
  DeviceArray<Stamp> taken{1};
  std::vector<__nv_bfloat16> host_a{}, host_b{};
  CUtensorMap map_a{}, map_b{};

 private:
  static std::vector<__nv_bfloat16> fill(const DeviceArray<__nv_bfloat16>& to, unsigned seed) {
    std::minstd_rand random(seed);
    std::vector<__nv_bfloat16> host(to.size());
    for (auto& x : host) {
      x = __float2bfloat16(static_cast<float>(random()) * 0x1p-30F - 1.0F);
    }
    to.upload(host.data());
    return host;
  }
};

template <int STAGES>
Sampling fed(const Device& device, Stream stream) {
  constexpr auto kernel = run_fed<STAGES>;
  AMASIA_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   shared_bytes<STAGES>));
  auto o = std::make_shared<const Operands>(device.sm_count);
  const auto blocks = static_cast<unsigned>(device.sm_count);
  const auto launch = [o, blocks, stream](int passes) {
    kernel<<<blocks, threads, shared_bytes<STAGES>, stream>>>(o->map_a, o->map_b, passes,
                                                              o->taken.data(), o->out.data());
    AMASIA_CUDA(cudaGetLastError());
  };
  if (STAGES > 0) {
    launch(2);  // around the ring and into the second pass
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    o->hold();
  }
  return [o, blocks, launch, stream] {
    constexpr int passes = 400;
    Reading r = time_of_launch(stream, o->taken, [&] { launch(passes); });
    r.value = 2.0 * tile_m * tile_n * depth * blocks * passes / *r.time_ns * 1e-3;
    return r;
  };
}

template <int STAGES>
void add(std::vector<Point>& points, const Device& device, const char* quantity, const char* unit) {
  Point& p = add_point(points, {{"input", "bf16"}, {"stages", std::to_string(STAGES)}}, quantity,
                       unit, Better::larger);
  p.runs_from = 90;
  if (device.compute_capability > 90) {
    p.unsupported = "wgmma is an instruction of compute capability 9.0 alone";
  }
  p.kernels = {kernel_use(run_fed<STAGES>, threads, shared_bytes<STAGES>, 1,
                          STAGES * std::size_t{stage_bytes})};
  p.claims = {{"HGMMA", "wgmma.mma_async", tile_k / 16},
              {"UTMALDG", "cp.async.bulk.tensor", 2, STAGES > 0}};
  const bool share = std::string(unit) == "FLOP/clk/SM";
  p.prepare = [share](const Device& d, Stream s) -> Sampling {
    const Sampling rate = fed<STAGES>(d, s);
    if (!share) return rate;
    return [rate, sms = d.sm_count] {
      Reading r = rate();
      r.value = r.value * 1e6 / (*r.clock_mhz * sms);
      return r;
    };
  };
}

template <int STAGES>
void add_both(std::vector<Point>& points, const Device& d, Scope scope) {
  add<STAGES>(points, d, "rate per clock", "FLOP/clk/SM");
  if (scope == Scope::full) add<STAGES>(points, d, "throughput", "TFLOP/s");
}

std::vector<Point> points(const Device& d, Scope scope) {
  std::vector<Point> all;
  add_both<0>(all, d, scope);
  if (scope == Scope::full) add_both<1>(all, d, scope);
  add_both<2>(all, d, scope);
  if (scope == Scope::full) add_both<3>(all, d, scope);
  add_both<4>(all, d, scope);
  return all;
}

const bool registered = register_microbenchmark(
    {"tensor_core/wgmma_tma", "Does wgmma keep its rate when the copy engine has to feed it?",
     "Two warpgroups per SM multiply bf16 tiles of 128 x 256 x 64 that one thread brings from L2 "
     "by tensor map into a ring of 1 to 4 stages of 48 KiB; stages=0: the same without copies; "
     "events over milliseconds, per clock by the clock one SM kept; held to a CPU product.",
     points});

}  // namespace
}  // namespace amasia::tensor
