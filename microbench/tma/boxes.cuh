// The bulk copies that this folder measures, by rank of the tensor: 0 is a flat run of bytes, 1 to
// 5 a box of a tensor map (PTX ISA: "cp.async.bulk", "cp.async.bulk.tensor",
// "cp.reduce.async.bulk"; sm_90).
//
// The boxes of an array lie one behind the other in memory, whatever their rank: the inner
// dimensions of the tensor are those of the box, and a box is chosen by its last coordinate. So a
// difference between ranks is that of the rank, not of the lines that a box touches.
#pragma once

#include "microbench/walks.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::tma {

constexpr int row_bytes = 128;          // of a box of two and more dimensions: one line
constexpr int most_in_dimension = 256;  // elements of a box (cuTensorMapEncodeTiled)

/// Rows of 32 integers, then twos, then what is left: {32, 2, 2, n} for rank 4. Rank 1: {n}.
inline std::array<unsigned, 5> box_extents(int rank, unsigned bytes) {
  std::array<unsigned, 5> extents{1, 1, 1, 1, 1};
  unsigned left = bytes / sizeof(int);
  for (int d = 0; d + 1 < rank; ++d) {
    extents[d] = d == 0 ? row_bytes / sizeof(int) : 2;
    left /= extents[d];
  }
  extents[rank - 1] = left;
  return extents;
}

/// A box of this rank can have so many bytes.
inline bool box_possible(int rank, unsigned bytes) {
  if (rank == 0) return bytes % 16 == 0;
  unsigned elements = 1;
  for (const unsigned e : box_extents(rank, bytes)) {
    if (e == 0 || e > most_in_dimension) return false;
    elements *= e;
  }
  return elements * sizeof(int) == bytes;
}

/// The map of an array of `boxes` boxes. Rank 0 has none: an empty one.
inline CUtensorMap map_of_boxes(void* data, int rank, unsigned bytes, std::size_t boxes) {
  if (rank == 0) return {};
  const std::array<unsigned, 5> box = box_extents(rank, bytes);
  BoxesOfTensor tensor{CU_TENSOR_MAP_DATA_TYPE_INT32, data, static_cast<unsigned>(rank)};
  cuuint64_t stride = sizeof(int);
  for (int d = 0; d < rank; ++d) {
    tensor.box[d] = box[d];
    tensor.extents[d] = d + 1 == rank ? box[d] * boxes : box[d];
    if (d > 0) tensor.strides[d - 1] = stride;
    stride *= tensor.extents[d];
  }
  return tensor_map(
      tensor, "a box of rank " + std::to_string(rank) + " and " + std::to_string(bytes) + " bytes");
}

/// The boxes of one array as a kernel sees them.
struct Boxes {
  std::byte* data;
  unsigned bytes;  // of a box
  int step;        // of the last coordinate from box to box
  long long count;
};

/// One box: as a flat run, and as the last coordinate of a tensor. In registers, moved by
/// additions: a thread that does nothing but issue copies lives on the latency of its address
/// arithmetic.
struct Box {
  std::byte* data;
  int coordinate;
};

// The operands of every tensor copy: shared address %0, map %1, last coordinate %2, the others %3
// (zero), barrier %4. Macros, because an asm statement needs literals.
#define AMASIA_COORDINATES_1 "{%2}"
#define AMASIA_COORDINATES_2 "{%3, %2}"
#define AMASIA_COORDINATES_3 "{%3, %3, %2}"
#define AMASIA_COORDINATES_4 "{%3, %3, %3, %2}"
#define AMASIA_COORDINATES_5 "{%3, %3, %3, %3, %2}"
#define AMASIA_TENSOR_LOAD(d)                                                    \
  AMASIA_SM90_ASM("cp.async.bulk.tensor." #d                                     \
                  "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], " \
                  "[%1, " AMASIA_COORDINATES_##d "], [%4];\n" ::"r"(shared),     \
                  "l"(map), "r"(box.coordinate), "r"(0), "r"(barrier)            \
                  : "memory")
#define AMASIA_TENSOR_STORE(d)                                                   \
  AMASIA_SM90_ASM("cp.async.bulk.tensor." #d                                     \
                  "d.global.shared::cta.bulk_group [%1, " AMASIA_COORDINATES_##d \
                  "], [%0];\n" ::"r"(shared),                                    \
                  "l"(map), "r"(box.coordinate), "r"(0)                          \
                  : "memory")
#define AMASIA_TENSOR_ADD(d)                                                              \
  AMASIA_SM90_ASM("cp.reduce.async.bulk.tensor." #d                                       \
                  "d.global.shared::cta.add.tile.bulk_group [%1, " AMASIA_COORDINATES_##d \
                  "], [%0];\n" ::"r"(shared),                                             \
                  "l"(map), "r"(box.coordinate), "r"(0)                                   \
                  : "memory")
#define AMASIA_FLAT_REDUCE(operation)                                             \
  AMASIA_SM90_ASM("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation \
                  " [%0], [%1], %2;\n" ::"l"(__cvta_generic_to_global(box.data)), \
                  "r"(shared), "r"(bytes)                                         \
                  : "memory")

#define AMASIA_BY_RANK(COPY)        \
  if constexpr (RANK == 1) COPY(1); \
  if constexpr (RANK == 2) COPY(2); \
  if constexpr (RANK == 3) COPY(3); \
  if constexpr (RANK == 4) COPY(4); \
  if constexpr (RANK == 5) COPY(5);

/// `shared` and `barrier` are 32-bit shared addresses.
template <int RANK>
__device__ void load_box(unsigned shared, const CUtensorMap* map, const Box& box, unsigned bytes,
                         unsigned barrier) {
  if constexpr (RANK == 0) {
    AMASIA_SM90_ASM(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];\n" ::"r"(shared),
        "l"(__cvta_generic_to_global(box.data)), "r"(bytes), "r"(barrier)
        : "memory");
  }
  AMASIA_BY_RANK(AMASIA_TENSOR_LOAD)
}

/// What a copy out of shared memory does to the place it goes to.
enum class Out { store, add, min, max, bit_and, bit_or };
constexpr const char* name_of(Out out) {
  constexpr std::array names{"store", "add", "min", "max", "and", "or"};
  return names[static_cast<std::size_t>(out)];
}

/// Tensors: store and add.
template <Out OUT, int RANK>
__device__ void put_box(const CUtensorMap* map, const Box& box, unsigned bytes, unsigned shared) {
  static_assert(RANK == 0 || OUT == Out::store || OUT == Out::add);
  if constexpr (RANK == 0) {
    if constexpr (OUT == Out::store) {
      AMASIA_SM90_ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n" ::"l"(
                          __cvta_generic_to_global(box.data)),
                      "r"(shared), "r"(bytes)
                      : "memory");
    }
    if constexpr (OUT == Out::add) AMASIA_FLAT_REDUCE("add.u32");
    if constexpr (OUT == Out::min) AMASIA_FLAT_REDUCE("min.u32");
    if constexpr (OUT == Out::max) AMASIA_FLAT_REDUCE("max.u32");
    if constexpr (OUT == Out::bit_and) AMASIA_FLAT_REDUCE("and.b32");
    if constexpr (OUT == Out::bit_or) AMASIA_FLAT_REDUCE("or.b32");
  } else if constexpr (OUT == Out::store) {
    AMASIA_BY_RANK(AMASIA_TENSOR_STORE)
  } else {
    AMASIA_BY_RANK(AMASIA_TENSOR_ADD)
  }
}

/// Into the same place of every block of the cluster; each block's own barrier counts it. Flat or
/// 2-D.
template <int RANK>
__device__ void load_multicast(unsigned shared, const CUtensorMap* map, const Box& box,
                               unsigned bytes, unsigned barrier, std::uint16_t blocks) {
  static_assert(RANK == 0 || RANK == 2);
  if constexpr (RANK == 0) {
    AMASIA_SM90_ASM(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;\n" ::"r"(shared),
        "l"(__cvta_generic_to_global(box.data)), "r"(bytes), "r"(barrier), "h"(blocks)
        : "memory");
  } else {
    AMASIA_SM90_ASM(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;\n" ::"r"(shared),
        "l"(map), "r"(0), "r"(box.coordinate), "r"(barrier), "h"(blocks)
        : "memory");
  }
}

/// A run of this block's shared memory to a peer's: `remote` and `remote_barrier` are addresses of
/// the cluster (dsm::remote_address).
__device__ inline void send(unsigned remote, unsigned shared, unsigned bytes,
                            unsigned remote_barrier) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
      "[%0], [%1], %2, [%3];\n" ::"r"(remote),
      "r"(shared), "r"(bytes), "r"(remote_barrier)
      : "memory");
}

}  // namespace amasia::tma
