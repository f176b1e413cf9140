// interconnect/peer: how fast GPUs of one host copy from each other, pair by pair (Hopper Tuning
// Guide, 4.3).
//
// Method: 256 MiB of random words are copied from each GPU to each other one, the second of two
// passes timed by events on the receiving GPU. The destination is poisoned first and compared with
// the source afterwards. There are three rows per ordered pair; with one GPU there is one row that
// says so.
//
// - op=staged: cudaMemcpyPeerAsync while neither has peer access to the other, so that the driver
// goes through the host: what a program gets that forgets cudaDeviceEnablePeerAccess.
// - op=copy: the same with peer access. Either's to the other would do, and it outlives the point
// that enabled it, so each op sets both ways itself.
// - op=load: loads of the receiving GPU from the other one's memory.
//
// op=both: op=copy of both directions of a pair at once, a row per pair: the bytes of both over the
// time until both have arrived.

#include "microbench/walks.cuh"

namespace amasia {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr unsigned block_threads = 512;
constexpr unsigned load_blocks = 1024;

__device__ unsigned random_word(std::size_t i) {
  auto x = static_cast<unsigned>(i) * 0x9E3779B1U;
  x = (x ^ (x >> 15)) * 0x7FEB352DU;
  return x ^ (x >> 16);
}

__global__ void fill_random(unsigned* data, std::size_t words) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < words; i += step) {
    data[i] = random_word(i);
  }
}

__global__ void count_wrong(const unsigned* data, std::size_t words, unsigned* wrong) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  unsigned mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < words; i += step) {
    mine += data[i] != random_word(i);
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

__global__ void __launch_bounds__(block_threads)
    load_words(const uint4* from, uint4* to, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * block_threads;
#pragma unroll 1
  for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < count;
       i += step) {
    to[i] = from[i];
  }
}

/// Makes a device current for a while.
class OnDevice {
 public:
  explicit OnDevice(int index) {
    AMASIA_CUDA(cudaGetDevice(&before_));
    AMASIA_CUDA(cudaSetDevice(index));
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

enum class Op { staged, copy, load, both };

/// Memory and a stream on one GPU each; what is made is freed with its own GPU current or not.
struct Transfer {
  int from, to;
  std::size_t bytes;
  Op op;
  DeviceBytes source{}, target{};
  std::unique_ptr<OwnedStream> stream{};
  std::unique_ptr<OwnedEvent> start{}, stop{};
  DeviceArray<unsigned> wrong{};
};

/// Peer access of `of` to `to`, on or off.
void set_peer_access(int of, int to, bool on) {
  int can = 0;
  AMASIA_CUDA(cudaDeviceCanAccessPeer(&can, of, to));
  if (can == 0) {
    if (on) throw Unavailable("the two have no peer access: see op=staged");
    return;
  }
  const OnDevice current(of);
  const cudaError_t code = on ? cudaDeviceEnablePeerAccess(to, 0) : cudaDeviceDisablePeerAccess(to);
  if (code == cudaErrorPeerAccessAlreadyEnabled || code == cudaErrorPeerAccessNotEnabled) {
    cudaGetLastError();
  } else {
    AMASIA_CUDA(code);
  }
}

/// Fills the source, and makes what the receiver needs.
std::shared_ptr<Transfer> prepared(int from, int to, Op op, std::size_t bytes) {
  auto t = std::make_shared<Transfer>(Transfer{from, to, bytes, op});
  {
    const OnDevice on(from);
    t->source = DeviceBytes(bytes);
    fill_random<<<load_blocks, block_threads>>>(static_cast<unsigned*>(t->source.data()),
                                                bytes / sizeof(unsigned));
    finish(nullptr);
  }
  const OnDevice on(to);
  t->target = DeviceBytes(bytes);
  t->wrong = DeviceArray<unsigned>(1);
  t->stream = std::make_unique<OwnedStream>();
  t->start = std::make_unique<OwnedEvent>();
  t->stop = std::make_unique<OwnedEvent>();
  return t;
}

void move(const Transfer& t) {
  const OnDevice receiver(t.to);
  if (t.op == Op::load) {
    load_words<<<load_blocks, block_threads, 0, *t.stream>>>(
        static_cast<const uint4*>(t.source.data()), static_cast<uint4*>(t.target.data()),
        t.bytes / sizeof(uint4));
    AMASIA_CUDA(cudaGetLastError());
  } else {
    AMASIA_CUDA(
        cudaMemcpyPeerAsync(t.target.data(), t.to, t.source.data(), t.from, t.bytes, *t.stream));
  }
}

void poison(const Transfer& t) {
  const OnDevice receiver(t.to);
  t.target.poison(*t.stream);
}

/// Throws when what arrived is not the source.
void check(const Transfer& t) {
  const OnDevice receiver(t.to);
  const unsigned wrong = counted(*t.stream, t.wrong, [&](unsigned* count) {
    count_wrong<<<load_blocks, block_threads, 0, *t.stream>>>(
        static_cast<const unsigned*>(t.target.data()), t.bytes / sizeof(unsigned), count);
  });
  if (wrong != 0) throw std::runtime_error(std::to_string(wrong) + " words arrived wrong");
}

Sampling transfer(int from, int to, Op op, std::size_t bytes) {
  set_peer_access(to, from, op != Op::staged);
  set_peer_access(from, to, op != Op::staged);
  std::vector<std::shared_ptr<Transfer>> all{prepared(from, to, op, bytes)};
  if (op == Op::both) all.push_back(prepared(to, from, op, bytes));
  return [all] {
    const Transfer& first = *all.front();
    const OnDevice receiver(first.to);
    for (const auto& t : all) {
      move(*t);
      poison(*t);
    }
    // The first stream's events are around all: it starts when the others are ready, they start
    // with it, and it ends when they have ended.
    for (std::size_t i = 1; i < all.size(); ++i) {
      const Transfer& other = *all[i];
      const OnDevice on(other.to);
      AMASIA_CUDA(cudaEventRecord(*other.start, *other.stream));
      AMASIA_CUDA(cudaStreamWaitEvent(*first.stream, *other.start, 0));
    }
    AMASIA_CUDA(cudaEventRecord(*first.start, *first.stream));
    move(first);
    for (std::size_t i = 1; i < all.size(); ++i) {
      const Transfer& other = *all[i];
      const OnDevice on(other.to);
      AMASIA_CUDA(cudaStreamWaitEvent(*other.stream, *first.start, 0));
      move(other);
      AMASIA_CUDA(cudaEventRecord(*other.stop, *other.stream));
      AMASIA_CUDA(cudaStreamWaitEvent(*first.stream, *other.stop, 0));
    }
    AMASIA_CUDA(cudaEventRecord(*first.stop, *first.stream));
    for (const auto& t : all) check(*t);
    float ms = 0;
    AMASIA_CUDA(cudaEventElapsedTime(&ms, *first.start, *first.stop));
    return of_time(1e6 * ms, static_cast<double>(first.bytes * all.size()) / (1e6 * ms));
  };
}

Point& add(std::vector<Point>& points, const std::string& from, const std::string& to,
           const char* op) {
  return add_point(points, {{"from", from}, {"to", to}, {"op", op}}, "bandwidth", "GB/s",
                   Better::larger);
}

constexpr std::pair<Op, const char*> ops[] = {
    {Op::staged, "staged"}, {Op::copy, "copy"}, {Op::load, "load"}, {Op::both, "both"}};

/// How many GPUs there are is asked of the driver: it is no property of the one that is measured.
std::vector<Point> points(const Device& device, Scope scope) {
  std::string reason;
  const int gpus = device_count(reason);
  std::vector<Point> all;
  if (gpus < 2) {
    add(all, "-", "-", "copy").unsupported =
        gpus == 1 ? "there is one GPU, a pair needs two" : "no GPU: " + reason;
  }
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from == to || (scope == Scope::quick && from + to > 1)) continue;
      for (const auto& [op, name] : ops) {
        if (op == Op::both && from > to) continue;
        Point& p = add(all, std::to_string(from), std::to_string(to), name);
        const bool load = op == Op::load;
        // What checks a copy by the driver's own engine reads every word once.
        p.kernels = {load ? kernel_use(load_words, block_threads)
                          : kernel_use(count_wrong, block_threads)};
        p.claims = {{"LDG", "ld.global", 1}, {"STG", "st.global", load ? 1 : 0}};
        const std::size_t bytes = std::min(most_bytes, device.memory_bytes / 16);
        p.prepare = [from, to, op = op, bytes](const Device&, Stream) {
          return transfer(from, to, op, bytes);
        };
      }
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"interconnect/peer", "How fast do the GPUs of one host copy from each other?",
     "256 MiB of random words from each GPU to each other one, by cudaMemcpyPeerAsync without peer "
     "access (staged, through the host) and with it (copy), and by loads of the receiver, timed on "
     "the receiver, the second of two passes, into a poisoned destination and compared; three rows "
     "per ordered pair, and one per pair of copies both ways at once (both), or one that says that "
     "there is one GPU.",
     points});

}  // namespace
}  // namespace amasia
