// The traits of a kernel, as far as they decide which way of moving data suits it: what a tile is,
// what is computed on it, and how blocks are launched. One table names them all: coordinates of
// points, what a user may ask for, and the limits of each come from it.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/microbenchmark.hpp"
#include "inputs/errors.hpp"

namespace amasia::twin {

/// How the rows of a tile lie in memory: one after the other, at the pitch of a grid that is many
/// tiles wide, or anywhere, found by an array of row numbers.
enum class Layout : std::int64_t { run, box, gather };

/// Blocks that are neighbours: they take tiles that lie below each other and share the rows
/// `common`. The blocks of a cluster in dsm, and of the walk over the tiles in all strategies.
constexpr int neighbours = 4;

/// Threads that a block may have when each computes on so many chunks of 16 bytes at once: with
/// more, ptxas would have too few registers for the chunks.
constexpr std::int64_t most_threads(std::int64_t chunks_per_thread) {
  return chunks_per_thread < 4 ? 1024 : chunks_per_thread < 8 ? 640 : 512;
}
/// Registers that no strategy's kernel exceeds then, because that many threads fit. As if all of
/// them had just so many, the blocks per SM are the same for all.
constexpr std::int64_t twin_registers(std::int64_t chunks_per_thread) {
  return 65536 / most_threads(chunks_per_thread) / 8 * 8;
}

/// An element and those above, below, left and right of it.
constexpr std::int64_t stencil_reads = 5;

struct Traits {
  std::int64_t rows = 16;            // of a tile, without its halo
  std::int64_t row_bytes = 512;      // of one of them, without its halo
  std::int64_t layout = 0;           // Layout
  std::int64_t halo = 0;             // elements around a tile that its neighbours own
  std::int64_t common = 0;           // rows of a tile that are the same for all neighbours
  std::int64_t out_bytes = 8192;     // written per tile
  std::int64_t reads = 1;            // of 16 bytes from shared memory for each 16 bytes of the tile
  std::int64_t fma = 1;              // multiply-adds per element
  std::int64_t chain = 0;            // 1: each waits for the one before it
  std::int64_t barriers = 0;         // of the block per tile, beyond those of the movement
  std::int64_t threads = 256;        // per block
  std::int64_t stages = 3;           // tiles in shared memory, in strategies that have several
  std::int64_t registers = 64;       // per thread, as far as they limit the resident blocks
  std::int64_t workspace = 0;        // bytes of shared memory per block, beside the tiles
  std::int64_t tiles_per_block = 0;  // 0: as many blocks as are resident share all tiles
  std::int64_t launches = 1;         // that divide the tiles among them
  std::int64_t mebibytes = 256;      // of tiles

  std::int64_t interior_chunks() const { return rows * row_bytes / 16; }
  Layout layout_kind() const { return static_cast<Layout>(layout); }
};

using Member = std::int64_t Traits::*;

/// A trait: its coordinate, its place, and what values it may have. `words` are those of an enum.
struct Trait {
  std::string_view name;
  Member value;
  std::int64_t least;
  std::int64_t most;
  std::string_view what;
  std::array<std::string_view, 3> words{};
};

inline constexpr std::array<Trait, 17> traits_of_a_kernel{{
    {"rows", &Traits::rows, 1, 256, "rows of a tile"},
    {"row_bytes", &Traits::row_bytes, 16, 65536, "bytes of one row, a multiple of 16"},
    {"layout", &Traits::layout, 0, 2, "how rows lie in memory", {"run", "box", "gather"}},
    {"halo", &Traits::halo, 0, 32, "elements around a tile that neighbours own; layout box"},
    {"common", &Traits::common, 0, 255, "rows that four neighbouring blocks have in common"},
    {"out_bytes", &Traits::out_bytes, 0, 1 << 20, "bytes written per tile, a multiple of 16"},
    {"reads", &Traits::reads, 1, 32, "times that each byte of a tile is read from shared memory"},
    {"fma", &Traits::fma, 0, 4096, "multiply-adds per element of 4 bytes"},
    {"chain", &Traits::chain, 0, 1, "what they wait for", {"independent", "dependent"}},
    {"barriers", &Traits::barriers, 0, 64, "block barriers of the computation per tile"},
    {"threads", &Traits::threads, 32, 1024, "threads of a block, a multiple of 32"},
    {"stages", &Traits::stages, 2, 4, "tiles a block can hold, in strategies that hold several"},
    {"registers", &Traits::registers, 16, 255, "registers per thread of the real kernel"},
    {"workspace", &Traits::workspace, 0, 1 << 20, "other shared memory of a block, bytes"},
    {"tiles_per_block", &Traits::tiles_per_block, 0, 1 << 16, "0: blocks stay until all is done"},
    {"launches", &Traits::launches, 1, 16, "launches that the work is divided into"},
    {"mebibytes", &Traits::mebibytes, 1, 4096, "size of the input"},
}};

inline std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

inline std::string words_of(const Trait& t) {
  std::string words;
  for (const std::string_view word : t.words) {
    if (!word.empty()) words += (words.empty() ? "" : ", ") + std::string(word);
  }
  return words;
}

inline std::int64_t value_from(const Trait& t, const std::string& text) {
  const std::string name(t.name);
  if (!t.words.front().empty()) {
    for (std::size_t i = 0; i < t.words.size(); ++i) {
      if (!t.words[i].empty() && t.words[i] == text) return static_cast<std::int64_t>(i);
    }
    throw UsageError("trait " + name + " is one of " + words_of(t) + ", not " + in_quotes(text));
  }
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < t.least || value > t.most) {
    throw UsageError("trait " + name + " (" + std::string(t.what) + ") is an integer from " +
                     std::to_string(t.least) + " to " + std::to_string(t.most) + ", not " +
                     in_quotes(text));
  }
  return value;
}

/// All traits in the order of the table, as coordinates of a point.
inline Coordinates coordinates_of(const Traits& traits) {
  Coordinates at;
  for (const Trait& t : traits_of_a_kernel) {
    const std::int64_t value = traits.*t.value;
    at.emplace_back(t.name, t.words.front().empty()
                                ? std::to_string(value)
                                : std::string(t.words[static_cast<std::size_t>(value)]));
  }
  return at;
}

/// Why no kernel has these traits together, in one sentence; "" when one may.
inline std::string contradiction(const Traits& t) {
  if (t.row_bytes % 16 != 0) return "row_bytes is not a multiple of 16";
  if (t.out_bytes % 16 != 0) return "out_bytes is not a multiple of 16";
  if (t.threads % 32 != 0) return "threads is not a multiple of 32";
  if (t.out_bytes > t.interior_chunks() * 16) {
    return "out_bytes is more than the tile has (rows x row_bytes)";
  }
  if (t.halo > 0 && t.layout_kind() != Layout::box) return "a halo needs the layout box";
  if (t.halo > 0 && t.reads < 3) return "a halo is there to be read: reads is at least 3";
  if (t.halo > t.rows) return "the halo is larger than the tile";
  if (t.common >= t.rows) return "common has to leave a row of the tile's own";
  if (t.halo > 0 && t.common > 0) return "a tile has a halo or common rows, not both";
  const std::int64_t each = t.interior_chunks() / t.threads;
  if (each > 0 && (t.interior_chunks() % t.threads != 0 || 8 % each != 0)) {
    return "a thread computes on 1, 2, 4 or 8 times 16 bytes of a tile; " +
           std::to_string(t.threads) + " threads do not divide " +
           std::to_string(t.interior_chunks()) + " x 16 bytes so";
  }
  if (t.threads > most_threads(each)) {
    return "a block has at most " + std::to_string(most_threads(each)) +
           " threads when each computes on " + std::to_string(each) + " x 16 bytes of a tile";
  }
  return "";
}

/// The traits that are asked for; what is not named has its default: `out_bytes` that of a kernel
/// that writes as much as it reads, `reads` with a halo that of a stencil. Throws UsageError, one
/// line that names the trait, for an unknown name, a value out of range and traits that contradict
/// each other.
inline Traits traits_from(const Coordinates& asked) {
  Traits traits;
  bool writes_given = false, reads_given = false;
  for (const auto& [name, text] : asked) {
    const Trait* found = nullptr;
    std::string known;
    for (const Trait& t : traits_of_a_kernel) {
      if (t.name == name) found = &t;
      known += (known.empty() ? "" : ", ") + std::string(t.name);
    }
    if (found == nullptr) throw UsageError("no trait " + in_quotes(name) + "; known: " + known);
    traits.*found->value = value_from(*found, text);
    writes_given = writes_given || found->value == &Traits::out_bytes;
    reads_given = reads_given || found->value == &Traits::reads;
  }
  if (!reads_given && traits.halo > 0) traits.reads = stencil_reads;
  if (!writes_given) traits.out_bytes = traits.interior_chunks() * 16;
  if (const std::string why = contradiction(traits); !why.empty()) {
    throw UsageError("no kernel has these traits: " + why);
  }
  return traits;
}

}  // namespace amasia::twin
