// memory/compression: what does compressible memory do to bandwidth, by kind of data (Hopper Tuning
// Guide)?
//
// Method: memory of cuMemCreate, with CU_MEM_ALLOCATION_COMP_GENERIC and without, one allocation of
// each kind for the whole run. The same grid reads, writes or copies it in words of 16 bytes. Data:
// zeros, one constant word, integers below 256, and random words, all from one formula. The kernel
// under test writes them, because the SMs' stores compress. With level=memory arrays have 512 MiB,
// and the second of two passes is timed by events. With level=l2 each array is an eighth of the L2,
// and the value is the slope between 32 and 160 passes in one launch. A copy's bytes are those read
// and those written. Cycles follow from the clock that one SM kept during the last launch.
//
// Written data are compared afterwards, from a poisoned destination; read data are compared before.
// The control is plain memory of cuMemCreate, not of cudaMalloc, so that only compression differs.
// It also shows whether the data alone change a bandwidth (power, the clock). Rows have a remark
// where the driver grants the memory without compression.

#include <map>
#include <optional>

#include "microbench/memory/mapped_memory.hpp"
#include "microbench/memory/pattern.hpp"
#include "microbench/walks.cuh"

namespace amasia::memory {
namespace {

constexpr int block_threads = 512, words_in_flight = 4;  // of 16 bytes, per thread
constexpr std::size_t chunk_bytes = std::size_t{16} * block_threads * words_in_flight;

enum class Operation { read, write, copy };
constexpr const char* operation_names[] = {"read", "write", "copy"};

__device__ uint4 words_of(const Pattern& pattern, unsigned i) {
  const unsigned n = noise(i);
  return make_uint4(word_of(pattern, n, 0), word_of(pattern, n, 1), word_of(pattern, n, 2),
                    word_of(pattern, n, 3));
}

/// Each block takes chunks `gridDim.x` apart, `total` over the grid, round after round.
template <Operation OPERATION>
__global__ void __launch_bounds__(block_threads)
    pass_over(const uint4* in, uint4* out, unsigned chunks, unsigned long long total,
              Pattern pattern, Stamp* taken, unsigned* sink) {
  const Stopwatch watch;
  unsigned folded = 0;
  unsigned chunk = blockIdx.x % chunks;
  const unsigned stride = gridDim.x % chunks;
#pragma unroll 1
  for (unsigned long long n = blockIdx.x; n < total; n += gridDim.x) {
    const unsigned first = chunk * (words_in_flight * block_threads) + threadIdx.x;
    uint4 v[words_in_flight];
#pragma unroll
    for (int k = 0; k < words_in_flight; ++k) {
      if constexpr (OPERATION == Operation::write) {
        v[k] = words_of(pattern, first + k * block_threads);
      } else {
        v[k] = load_past_l1(in + first + k * block_threads);
      }
    }
#pragma unroll
    for (int k = 0; k < words_in_flight; ++k) {
      if constexpr (OPERATION == Operation::read) {
        folded ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
      } else {
        out[first + k * block_threads] = v[k];
      }
    }
    chunk += stride;
    if (chunk >= chunks) chunk -= chunks;
  }
  if (folded == 0x12345678U) *sink = folded;  // the compiler does not know that it never matters
  if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(*taken);
}

__global__ void __launch_bounds__(block_threads)
    count_wrong(const uint4* data, unsigned count, Pattern pattern, unsigned long long* wrong) {
  unsigned mine = 0;
  for (unsigned i = blockIdx.x * block_threads + threadIdx.x; i < count;
       i += gridDim.x * block_threads) {
    const uint4 got = data[i], want = words_of(pattern, i);
    mine += got.x != want.x || got.y != want.y || got.z != want.z || got.w != want.w;
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

using PassKernel = void (*)(const uint4*, uint4*, unsigned, unsigned long long, Pattern, Stamp*,
                            unsigned*);
constexpr PassKernel kernels[] = {pass_over<Operation::read>, pass_over<Operation::write>,
                                  pass_over<Operation::copy>};

/// Two arrays of one kind of memory, for the whole process: freed memory is cleared in the
/// background and would disturb who measures next.
std::byte* arrays_of(bool compressible, std::size_t bytes, const Device& device) {
  static std::optional<MappedMemory> held[2];
  std::optional<MappedMemory>& mine = held[compressible ? 1 : 0];
  if (!mine || mine->bytes() < 2 * bytes) {
    mine.reset();
    mine.emplace(2 * bytes, compressible, device.index);
  }
  return mine->data();
}

struct Case {
  bool compressible, inside;  // the L2
  Operation operation;
  NamedPattern data;
  std::size_t bytes;  // of one array
};

class Traffic {
 public:
  Traffic(const Case& c, std::size_t largest, const Device& device, Stream stream)
      : case_(c), stream_(stream), kernel_(kernels[static_cast<int>(c.operation)]) {
    source_ = reinterpret_cast<uint4*>(arrays_of(c.compressible, largest, device));
    target_ = source_ + largest / sizeof(uint4);
    blocks_ = ceilings::full_grid(kernel_, block_threads, device.sm_count);
    poison(source_);
    launch(pass_over<Operation::write>, nullptr, source_, 1);
    verify(source_);
  }

  Reading sample() {
    const bool writes = case_.operation != Operation::read;
    if (writes) poison(target_);
    const auto passes = [&](int count) { launch(kernel_, source_, target_, count); };
    Reading r = case_.inside ? time_of_round(stream_, taken_, 32, 160, passes)
                             : time_of_launch(stream_, taken_, [&] { passes(1); });
    if (writes) verify(target_);
    const int arrays = case_.operation == Operation::copy ? 2 : 1;
    r.value = arrays * static_cast<double>(case_.bytes) / *r.time_ns;
    return r;
  }

 private:
  void launch(PassKernel kernel, const uint4* in, uint4* out, int passes) {
    const auto chunks = static_cast<unsigned>(case_.bytes / chunk_bytes);
    kernel<<<blocks_, block_threads, 0, stream_>>>(
        in, out, chunks, static_cast<unsigned long long>(chunks) * static_cast<unsigned>(passes),
        case_.data.pattern, taken_.data(), sink_.data());
    AMASIA_CUDA(cudaGetLastError());
  }
  void poison(uint4* array) const {
    AMASIA_CUDA(cudaMemsetAsync(array, 0xA5, case_.bytes, stream_));  // no pattern holds it
  }
  void verify(const uint4* array) const {
    const auto wrong = counted(stream_, wrong_, [&](unsigned long long* count) {
      count_wrong<<<blocks_, block_threads, 0, stream_>>>(
          array, static_cast<unsigned>(case_.bytes / sizeof(uint4)), case_.data.pattern, count);
    });
    if (wrong != 0) throw std::runtime_error(std::to_string(wrong) + " of its words are wrong");
  }

  Case case_;
  Stream stream_;
  PassKernel kernel_;
  unsigned blocks_ = 0;
  uint4 *source_ = nullptr, *target_ = nullptr;
  DeviceArray<Stamp> taken_{1};
  DeviceArray<unsigned> sink_{1};
  DeviceArray<unsigned long long> wrong_{1};
};

void add(std::vector<Point>& points, const Case& c, std::size_t largest) {
  Point& p = add_point(points,
                       {{"memory", c.compressible ? "compressible" : "plain"},
                        {"level", c.inside ? "l2" : "memory"},
                        {"op", operation_names[static_cast<int>(c.operation)]},
                        {"data", c.data.name},
                        {"bytes", std::to_string(c.bytes)}},
                       "bandwidth", "GB/s", Better::larger);
  p.kernels = {
      kernel_use(kernels[static_cast<int>(c.operation)], block_threads, 0, 1, chunk_bytes)};
  const bool reads = c.operation != Operation::write, writes = c.operation != Operation::read;
  p.claims = {{"LDG", "ld.global", reads ? words_in_flight : 0},
              {"STG", "st.global", writes ? words_in_flight : 0}};
  if (c.bytes == 0) p.unsupported = "a 64th of the memory per array is not enough beyond the L2";
  p.prepare = [c, largest](const Device& d, Stream stream) -> Sampling {
    auto traffic = std::make_shared<Traffic>(c, largest, d, stream);
    return [traffic] { return traffic->sample(); };
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  const std::size_t beyond = bytes_beyond(device.l2_bytes, device.memory_bytes, chunk_bytes);
  const std::size_t inside = bytes_inside(device.l2_bytes, chunk_bytes);
  std::vector<Point> all;
  for (const bool compressible : {false, true}) {
    for (const bool in_l2 : {false, true}) {
      for (const Operation operation : {Operation::read, Operation::write, Operation::copy}) {
        for (const NamedPattern& data : patterns) {
          if (scope == Scope::quick && (!data.extreme || operation == Operation::copy)) continue;
          add(all, {compressible, in_l2, operation, data, in_l2 ? inside : beyond},
              std::max(inside, beyond));
        }
      }
    }
  }
  return all;
}

/// Compressible over plain memory, for each kind of data.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::map<std::string, double> plain;
  // Without the kind of memory, which is the first, and the bytes.
  const auto rest = [](const Coordinates& at) { return Coordinates{at.begin() + 1, at.end() - 1}; };
  for (const MeasuredPoint& p : measured) {
    if (value_of(p.at, "memory") == "plain") plain[to_string(rest(p.at))] = p.value;
  }
  std::vector<Finding> found;
  for (const MeasuredPoint& p : measured) {
    const auto beside = plain.find(to_string(rest(p.at)));
    if (value_of(p.at, "memory") == "plain" || beside == plain.end()) continue;
    found.push_back(
        single_finding(rest(p.at), "gain", "x", p.value / beside->second,
                       "Bandwidth of compressible memory over that of plain memory, same data"));
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"memory/compression", "What does compressible memory do to bandwidth, by what the data are?",
     "Memory of cuMemCreate, with generic compression and without, is read, written and copied in "
     "16-byte words by all SMs: arrays of 512 MiB, the second of two passes by events, and arrays "
     "of an eighth of the L2, slope in time over two numbers of passes. Zeros, one constant, "
     "integers below 256 and random words, written by the kernel itself and verified.",
     points, findings});

}  // namespace
}  // namespace amasia::memory
