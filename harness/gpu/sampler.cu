#include <cuda_profiler_api.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/gpu/sampler.hpp"

namespace amasia {
namespace {

// A cold run must find none of its data in L2. Reading four times its size evicts it even though
// the replacement is not LRU, and leaves only clean lines, so that no write-back falls into the
// run.
constexpr std::size_t flush_l2_multiple = 4;

// Far above any enqueue time (500 launches take ~2 ms), far below the group's time limit.
constexpr unsigned long long gate_timeout_ns = 10'000'000'000ULL;

constexpr int probe_threads = 512;
constexpr int probe_blocks_per_sm = 2;
// Some ten microseconds in all: long enough to be measured by a clock with steps of 1 us, short
// enough that a hundred probes cost a group of a second less than 1 %.
constexpr int chain_links = 1000;
constexpr std::size_t part_bytes = std::size_t{32} << 20;

__device__ unsigned long long global_nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void wait_for_gate(const volatile int* gate) {
  const unsigned long long begin = global_nanoseconds();
  while (*gate == 0 && global_nanoseconds() - begin < gate_timeout_ns) {
  }
}

__global__ void read_all(const int4* data, std::size_t count, int* sink) {
  int sum = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += stride) {
    const int4 v = data[i];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x7fffffff)
    *sink = sum;  // never true for a zeroed buffer, but the compiler cannot know
}

__global__ void stamp(ClockStamp* stamps, int sms) {
  if (threadIdx.x != 0) return;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  // %smid may exceed the SM count on a partitioned GPU; such an SM is not stamped.
  if (static_cast<int>(sm) < sms) stamps[sm] = {clock64(), global_nanoseconds()};
}

__global__ void __launch_bounds__(probe_threads)
    probe_device(const int4* part, std::size_t words, float factor, ProbeStamp* stamps, int* sink) {
  ProbeStamp stamp;
  if (threadIdx.x == 0) stamp.began_ns = global_nanoseconds();
  __syncthreads();
  const long long begin = clock64();
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < chain_links; ++i) x = x * factor + 1.0F;
  __syncthreads();
  stamp.cycles = static_cast<unsigned long long>(clock64() - begin);
  if (threadIdx.x == 0) stamp.computed_ns = global_nanoseconds();
  int sum = __float_as_int(x);
  const std::size_t stride = std::size_t{gridDim.x} * probe_threads;
  for (std::size_t i = blockIdx.x * std::size_t{probe_threads} + threadIdx.x; i < words;
       i += stride) {
    const int4 v = part[i];
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  __syncthreads();
  if (sum == 0x7fffffff) *sink = sum;  // one in 2^32: keeps the compiler from dropping the work
  if (threadIdx.x == 0) {
    stamp.ended_ns = global_nanoseconds();
    stamps[blockIdx.x] = stamp;
  }
}

double host_microseconds() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Sampler::Sampler(const Device& device, Nvml& nvml)
    : device_(device),
      nvml_(nvml),
      stream_(own_stream_),
      flush_(flush_l2_multiple * std::max<std::size_t>(device.l2_bytes, 1 << 20) / sizeof(int)),
      sink_(1),
      stamps_(2 * static_cast<std::size_t>(device.sm_count)),
      probe_blocks_(probe_blocks_per_sm * device.sm_count),
      persisting_(device.index) {
  AMASIA_CUDA(cudaMemset(flush_.data(), 0, flush_.bytes()));
  int* gate = nullptr;
  AMASIA_CUDA(cudaHostAlloc(&gate, sizeof *gate, cudaHostAllocMapped));
  gate_ = std::shared_ptr<volatile int>(gate,
                                        [](volatile int* p) { cudaFreeHost(const_cast<int*>(p)); });
  ProbeStamp* stamps = nullptr;
  AMASIA_CUDA(cudaHostAlloc(&stamps, static_cast<std::size_t>(probe_blocks_) * sizeof *stamps,
                            cudaHostAllocMapped));
  probe_stamps_ = std::shared_ptr<ProbeStamp[]>(stamps, [](ProbeStamp* p) { cudaFreeHost(p); });
}

const void* Sampler::kernel() { return reinterpret_cast<const void*>(stamp); }

void Sampler::run_once(const Enqueued& run, Instance& instance) {
  instance.reset(stream_);
  run.enqueue(stream_);
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
}

void Sampler::reset(Instance& instance) {
  instance.reset(stream_);
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
}

DoneTimes Sampler::until_done(const Enqueued& run, Instance& instance) {
  using Clock = std::chrono::steady_clock;
  instance.reset(stream_);
  AMASIA_CUDA(cudaDeviceSynchronize());
  const auto begin = Clock::now();
  const auto elapsed_ms = [begin] {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  run.enqueue(stream_);
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
  DoneTimes times;
  times.stream_ms = elapsed_ms();
  AMASIA_CUDA(cudaDeviceSynchronize());
  times.device_ms = elapsed_ms();
  return times;
}

bool Sampler::returns_while_held(const Launch& launch, Instance& instance) {
  constexpr std::chrono::seconds patience{1};
  instance.reset(stream_);
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
  *gate_ = 0;
  wait_for_gate<<<1, 1, 0, stream_>>>(gate_.get());
  std::mutex mutex;
  std::condition_variable changed;
  bool returned = false, in_time = true;
  // A thread that waits for the device waits for the gate, which only another thread can open then.
  std::thread watch([&] {
    std::unique_lock lock(mutex);
    in_time = changed.wait_for(lock, patience, [&] { return returned; });
    *gate_ = 1;
  });
  const auto open = [&] {
    {
      const std::lock_guard lock(mutex);
      returned = true;
    }
    changed.notify_one();
    watch.join();
  };
  try {
    launch(stream_);
  } catch (...) {
    open();
    throw;
  }
  open();
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
  return in_time;
}

void Sampler::make_ready(const Enqueued& run, Instance& instance, CacheMode cache) {
  if (cache == CacheMode::hot) {
    const bool again = instance.reset_for_hot_run(stream_);
    run.enqueue(stream_);
    if (again) instance.reset(stream_);
  } else {
    instance.reset(stream_);
    read_all<<<4 * device_.sm_count, 512, 0, stream_>>>(
        reinterpret_cast<const int4*>(flush_.data()), flush_.size() / 4, sink_.data());
  }
}

void Sampler::count(const Enqueued& run, Instance& instance, CacheMode cache) {
  make_ready(run, instance, cache);
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
  AMASIA_CUDA(cudaProfilerStart());
  run.enqueue(stream_);
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
  AMASIA_CUDA(cudaProfilerStop());
}

TimedRun Sampler::time(const Enqueued& run, Instance& instance, CacheMode cache) {
  const int sms = device_.sm_count;
  AMASIA_CUDA(cudaMemsetAsync(stamps_.data(), 0, stamps_.bytes(), stream_));
  make_ready(run, instance, cache);
  const bool blocked = run.can_be_blocked;
  // A long run in hot mode has filled the queue already: wait for it before the gate is closed.
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
  *gate_ = blocked ? 0 : 1;
  wait_for_gate<<<1, 1, 0, stream_>>>(gate_.get());
  stamp<<<sms, 32, 0, stream_>>>(stamps_.data(), sms);
  AMASIA_CUDA(cudaEventRecord(start_, stream_));
  try {
    run.enqueue(stream_);
  } catch (...) {
    *gate_ = 1;  // or whoever frees this sampler's memory would wait until the spin kernel gives up
    throw;
  }
  AMASIA_CUDA(cudaEventRecord(stop_, stream_));
  stamp<<<sms, 32, 0, stream_>>>(stamps_.data() + sms, sms);
  *gate_ = 1;
  AMASIA_CUDA(cudaGetLastError());
  AMASIA_CUDA(cudaStreamSynchronize(stream_));

  TimedRun result;
  float ms = 0;
  AMASIA_CUDA(cudaEventElapsedTime(&ms, start_, stop_));
  result.time_ms = ms;
  result.sm_clock_mhz = clock_from_stamps();
  if (!result.sm_clock_mhz) {
    if (const auto mhz = nvml_.sm_clock_mhz()) result.sm_clock_mhz = *mhz;
  }
  result.throttled = nvml_.throttled().value_or(false);
  result.left_set = put_back();
  return result;
}

std::optional<double> Sampler::clock_from_stamps() const {
  // %globaltimer ticks in steps of up to 1 us: shorter runs say nothing about the clock.
  constexpr unsigned long long least_ns = 50'000;
  const std::size_t sms = stamps_.size() / 2;
  std::vector<ClockStamp> host(stamps_.size());
  stamps_.download(host.data());
  std::vector<double> mhz;
  for (std::size_t i = 0; i < sms; ++i) {
    const ClockStamp& before = host[i];
    const ClockStamp& after = host[sms + i];
    if (before.nanoseconds == 0 || after.nanoseconds < before.nanoseconds + least_ns) continue;
    mhz.push_back(1e3 * static_cast<double>(after.cycles - before.cycles) /
                  static_cast<double>(after.nanoseconds - before.nanoseconds));
  }
  if (mhz.empty()) return std::nullopt;
  std::nth_element(mhz.begin(), mhz.begin() + static_cast<std::ptrdiff_t>(mhz.size() / 2),
                   mhz.end());
  return mhz[mhz.size() / 2];
}

ProbeTimes Sampler::probe() {
  // The parts of the first half in turn: each was displaced from the L2 since it was read last,
  // also by the flush of a cold sample, which ends with the second half.
  const std::size_t bytes = std::min(part_bytes, flush_.bytes() / 2);
  const std::size_t parts = std::max<std::size_t>(1, flush_.bytes() / 2 / bytes);
  const auto* part =
      reinterpret_cast<const int4*>(flush_.data()) + probes_++ % parts * (bytes / sizeof(int4));
  ProbeTimes times;
  probe_device<<<probe_blocks_, probe_threads, 0, stream_>>>(part, bytes / sizeof(int4), 0.999F,
                                                             probe_stamps_.get(), sink_.data());
  times.launched_us = host_microseconds();
  AMASIA_CUDA(cudaGetLastError());
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
  times.done_us = host_microseconds();

  // The GPU's clock counts from 1970; a double of nanoseconds since then would lose the last ones.
  const auto microseconds = [](unsigned long long ns) {
    return static_cast<double>(ns / 1000) + static_cast<double>(ns % 1000) * 1e-3;
  };
  unsigned long long began = ~0ULL, computed = ~0ULL, ended = 0;
  std::vector<unsigned long long> cycles;
  for (int b = 0; b < probe_blocks_; ++b) {
    const ProbeStamp& s = probe_stamps_[static_cast<std::size_t>(b)];
    began = std::min(began, s.began_ns);
    computed = std::min(computed, s.computed_ns);
    ended = std::max(ended, s.ended_ns);
    cycles.push_back(s.cycles);
  }
  std::nth_element(cycles.begin(), cycles.begin() + probe_blocks_ / 2, cycles.end());
  times.began_us = microseconds(began);
  times.ended_us = microseconds(ended);
  times.arithmetic_cycles =
      static_cast<double>(cycles[static_cast<std::size_t>(probe_blocks_ / 2)]);
  times.memory_us = times.ended_us - microseconds(computed);
  return times;
}

std::optional<double> Sampler::energy_mj(const Enqueued& run, Instance& instance, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto elapsed = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  if (!instance.repeatable()) return std::nullopt;  // a batch would work on its own output
  instance.reset(stream_);
  run.enqueue(stream_);
  AMASIA_CUDA(cudaStreamSynchronize(stream_));
  // The counter is refreshed every ~20-100 ms: begin at a refresh, so that the error is one period
  // of a batch many times as long.
  const auto at_refresh = [&]() -> std::optional<std::uint64_t> {
    const auto first = nvml_.total_energy_mj();
    const auto begin = Clock::now();
    auto now = first;
    while (first && now == first && elapsed(begin) < 0.5) {
      run.enqueue(stream_);
      AMASIA_CUDA(cudaStreamSynchronize(stream_));
      now = nvml_.total_energy_mj();
    }
    return now;
  };
  const auto before = at_refresh();
  if (!before) return std::nullopt;
  const auto begin = Clock::now();
  long long runs = 0;
  while (elapsed(begin) < seconds) {
    for (int i = 0; i < 4; ++i, ++runs) run.enqueue(stream_);
    AMASIA_CUDA(cudaStreamSynchronize(stream_));
  }
  const auto after = nvml_.total_energy_mj();
  if (!after || *after <= *before) return std::nullopt;
  return static_cast<double>(*after - *before) / static_cast<double>(runs);
}

}  // namespace amasia
