// lavamd: forces between particles in a cube of boxes, each with its neighbours (Rodinia's lavaMD,
// after Che et al. 2009), fp64.
//
//   for each home box H, for each box N of H's list (H, up to 26 neighbours)
//     for each particle i of H, for each particle j of N:
//
//       w = charge(j) * exp(-2 alpha^2 (v(i) + v(j) - (x(i) x(j) + y(i) y(j) + z(i) z(j))))
//       force(i) += (w, 2 w (x(i) - x(j)), 2 w (y(i) - y(j)), 2 w (z(i) - z(j)))
//
// Boxes are contiguous in memory, 32 + 8 bytes a particle; which ones a box needs is in a table.
// A tile of 4 KB means 10^4 exponentials: bound by fp64 arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/app.hpp"
#include "inputs/random.hpp"
#include "variants/host_device.hpp"

namespace amasia::lavamd {

/// Particles that compute together, and the most a box holds: what a warp keeps of its home box.
inline constexpr int group = 8, most_groups = 13, most_particles = group * most_groups;

/// 256^3 boxes of 104 particles take 130 GB and count particles below 2^31.
inline constexpr std::int64_t most_boxes1d = 256;

inline constexpr int most_neighbours = 27;
inline constexpr double alpha = 0.5;
inline constexpr double exponent_scale = 2 * alpha * alpha;

/// A position, with Rodinia's v in front; or a force.
struct alignas(16) Vector {
  double v, x, y, z;
};

/// A row of the table: the home box first, then its neighbours in the order of their numbers.
struct alignas(16) Neighbours {
  int count;
  int box[most_neighbours];
};

/// What a variant works on; device pointers. Box b begins at element b * pitch of all three arrays.
/// An odd number of particles is followed by one whose position and charge are zero, part of the
/// input, so that a box is a multiple of 16 bytes.
struct Problem {
  const Vector* positions = nullptr;
  const double* charges = nullptr;
  const Neighbours* neighbours = nullptr;
  Vector* forces = nullptr;
  int boxes = 0;
  int particles = 0;  // per box
  int pitch = 0;      // `particles`, even
};

AMASIA_HD constexpr int pitch_of(int particles) { return (particles + 1) / 2 * 2; }

/// Box (x, y, z) has number x + boxes1d * (y + boxes1d * z).
AMASIA_HD inline Neighbours neighbours_of(int home, int boxes1d) {
  const int x = home % boxes1d, y = home / boxes1d % boxes1d, z = home / boxes1d / boxes1d;
  Neighbours row{};
  row.box[row.count++] = home;
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (dx == 0 && dy == 0 && dz == 0) continue;
        if (x + dx < 0 || x + dx >= boxes1d || y + dy < 0 || y + dy >= boxes1d || z + dz < 0 ||
            z + dz >= boxes1d) {
          continue;
        }
        row.box[row.count++] = home + dx + boxes1d * (dy + boxes1d * dz);
      }
    }
  }
  return row;
}

/// Uniform in [0.1, 1), the range of Rodinia's ten values; all different, so that no particle can
/// be taken for another. Particle `i` counts without padding. Input 0 is the timed one; input 1 has
/// other positions and charges of both signs, so that forces cancel.
AMASIA_HD inline double between(std::uint64_t seed, int input, int field, std::int64_t i) {
  const auto stream = static_cast<std::uint64_t>(8 * input + field);
  const auto counter = static_cast<std::uint64_t>(i);
  return 0.1 + 0.9 * static_cast<double>(random_bits(seed, stream, counter)) * 0x1p-32;
}
AMASIA_HD inline Vector input_position(std::uint64_t seed, int input, std::int64_t i) {
  return {between(seed, input, 0, i), between(seed, input, 1, i), between(seed, input, 2, i),
          between(seed, input, 3, i)};
}
AMASIA_HD inline double input_charge(std::uint64_t seed, int input, std::int64_t i) {
  const double charge = between(seed, input, 4, i);
  return input == 1 && i % 3 == 1 ? -charge : charge;
}

/// Ordered pairs of boxes that interact: per axis every box has itself and two neighbours, but for
/// the two ends.
constexpr double box_pairs(std::int64_t boxes1d) {
  const double per_axis = 3.0 * static_cast<double>(boxes1d) - 2;
  return per_axis * per_axis * per_axis;
}

const std::vector<ParameterSpec>& parameter_specs();
std::int64_t device_bytes(const Parameters& p);

}  // namespace amasia::lavamd
