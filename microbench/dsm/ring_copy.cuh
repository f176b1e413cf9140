// The kernel of dsm/ring_copy: every block of a cluster serves its neighbour.
#pragma once

#include "microbench/dsm/cluster.cuh"

namespace amasia::dsm {

constexpr int most_threads = 1024;
constexpr unsigned buffer_words = 16384;  // 64 KiB to read, 64 KiB to write: one block per SM
constexpr unsigned slack_words = 32;      // beyond it, for accesses that begin at an offset
constexpr std::size_t dynamic_bytes = std::size_t{2} * 4 * (buffer_words + slack_words);
constexpr unsigned poison = 0xFFFFFFFF;

enum class Op { add, copy, push };
constexpr const char* name_of(Op op) {
  return op == Op::add ? "add" : op == Op::copy ? "copy" : "push";
}

template <int WORDS>
__device__ void read(unsigned (&v)[WORDS], unsigned remote) {
  if constexpr (WORDS == 1) {
    AMASIA_SM90_ASM("ld.shared::cluster.u32 %0, [%1];" : "=r"(v[0]) : "r"(remote) : "memory");
  } else if constexpr (WORDS == 2) {
    AMASIA_SM90_ASM("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
                    : "=r"(v[0]), "=r"(v[1])
                    : "r"(remote)
                    : "memory");
  } else {
    AMASIA_SM90_ASM("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                    : "r"(remote)
                    : "memory");
  }
}
template <int WORDS>
__device__ void write(unsigned remote, const unsigned (&v)[WORDS]) {
  if constexpr (WORDS == 1) {
    AMASIA_SM90_ASM("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(v[0]) : "memory");
  } else if constexpr (WORDS == 2) {
    AMASIA_SM90_ASM("st.shared::cluster.v2.u32 [%0], {%1, %2};" ::"r"(remote), "r"(v[0]), "r"(v[1])
                    : "memory");
  } else {
    AMASIA_SM90_ASM("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(remote), "r"(v[0]),
                    "r"(v[1]), "r"(v[2]), "r"(v[3])
                    : "memory");
  }
}

/// Into the reader's own memory, as wide as it came.
template <int WORDS>
__device__ void keep(unsigned* target, const unsigned (&v)[WORDS]) {
  if constexpr (WORDS == 4) {
    *reinterpret_cast<uint4*>(target) = make_uint4(v[0], v[1], v[2], v[3]);
  } else {
    *target = v[0];
  }
}

struct Ring {
  int rounds;
  unsigned stride;   // accesses from one thread's to the next's; 1 in the dense kernel
  unsigned offset;   // words
  unsigned step;     // 0, which the compiler does not know: no access can leave the loop
  unsigned missing;  // words too few that the check is shown, 0 or 1
};

/// A warp's ILP x 32 accesses are contiguous; they wrap around a buffer that is too short for all
/// warps. DENSE: stride 1, so that the accesses of a thread differ by constants and share an
/// address register. That, and bounds that say one block per SM, make ptxas issue all of them
/// before it waits: otherwise it saves registers and has four in flight instead of eight.
template <Op OP, int WORDS, int ILP, bool DENSE>
__global__ void __launch_bounds__(most_threads, 1) ring(Ring run, Stamp* taken, unsigned* wrong) {
  extern __shared__ __align__(128) unsigned source[];
  unsigned* const target = source + buffer_words + slack_words;
  const unsigned me = rank(), blocks = size();
  const unsigned owner = blockIdx.x - me;  // of the cluster: its words are its own
  const unsigned before = (me + blocks - 1) % blocks, after = (me + 1) % blocks;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < buffer_words + slack_words; i += blockDim.x) {
    source[i] = random_word(i, owner + me);
    target[i] = poison;
  }

  const unsigned stride = DENSE ? 1 : run.stride;
  const unsigned pitch = 32 * WORDS * stride;  // words from one access of a thread to its next
  const unsigned first = (threadIdx.x / 32 * ILP * pitch & (buffer_words - 1)) +
                         threadIdx.x % 32 * WORDS * stride + run.offset;
  unsigned remote =
      remote_address(OP == Op::push ? target : source, OP == Op::push ? after : before) + 4 * first;
  unsigned v[ILP][WORDS], sum[WORDS] = {};
  if constexpr (OP == Op::push) {
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
#pragma unroll
      for (int w = 0; w < WORDS; ++w) v[k][w] = random_word(first + k * pitch + w, owner + me);
    }
  }

  cluster_sync();
  const Stopwatch watch;
#pragma unroll 1
  for (int r = 0; r < run.rounds; ++r) {
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      if constexpr (OP == Op::push) {
        write<WORDS>(remote + 4 * k * pitch, v[k]);
      } else {
        read<WORDS>(v[k], remote + 4 * k * pitch);
      }
    }
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      if constexpr (OP == Op::copy) keep<WORDS>(target + first + k * pitch, v[k]);
#pragma unroll
      for (int w = 0; w < WORDS; ++w) {
        if constexpr (OP == Op::add) sum[w] += v[k][w];
      }
    }
    remote += run.step;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(*taken);
  cluster_sync();  // what was pushed has arrived, and nobody's memory goes while it is read

  unsigned mistakes = 0;
#pragma unroll
  for (int w = 0; w < WORDS; ++w) {
    unsigned expected = 0;
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      const unsigned at = first + k * pitch + w;
      const unsigned word = random_word(at, owner + before);
      expected += word;
      if constexpr (OP != Op::add) mistakes += target[at] != word + run.missing;
    }
    if constexpr (OP == Op::add) {
      mistakes += sum[w] != expected * static_cast<unsigned>(run.rounds) + run.missing;
    }
  }
  if (mistakes != 0) atomicAdd(wrong, mistakes);
}

}  // namespace amasia::dsm
