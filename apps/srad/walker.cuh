// What a warp of `strips` does with the rows of its window, one after the other. Nothing here says
// how they come.
#pragma once

#include "apps/srad/kernel.cuh"
#include "apps/srad/strip.hpp"

namespace amasia::srad {

inline constexpr unsigned whole_warp = 0xffffffff;

/// A row whose first pixels beyond the edges repeat those at the edges. By a whole warp.
__device__ inline float4 with_edges(float4 v, const Place& place) {
  const int left_in_row = place.columns - place.column;
  if (left_in_row <= 1) v.y = v.x;
  if (left_in_row <= 2) v.z = v.y;
  if (left_in_row <= 3) v.w = v.z;
  const float west = __shfl_up_sync(whole_warp, v.w, 1);
  const float east = __shfl_down_sync(whole_warp, v.x, 1);
  if (left_in_row <= 0) v = {west, west, west, west};
  if (place.column < 0) v = {east, east, east, east};
  return v;
}

/// What a lane keeps of the rows before.
template <bool UPWARDS>
struct Walker {
  // Downwards a row waits for C of the row below it; `inflow` is what it has by then. Upwards that
  // is known, and `coefficient` is it.
  float last[per_lane] = {1, 1, 1, 1}, before_last[per_lane] = {1, 1, 1, 1};
  float step[per_lane] = {};  // last - before_last
  float inflows[per_lane] = {}, coefficient[per_lane] = {};

  /// Takes the next row; returns the row that is finished by it (Place::finished_row).
  __device__ float4 take(float4 row, const Speckle& k, float quarter_lambda) {
    const float next[per_lane] = {row.x, row.y, row.z, row.w};
    float result[per_lane], c[per_lane];
    Gradient d[per_lane];
    const float west = __shfl_up_sync(whole_warp, last[per_lane - 1], 1);
    const float east = __shfl_down_sync(whole_warp, last[0], 1);
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      const float towards = next[i] - last[i];
      d[i].north = UPWARDS ? towards : -step[i];
      d[i].south = UPWARDS ? -step[i] : towards;
      d[i].west = (i > 0 ? last[i > 0 ? i - 1 : 0] : west) - last[i];
      d[i].east = (i < per_lane - 1 ? last[i < per_lane - 1 ? i + 1 : 0] : east) - last[i];
      c[i] = diffusion(last[i], d[i], k);
    }
    const float east_c = __shfl_down_sync(whole_warp, c[0], 1);
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      const float flow =
          inflow(d[i], c[i], i < per_lane - 1 ? c[i < per_lane - 1 ? i + 1 : 0] : east_c);
      if (UPWARDS) {
        result[i] = diffused(last[i], flow, d[i].south, coefficient[i], quarter_lambda);
        coefficient[i] = c[i];
      } else {
        result[i] = diffused(before_last[i], inflows[i], step[i], c[i], quarter_lambda);
        inflows[i] = flow;
        before_last[i] = last[i];
      }
      step[i] = next[i] - last[i];
      last[i] = next[i];
    }
    return {result[0], result[1], result[2], result[3]};
  }
};

}  // namespace amasia::srad
