// dsm/atomics: how many additions per clock a block can send to shared memory, its own or another
// SM's, with and without return of the old value, by access pattern (Hopper Tuning Guide, 4.1.3).
//
// Method: clusters fill the device, one block of 1024 threads per SM. Each adds to 16,384 words of
// the block before it in the ring. Cluster size 1 adds to its own words: by ATOMS with window=cta,
// by the cluster's window with window=cluster. `form=red` returns nothing; `form=atom` returns the
// old value, with eight in flight per thread.
// `pattern=own`: every thread its own words, a warp's next to each other.
// `pattern=warp`: one word per warp.
// `pattern=random`: random words, as the bins of a histogram.
// Adding a constant to one word is cheap only in a block's own window: there ptxas takes
// ATOMS.POPC.INC, which counts the threads of a warp. The value is additions over the slope in time
// between two numbers of rounds. The sum of all words is checked in every launch.

#include "microbench/dsm/cluster.cuh"

namespace amasia::dsm {
namespace {

constexpr int threads = 1024;
constexpr int ilp = 8;
constexpr unsigned words = 16384;
constexpr std::size_t dynamic_bytes = 2 * sizeof(unsigned) * words;  // one block per SM

enum class Form { red, atom };
enum class Window { cta, cluster };
enum class Pattern { own, warp, random };
constexpr const char* name_of(Pattern p) {
  return p == Pattern::own ? "own" : p == Pattern::warp ? "warp" : "random";
}

template <Form FORM, Window WINDOW>
__device__ void add(unsigned& old, unsigned address) {
  if constexpr (WINDOW == Window::cta && FORM == Form::atom) {
    asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(old) : "r"(address) : "memory");
  } else if constexpr (WINDOW == Window::cta) {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
  } else if constexpr (FORM == Form::atom) {
    AMASIA_SM90_ASM("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], 1;"
                    : "=r"(old)
                    : "r"(address)
                    : "memory");
  } else {
    AMASIA_SM90_ASM("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(address)
                    : "memory");
  }
}

/// `step` is 0, which the compiler does not know; `missing`: additions too few that the check is
/// shown.
template <Form FORM, Window WINDOW>
__global__ void __launch_bounds__(threads, 1)
    add_remotely(Pattern pattern, int rounds, unsigned step, unsigned missing, Stamp* taken,
                 unsigned* wrong) {
  extern __shared__ unsigned counts[];
  __shared__ unsigned total;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < words; i += threads) counts[i] = 0;
  if (threadIdx.x == 0) total = 0;
  const unsigned blocks = size(), before = (rank() + blocks - 1) % blocks;
  const unsigned base =
      WINDOW == Window::cta ? shared_address(counts) : remote_address(counts, before);
  unsigned address[ilp], old[ilp] = {}, folded = 0;
#pragma unroll
  for (int k = 0; k < ilp; ++k) {
    const unsigned index = threadIdx.x + k * threads;
    address[k] = base + 4 * (pattern == Pattern::own    ? index
                             : pattern == Pattern::warp ? index / 32
                                                        : random_word(index, blockIdx.x) % words);
  }
  cluster_sync();
  const Stopwatch watch;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < ilp; ++k) add<FORM, WINDOW>(old[k], address[k]);
#pragma unroll
    for (int k = 0; k < ilp; ++k) {
      if constexpr (FORM == Form::atom) folded += old[k];
      address[k] += step;
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(*taken);
  cluster_sync();
  unsigned mine = 0;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < words; i += threads) mine += counts[i];
  atomicAdd(&total, mine);
  __syncthreads();
  const unsigned expected = static_cast<unsigned>(rounds) * ilp * threads + missing;
  if (threadIdx.x == 0 && total != expected) atomicAdd(wrong, 1U);
  if (folded == 12345 && missing == 2) *wrong = folded;  // never: what came back must be used
}

using AddKernel = void (*)(Pattern, int, unsigned, unsigned, Stamp*, unsigned*);
struct Case {
  Form form;
  Window window;
  Pattern pattern;
  int cluster;
};
AddKernel kernel_of(const Case& c) {
  if (c.window == Window::cta) {
    return c.form == Form::red ? add_remotely<Form::red, Window::cta>
                               : add_remotely<Form::atom, Window::cta>;
  }
  return c.form == Form::red ? add_remotely<Form::red, Window::cluster>
                             : add_remotely<Form::atom, Window::cluster>;
}

Sampling add_up(const Case& c, const Device& device, Stream stream) {
  const AddKernel kernel = kernel_of(c);
  const LaunchShape shape = fill_device(kernel, c.cluster, threads, dynamic_bytes, device);
  auto taken = std::make_shared<DeviceArray<Stamp>>(1);
  auto mistakes = std::make_shared<Mistakes>(stream);
  const auto enqueue = [=](int rounds, unsigned missing = 0) {
    launch(kernel, shape, stream, c.pattern, rounds, 0U, missing, taken->data(), mistakes->data());
  };
  enqueue(3, 1);
  mistakes->expect_some("the check takes a wrong sum for a right one");
  return [=] {
    constexpr int few = 16, many = 128;
    Reading r = time_of_round(stream, *taken, few, many, enqueue);
    mistakes->expect_none("blocks found additions missing");
    r.value = ilp * threads / *r.cycles;
    return r;
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  for (const Form form : {Form::red, Form::atom}) {
    for (const Pattern pattern : {Pattern::own, Pattern::warp, Pattern::random}) {
      const auto add = [&](Window window, int cluster) {
        const Case c{form, window, pattern, cluster};
        const bool cta = window == Window::cta, red = form == Form::red;
        Point& p =
            add_cluster_point(all,
                              {{"form", red ? "red" : "atom"},
                               {"pattern", name_of(pattern)},
                               {"window", cta ? "cta" : "cluster"},
                               {"cluster", std::to_string(cluster)}},
                              "rate", "additions/clk/SM", Better::larger,
                              kernel_use(kernel_of(c), threads, dynamic_bytes, cluster), device);
        p.claims = {{cta ? "ATOMS" : "ATOM",
                     std::string(red ? "red" : "atom") + (cta ? ".shared" : ".shared::cluster"),
                     ilp}};
        p.prepare = [c](const Device& d, Stream stream) { return add_up(c, d, stream); };
      };
      add(Window::cta, 1);
      for (const int cluster : cluster_sizes) {
        if (scope == Scope::full || cluster == 2) add(Window::cluster, cluster);
      }
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"dsm/atomics", "How many additions per clock reach shared memory, own or another SM's?",
     "Clusters fill the device, one block of 1024 threads per SM, each adding to words of the one "
     "before it in the ring, with and without the old value, to words next to each other, one per "
     "warp, or at random; additions over the slope in time between two numbers of rounds. The sum "
     "is checked.",
     points});

}  // namespace
}  // namespace amasia::dsm
