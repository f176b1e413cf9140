// Interference with a measurement: a process that keeps every SM of a GPU busy for a share of the
// time.
//
//   amasia-co-runner PERCENT PERIOD_MS SECONDS
//
// Prints "running" once it is at work, and ends after the time that was asked for.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <cuda_runtime.h>

namespace {

__global__ void __launch_bounds__(512) keep_busy(unsigned long long nanoseconds, float* sink) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  float x = static_cast<float>(threadIdx.x);
  do {
    for (int i = 0; i < 256; ++i) x = x * 0.999F + 1.0F;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
  if (x == -1.0F) *sink = x;  // never: keeps the compiler from dropping the work
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "amasia-co-runner: %s\n", cudaGetErrorString(code));
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  if (argc != 4) {
    std::fprintf(stderr, "usage: amasia-co-runner PERCENT PERIOD_MS SECONDS\n");
    return 2;
  }
  const double share = std::atof(argv[1]) / 100, period_ms = std::atof(argv[2]);
  const double seconds = std::atof(argv[3]);
  int sms = 0;
  float* sink = nullptr;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  check(cudaMalloc(&sink, sizeof *sink));
  const auto busy_ns = static_cast<unsigned long long>(share * period_ms * 1e6);
  const Clock::time_point begin = Clock::now();
  Clock::time_point next = begin;
  bool announced = false;
  while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
    keep_busy<<<2 * sms, 512>>>(busy_ns, sink);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    if (!announced) {
      std::puts("running");
      std::fflush(stdout);
      announced = true;
    }
    // From the end of the work: where others slow it down it must not catch up.
    next = share < 1 ? Clock::now() +
                           std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double, std::milli>((1 - share) * period_ms))
                     : Clock::now();
    std::this_thread::sleep_until(next);
  }
  return 0;
}
