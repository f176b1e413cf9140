// Every schedule of cfd, for all strategies: who computes which elements, in which launches.
#pragma once

#include <utility>
#include <vector>

#include "harness/variant.hpp"

namespace amasia::cfd {

/// Threads of a block, one for an element. iso has Rodinia's (its BLOCK_SIZE_0); 256 consecutive
/// elements hold more of each other's neighbours, and three such blocks share an SM (80 registers).
inline constexpr int iso_threads = 192, tile_threads = 256;
/// resident: a block an SM, up to three elements a thread: 202752 on 132 SMs.
inline constexpr int resident_threads = 512, resident_turns = 3;
inline constexpr int share_elements = resident_turns * resident_threads;

inline constexpr const char *iso_name = "iso", *walk_name = "records-walk",
                            *dependent_name = "records-walk-dependent", *resident_name = "resident";

inline constexpr Schedule schedules[] = {
    {iso_name, "Rodinia's: 192 threads, an element each, seven launches and a copy an iteration"},
    {walk_name, "records of 32 bytes, a launch a stage; as many blocks as fit walk tiles of 256"},
    {dependent_name, "records-walk by programmatic dependent launch"},
    {resident_name, "records, one cooperative launch; a block an SM keeps its elements"}};

/// What the harness is told of the config of a schedule, whose own kernel is the first.
inline ConfigInfo info_of(const char* schedule, int elements_per_thread, int stages,
                          std::vector<KernelUse> kernels) {
  ConfigInfo info;
  info.schedule = info.name = schedule;
  info.geometry = {{"threads", kernels[0].threads}, {"elements_per_thread", elements_per_thread}};
  if (const int blocks = kernels[0].cluster_blocks; blocks > 1) {
    info.geometry.push_back({"cluster_blocks", blocks});
  }
  info.movement = {{"stages", stages}, {"producer_warps", 0}};
  info.kernels = std::move(kernels);
  return info;
}

}  // namespace amasia::cfd
