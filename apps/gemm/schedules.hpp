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
/// slices of those tiles that would leave SMs idle are dealt out to all blocks (walk.hpp).
struct TileSchedule {
  std::string_view whole, shared{};
};

inline constexpr TileSchedule ffma_128x128{"128x128", "128x128-shared"}, ffma_128x256{"128x256"},
    tf32_mma_128x128{"tf32-mma-128x128", "tf32-mma-128x128-shared"},
    tf32_mma_128x128_8_warps{"tf32-mma-128x128-8-warps"}, tf32_mma_128x256{"tf32-mma-128x256"},
    tf32_wgmma_256x128{"tf32-wgmma-256x128", "tf32-wgmma-256x128-shared"},
    bf16_mma_128x128{"bf16-mma-128x128", "bf16-mma-128x128-shared"},
    bf16_mma_128x128_8_warps{"bf16-mma-128x128-8-warps"}, bf16_mma_128x256{"bf16-mma-128x256"},
    bf16_wgmma_128x256{"bf16-wgmma-128x256", "bf16-wgmma-128x256-shared"},
    tf32_tn_wgmma_128x256{"tf32-tn-wgmma-128x256", "tf32-tn-wgmma-128x256-shared"},
    bf16_tn_wgmma_128x256{"bf16-tn-wgmma-128x256", "bf16-tn-wgmma-128x256-shared"},
    e4m3_wgmma_128x256{"e4m3-wgmma-128x256", "e4m3-wgmma-128x256-shared"};

/// The tiles of blocks whose warps have roles (specialised.cuh).
inline constexpr TileSchedule ffma_producer_128x256{"128x256-producer"},
    tf32_producer_256x128{"tf32-wgmma-256x128-producer", "tf32-wgmma-256x128-producer-shared"},
    tf32_ping_pong_128x64{"tf32-wgmma-128x64-ping-pong"},
    bf16_producer_128x256{"bf16-wgmma-128x256-producer", "bf16-wgmma-128x256-producer-shared"},
    bf16_ping_pong_128x128{"bf16-wgmma-128x128-ping-pong"},
    bf16_ping_pong_128x192{"bf16-wgmma-128x192-ping-pong"},
    bf16_ping_pong_64x128{"bf16-wgmma-64x128-ping-pong"},
    tf32_tn_producer_128x256{"tf32-tn-wgmma-128x256-producer",
                             "tf32-tn-wgmma-128x256-producer-shared"},
    tf32_tn_ping_pong_128x128{"tf32-tn-wgmma-128x128-ping-pong"},
    tf32_tn_ping_pong_64x128{"tf32-tn-wgmma-64x128-ping-pong"},
    bf16_tn_producer_128x256{"bf16-tn-wgmma-128x256-producer",
                             "bf16-tn-wgmma-128x256-producer-shared"},
    bf16_tn_ping_pong_128x128{"bf16-tn-wgmma-128x128-ping-pong"},
    bf16_tn_ping_pong_128x192{"bf16-tn-wgmma-128x192-ping-pong"},
    bf16_tn_ping_pong_64x128{"bf16-tn-wgmma-64x128-ping-pong"},
    e4m3_producer_128x256{"e4m3-wgmma-128x256-producer", "e4m3-wgmma-128x256-producer-shared"},
    e4m3_ping_pong_128x128{"e4m3-wgmma-128x128-ping-pong"},
    e4m3_ping_pong_128x192{"e4m3-wgmma-128x192-ping-pong"},
    e4m3_ping_pong_64x128{"e4m3-wgmma-64x128-ping-pong"},
    tf32x3_producer_128x128{"tf32x3-wgmma-128x128-producer",
                            "tf32x3-wgmma-128x128-producer-shared"},
    tf32x3_producer_128x192{"tf32x3-wgmma-128x192-producer"};

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
      {tf32_tn_wgmma_128x256.whole, "tf32, layout tn, by wgmma: 128 x 256, as bf16-wgmma-128x256"},
      {tf32_tn_wgmma_128x256.shared, "tf32-tn-wgmma-128x256 with the last tiles' sums shared"},
      {bf16_tn_wgmma_128x256.whole, "bf16, layout tn, by wgmma: 128 x 256, as bf16-wgmma-128x256"},
      {bf16_tn_wgmma_128x256.shared, "bf16-tn-wgmma-128x256 with the last tiles' sums shared"},
      {e4m3_wgmma_128x256.whole, "e4m3, layout tn, by wgmma: 128 x 256, as bf16-wgmma-128x256"},
      {e4m3_wgmma_128x256.shared, "e4m3-wgmma-128x256 with the sums of the last tiles shared"},
      {ffma_producer_128x256.whole, "128 x 256 by 8 warps that a producing warpgroup feeds"},
      {tf32_producer_256x128.whole, "tf32-wgmma-256x128 fed by a producing warpgroup"},
      {tf32_producer_256x128.shared, "the same with the sums of the last tiles shared"},
      {tf32_ping_pong_128x64.whole, "a producer, two warpgroups by turns: 128 x 64 each"},
      {bf16_producer_128x256.whole, "bf16-wgmma-128x256 fed by a producing warpgroup"},
      {bf16_producer_128x256.shared, "the same with the sums of the last tiles shared"},
      {bf16_ping_pong_128x128.whole, "a producer, two warpgroups by turns: 128 x 128 each"},
      {bf16_ping_pong_128x192.whole, "a producer, two warpgroups by turns: 128 x 192 each"},
      {bf16_ping_pong_64x128.whole, "a producer, two warpgroups by turns: 64 x 128 each"},
      {tf32_tn_producer_128x256.whole, "tf32-tn-wgmma-128x256 fed by a producing warpgroup"},
      {tf32_tn_producer_128x256.shared, "the same with the sums of the last tiles shared"},
      {tf32_tn_ping_pong_128x128.whole, "a producer, two warpgroups by turns: 128 x 128 each"},
      {tf32_tn_ping_pong_64x128.whole, "a producer, two warpgroups by turns: 64 x 128 each"},
      {bf16_tn_producer_128x256.whole, "bf16-tn-wgmma-128x256 fed by a producing warpgroup"},
      {bf16_tn_producer_128x256.shared, "the same with the sums of the last tiles shared"},
      {bf16_tn_ping_pong_128x128.whole, "a producer, two warpgroups by turns: 128 x 128 each"},
      {bf16_tn_ping_pong_128x192.whole, "a producer, two warpgroups by turns: 128 x 192 each"},
      {bf16_tn_ping_pong_64x128.whole, "a producer, two warpgroups by turns: 64 x 128 each"},
      {e4m3_producer_128x256.whole, "e4m3-wgmma-128x256 fed by a producing warpgroup"},
      {e4m3_producer_128x256.shared, "the same with the sums of the last tiles shared"},
      {e4m3_ping_pong_128x128.whole, "a producer, two warpgroups by turns: 128 x 128 each"},
      {e4m3_ping_pong_128x192.whole, "a producer, two warpgroups by turns: 128 x 192 each"},
      {e4m3_ping_pong_64x128.whole, "a producer, two warpgroups by turns: 64 x 128 each"},
      {tf32x3_producer_128x128.whole, "operands split into hi and lo, three products: 128 x 128"},
      {tf32x3_producer_128x128.shared, "the same with the sums of the last tiles shared"},
      {tf32x3_producer_128x192.whole, "operands split into hi and lo, three products: 128 x 192"},
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

/// Every schedule of some tiles, under either name.
inline std::vector<std::string_view> both(const std::vector<TileSchedule>& tiles) {
  std::vector<std::string_view> all;
  for (const TileSchedule& t : tiles) {
    all.push_back(t.whole);
    if (!t.shared.empty()) all.push_back(t.shared);
  }
  return all;
}

/// Those of wgmma, of all modes and layouts.
inline std::vector<std::string_view> wgmma_schedules() {
  return both({tf32_wgmma_256x128,        bf16_wgmma_128x256,        tf32_tn_wgmma_128x256,
               bf16_tn_wgmma_128x256,     e4m3_wgmma_128x256,        tf32_producer_256x128,
               tf32_ping_pong_128x64,     bf16_producer_128x256,     bf16_ping_pong_128x128,
               bf16_ping_pong_128x192,    bf16_ping_pong_64x128,     tf32_tn_producer_128x256,
               tf32_tn_ping_pong_128x128, tf32_tn_ping_pong_64x128,  bf16_tn_producer_128x256,
               bf16_tn_ping_pong_128x128, bf16_tn_ping_pong_128x192, bf16_tn_ping_pong_64x128,
               e4m3_producer_128x256,     e4m3_ping_pong_128x128,    e4m3_ping_pong_128x192,
               e4m3_ping_pong_64x128,     tf32x3_producer_128x128,   tf32x3_producer_128x192});
}

}  // namespace amasia::gemm
