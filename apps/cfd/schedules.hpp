// Every schedule of cfd, once, for all strategies: who computes which elements, in which launches.
// How their data travel is no part of it.
#pragma once

#include "harness/app.hpp"

namespace amasia::cfd {

/// Threads of a block, one for an element. iso has Rodinia's (its BLOCK_SIZE_0); 256 consecutive
/// elements hold more of each other's neighbours, and three such blocks share an SM (80 registers).
inline constexpr int iso_threads = 192, tile_threads = 256;
/// resident: a block an SM, up to three elements a thread: 202752 on 132 SMs.
inline constexpr int resident_threads = 512, resident_turns = 3;
inline constexpr int share_elements = resident_turns * resident_threads;

/// How the launches of a run follow each other. `dependent`: by programmatic dependent launch.
enum class Start { in_turn, dependent };
inline constexpr Start starts[] = {Start::in_turn, Start::dependent};

/// Who takes the tiles of 256 elements: a block each, or as many blocks as fit, one after another.
enum class Tiles { one, walk };

inline constexpr const char *iso_name = "iso", *resident_name = "resident";
constexpr const char* name_of(Tiles tiles, Start start) {
  if (start == Start::in_turn) return tiles == Tiles::one ? "records" : "records-walk";
  return tiles == Tiles::one ? "records-dependent" : "records-walk-dependent";
}

inline constexpr Schedule schedules[] = {
    {iso_name, "Rodinia's: 192 threads, an element each, seven launches and a copy an iteration"},
    {name_of(Tiles::one, Start::in_turn),
     "elements as records of 32 bytes, 256 a block, one launch a stage"},
    {name_of(Tiles::one, Start::dependent), "records by programmatic dependent launch"},
    {name_of(Tiles::walk, Start::in_turn), "records, but as many blocks as fit walk the tiles"},
    {name_of(Tiles::walk, Start::dependent), "records-walk by programmatic dependent launch"},
    {resident_name,
     "records, one cooperative launch; a block an SM keeps its elements in shared memory"}};

}  // namespace amasia::cfd
