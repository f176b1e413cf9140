// Every schedule of gemm, named once for all strategies: which tile of C a block computes, with
// which arithmetic unit and how many warps, and whether the last tiles' sums are shared. Nothing
// here says how slices of A and B move.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "harness/variant.hpp"

namespace amasia::gemm {

inline constexpr std::string_view iso_name = "iso";

/// A tile that resident blocks walk (persistent.cuh) under the name `whole`; under `shared`, the
/// slices of those tiles that would leave SMs idle are dealt out to all blocks (shared.cuh).
struct TileSchedule {
  std::string_view whole, shared{};
};

inline constexpr TileSchedule ffma_128x128{"128x128", "128x128-shared"}, ffma_128x256{"128x256"},
    tf32_mma_128x128{"tf32-mma-128x128", "tf32-mma-128x128-shared"},
    tf32_mma_128x128_8_warps{"tf32-mma-128x128-8-warps"}, tf32_mma_128x256{"tf32-mma-128x256"},
    tf32_wgmma_256x128{"tf32-wgmma-256x128", "tf32-wgmma-256x128-shared"},
    bf16_mma_128x128{"bf16-mma-128x128", "bf16-mma-128x128-shared"},
    bf16_mma_128x128_8_warps{"bf16-mma-128x128-8-warps"}, bf16_mma_128x256{"bf16-mma-128x256"},
    bf16_wgmma_128x256{"bf16-wgmma-128x256", "bf16-wgmma-128x256-shared"};

inline std::vector<Schedule> all_schedules() {
  return {
      {iso_name, "the CUDA sample's matrixMul: a block per tile of 32 x 32, an element a thread"},
      {ffma_128x128.whole, "resident blocks walk tiles of 128 x 128, 4 warps, two blocks an SM"},
      {ffma_128x128.shared, "128x128 with the sums of the last tiles shared by all blocks"},
      {ffma_128x256.whole, "resident blocks walk tiles of 128 x 256, 8 warps, one block an SM"},
      {tf32_mma_128x128.whole, "tf32 by mma.sync: 128 x 128, 4 warps, two blocks an SM"},
      {tf32_mma_128x128.shared, "tf32-mma-128x128 with the sums of the last tiles shared"},
      {tf32_mma_128x128_8_warps.whole, "tf32 by mma.sync: 128 x 128, 8 warps of 64 x 32"},
      {tf32_mma_128x256.whole, "tf32 by mma.sync: 128 x 256, 8 warps of 64 x 64"},
      {tf32_wgmma_256x128.whole, "tf32 by wgmma: 256 x 128, two warpgroups, computed transposed"},
      {tf32_wgmma_256x128.shared, "tf32-wgmma-256x128 with the sums of the last tiles shared"},
      {bf16_mma_128x128.whole, "bf16 by mma.sync: 128 x 128, 4 warps, two blocks an SM"},
      {bf16_mma_128x128.shared, "bf16-mma-128x128 with the sums of the last tiles shared"},
      {bf16_mma_128x128_8_warps.whole, "bf16 by mma.sync: 128 x 128, 8 warps of 64 x 32"},
      {bf16_mma_128x256.whole, "bf16 by mma.sync: 128 x 256, 8 warps of 64 x 64"},
      {bf16_wgmma_128x256.whole, "bf16 by wgmma: 128 x 256, two warpgroups of 64 x 256"},
      {bf16_wgmma_128x256.shared, "bf16-wgmma-128x256 with the sums of the last tiles shared"},
  };
}

/// `schedules` declined for one reason.
inline std::vector<Declined> decline(const std::vector<std::string_view>& schedules,
                                     const std::string& reason) {
  std::vector<Declined> all;
  for (std::string_view name : schedules) all.push_back({std::string(name), reason});
  return all;
}

/// The schedules of mma.sync, of both modes.
inline std::vector<std::string_view> mma_schedules() {
  return {tf32_mma_128x128.whole,         tf32_mma_128x128.shared, tf32_mma_128x128_8_warps.whole,
          tf32_mma_128x256.whole,         bf16_mma_128x128.whole,  bf16_mma_128x128.shared,
          bf16_mma_128x128_8_warps.whole, bf16_mma_128x256.whole};
}

/// How slices of A and B move: ConfigInfo::movement, and what stands behind the schedule in a
/// config's name.
struct Movement {
  int stages;
  std::string note{};  // what tells it from others with as many stages
};

}  // namespace amasia::gemm
