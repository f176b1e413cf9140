// One thread per block keeps up to `in_flight` bulk copies in flight in a ring of slots of its
// block's shared memory. in_flight = 1 is a latency: the next copy is issued when the last is done.
#pragma once

#include "microbench/tma/course.cuh"

namespace amasia::tma {

/// CHECKED: what arrives is also written to work.copied. Not timed.
template <int RANK, bool CHECKED>
__global__ void __launch_bounds__(warp)
    load_ring(Work work, const __grid_constant__ CUtensorMap map) {
  __shared__ Barrier full[most_in_flight];
  __shared__ long long held[CHECKED ? most_in_flight : 1];  // which box
  if (threadIdx.x != 0) return;
  for (int s = 0; s < work.in_flight; ++s) init(full + s, 1);
  fence_init();
  const unsigned bytes = work.boxes.bytes;
  const int in_flight = work.in_flight;
  const unsigned first_slot = async::held_address(slots());
  const unsigned barriers = async::held_address(full);
  Course course(work);
  RingAt issue, done;
  const auto finish_oldest = [&] {
    wait_at(done.barrier(barriers), done.parity);
    if constexpr (CHECKED) {
      keep(work, held[done.slot], done.slot);
      fence_async_proxy();
    }
    done.advance(in_flight, bytes);
  };
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    timed(work, w, [&](int copies) {
#pragma unroll 1
      for (int i = 0; i < copies; ++i) {
        if (i >= in_flight) finish_oldest();
        expect_at(issue.barrier(barriers), bytes);
        load_box<RANK>(first_slot + issue.offset, &map, course.box, bytes, issue.barrier(barriers));
        if constexpr (CHECKED) held[issue.slot] = course.index(work);
        issue.advance(in_flight, bytes);
        course.advance();
      }
#pragma unroll 1
      for (int i = min(copies, in_flight); i > 0; --i) finish_oldest();
    });
  }
}

/// Word k of slot s; also what the check expects.
__host__ __device__ inline unsigned slot_word(int block, int slot, unsigned k) {
  unsigned h =
      (static_cast<unsigned>(block) * 4096U + static_cast<unsigned>(slot)) * 0x9E3779B9U + k;
  h = (h ^ (h >> 16)) * 0x85EBCA6BU;
  return h ^ (h >> 13);
}

/// The slots are written once; each copy takes the next. READ: wait until the slot has been read
/// and could be written again, not until the copy is done.
template <Out OUT, int RANK, int IN_FLIGHT, bool READ>
__global__ void __launch_bounds__(warp)
    put_ring(Work work, const __grid_constant__ CUtensorMap map) {
  auto* const words = reinterpret_cast<unsigned*>(slots());
  const unsigned slot_words = work.boxes.bytes / 4;
  for (unsigned k = threadIdx.x; k < slot_words * IN_FLIGHT; k += warp) {
    words[k] = slot_word(0, static_cast<int>(k / slot_words), k % slot_words);
  }
  fence_async_proxy();
  __syncwarp();
  if (threadIdx.x != 0) return;
  const unsigned bytes = work.boxes.bytes;
  const unsigned first_slot = async::held_address(slots());
  Course course(work);
  RingAt at;
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    timed(work, w, [&](int copies) {
#pragma unroll 1
      for (int i = 0; i < copies; ++i) {
        put_box<OUT, RANK>(&map, course.box, bytes, first_slot + at.offset);
        commit_stores();
        if constexpr (READ) {
          wait_stores_read<IN_FLIGHT - 1>();
        } else {
          wait_stores<IN_FLIGHT - 1>();
        }
        at.advance(IN_FLIGHT, bytes);
        course.advance();
      }
      if constexpr (READ) {
        wait_stores_read<0>();
      } else {
        wait_stores<0>();
      }
    });
  }
  wait_stores<0>();
}

enum class Between { multicast, peer };

/// Clusters of two. multicast: each block loads every second box, into both. peer: each block sends
/// its slots to the other. A slot is used again when both blocks (with peer: the other one) have
/// signalled its sender that they are done with it. Half of the in_flight slots, at least one, have
/// a copy in flight while the others are being handed back.
template <Between BETWEEN, int RANK, bool CHECKED>
__global__ void __launch_bounds__(warp)
    exchange_ring(Work work, const __grid_constant__ CUtensorMap map) {
  __shared__ Barrier full[most_in_flight];
  __shared__ Barrier empty[most_in_flight];
  const unsigned rank = dsm::rank();
  const unsigned bytes = work.boxes.bytes;
  const int in_flight = work.in_flight;
  // multicast: a slot has two boxes, one from each block. peer: what arrives, then what is sent.
  const unsigned slot_bytes = 2 * bytes;
  if constexpr (BETWEEN == Between::peer) {
    for (int s = 0; s < in_flight; ++s) {
      auto* const words = reinterpret_cast<unsigned*>(slots() + s * slot_bytes + bytes);
      for (unsigned k = threadIdx.x; k < bytes / 4; k += warp) {
        words[k] = slot_word(static_cast<int>(rank), s, k);
      }
    }
    fence_async_proxy();
  }
  if (threadIdx.x == 0) {
    for (int s = 0; s < in_flight; ++s) {
      init(full + s, 1);
      init(empty + s, BETWEEN == Between::multicast ? 2 : 1);
    }
    fence_init();
  }
  dsm::cluster_sync();
  if (threadIdx.x == 0) {
    const unsigned own_slots = async::held_address(slots());
    const unsigned own_full = async::held_address(full);
    const unsigned own_empty = async::held_address(empty);
    const unsigned peer_slots = dsm::remote_address(slots(), rank ^ 1U);
    const unsigned peer_full = dsm::remote_address(full, rank ^ 1U);
    const unsigned empty_0 = dsm::remote_address(empty, 0);
    const unsigned empty_1 = dsm::remote_address(empty, 1);
    const unsigned peer_empty = rank == 0 ? empty_1 : empty_0;
    const int ahead = max(1, in_flight / 2);
    Course course(work);
    RingAt issue, done;
    long long issued = 0;  // of all walks
    const auto finish_oldest = [&] {
      wait_at(done.barrier(own_full), done.parity);
      if constexpr (CHECKED) {  // (block, slot, half)
        for (int half = 0; half < (BETWEEN == Between::multicast ? 2 : 1); ++half) {
          keep(work, (static_cast<long long>(blockIdx.x) * in_flight + done.slot) * 2 + half,
               done.slot * 2 + half);
        }
        fence_async_proxy();
      }
      if constexpr (BETWEEN == Between::multicast) {
        dsm::arrive_remote(done.barrier(empty_0));
        dsm::arrive_remote(done.barrier(empty_1));
      } else {
        dsm::arrive_remote(done.barrier(peer_empty));
      }
      done.advance(in_flight, slot_bytes);
    };
#pragma unroll 1
    for (int w = 0; w < max_walks; ++w) {
      timed(work, w, [&](int copies) {
#pragma unroll 1
        for (int i = 0; i < copies; ++i) {
          if (issued >= in_flight) {  // the slot's use before this one has been handed back
            dsm::wait_cluster_at(issue.barrier(own_empty), issue.parity ^ 1U);
          }
          if constexpr (BETWEEN == Between::multicast) {
            expect_at(issue.barrier(own_full), 2 * bytes);
            load_multicast<RANK>(own_slots + issue.offset + rank * bytes, &map, course.box, bytes,
                                 issue.barrier(own_full), 3);
          } else {
            expect_at(issue.barrier(own_full), bytes);
            send(peer_slots + issue.offset, own_slots + issue.offset + bytes, bytes,
                 issue.barrier(peer_full));
          }
          ++issued;
          issue.advance(in_flight, slot_bytes);
          course.advance();
          if (i + 1 >= ahead) finish_oldest();
        }
#pragma unroll 1
        for (int i = min(copies, ahead - 1); i > 0; --i) finish_oldest();
      });
    }
  }
  dsm::cluster_sync();  // nobody's shared memory goes while a peer may still write to it
}

}  // namespace amasia::tma
