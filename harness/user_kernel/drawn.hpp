// What a seed puts into a buffer, element by element, so that a device and a host can do it alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/user_kernel/element.hpp"
#include "inputs/random.hpp"
#include "variants/host_device.hpp"

namespace amasia {

/// Uniform draws: of floating-point types from [low, high), of integers from low to high, both
/// included. `stream` tells the buffers of one seed apart.
struct Draws {
  ElementType type = ElementType::f32;
  std::size_t count = 0;
  double low = 0, high = 1;
  std::uint64_t seed = 0, stream = 0;
};

AMASIA_HD inline double drawn_real(const Draws& d, std::size_t i) {
  return d.low + (d.high - d.low) * static_cast<double>(random_unit(d.seed, d.stream, i));
}

AMASIA_HD inline std::int64_t drawn_integer(const Draws& d, std::size_t i) {
  const auto values = static_cast<std::uint64_t>(d.high - d.low) + 1;
  // 2^32 values are all that a draw has.
  const std::uint32_t drawn =
      values > UINT32_MAX ? random_bits(d.seed, d.stream, i)
                          : random_below(d.seed, d.stream, i, static_cast<std::uint32_t>(values));
  return static_cast<std::int64_t>(d.low) + drawn;
}

/// Data of a file, to be changed at places that a seed chooses: in each piece one element takes the
/// value of the one beside it. So values stay those of the file, what is sorted stays sorted, and
/// the data stay those that the user wants to know the time of.
struct Alteration {
  std::size_t element_bytes = 4, count = 0;
  std::uint64_t seed = 0, stream = 0;
  /// Elements of a piece: one in 1024 changes, more in a short file, so that no two seeds choose
  /// the same places.
  AMASIA_HD std::size_t piece() const {
    constexpr std::size_t longest = 1024, least_pieces = 64, shortest = 2;
    const std::size_t length = count / least_pieces;
    return length < shortest ? shortest : length > longest ? longest : length;
  }
  AMASIA_HD std::size_t pieces() const { return count / piece(); }
};

AMASIA_HD inline void alter_piece(std::byte* data, const Alteration& a, std::size_t piece) {
  const auto last = static_cast<std::uint32_t>(a.piece() - 1);
  const std::size_t left = piece * a.piece() + random_below(a.seed, a.stream, 2 * piece, last);
  const bool from_left = (random_bits(a.seed, a.stream, 2 * piece + 1) & 1) != 0;
  std::byte* const first = data + left * a.element_bytes;
  std::byte* const second = first + a.element_bytes;
  for (std::size_t i = 0; i < a.element_bytes; ++i) {
    (from_left ? second : first)[i] = (from_left ? first : second)[i];
  }
}

/// On memory of the host. A GPU's are in harness/gpu/user_inputs.cu.
void draw_on_host(std::byte* to, const Draws& draws);
void alter_on_host(std::byte* data, const Alteration& alteration);

/// Asynchronous, in the order of the stream. Throw CudaError.
void draw_on_device(std::byte* to, const Draws& draws, Stream stream);
void alter_on_device(std::byte* data, const Alteration& alteration, Stream stream);

}  // namespace amasia
