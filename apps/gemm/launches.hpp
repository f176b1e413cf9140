// What the host does for the kernels that walk tiles of C: names, grids, pieces, objections.
// Kernels are described by values, so that it is compiled once for all of them and not once for
// each.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "apps/gemm/gemm.hpp"
#include "apps/gemm/walk.hpp"
#include "harness/variant.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/tensor_map.hpp"

namespace amasia::gemm {

/// What a kernel gets besides the problem: nothing, or tensor maps.
struct NoMaps {};
struct Maps {
  CUtensorMap a, b;
};

/// The buffers for pieces of sums and for parts of operands that launches of an instance have, so
/// that it can poison them: a launch that reads them before they are there would find those of the
/// launch before.
class Pieces {
 public:
  std::shared_ptr<const DeviceArray<float>> make(std::size_t elements);
  /// The one buffer for the parts of both operands (mode tf32x3): each launch fills it anew, and an
  /// operand of 8192 squared has half a gigabyte of them.
  const DeviceArray<float>& parts(std::size_t elements);
  void poison(Stream stream) const;

 private:
  DeviceArray<float> parts_;
  std::vector<std::weak_ptr<const DeviceArray<float>>> made_;
};

/// A kernel (maps, problem, walk, pieces, stages) whose blocks walk tiles of m x n elements.
struct TileKernel {
  const void* function;
  Maps (*maps)(const Problem&);  // null where the kernel takes NoMaps
  bool plain_walk;               // takes matrix::Walk, not SharedWalk
  Mode mode;
  Layout layout;
  bool wgmma, for_90a;
  int m, n, k, slice_bytes;
  int blocks_per_sm, threads, producer_warps, cluster, stages;
  std::size_t shared_bytes, bytes_in_flight;
};

/// Each tile's sum by one block.
ConfigOf<Problem> whole_tiles(std::string_view schedule, const TileKernel& kernel);
/// The sums of the last tiles shared by all blocks.
ConfigOf<Problem> shared_tiles(std::string_view schedule, const TileKernel& kernel);

}  // namespace amasia::gemm
