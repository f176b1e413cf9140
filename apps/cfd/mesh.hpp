// The mesh of a problem on the host: generated, or read from a file.
#pragma once

#include "apps/cfd/cfd.hpp"

namespace amasia::cfd {

/// A cube's six tetrahedra are the orders of the three axes: from the cube's first corner along one
/// axis, then the second, then the third (Kuhn's triangulation).
struct Tetrahedron {
  std::int64_t x, y, z;
  int axes[3];
};

/// A mesh of any number of elements: the first so many tetrahedra of a box of cubes of edge 1,
/// whose corners are moved by up to 0.1 on each axis. Beyond the box lies a wing below (y < 0),
/// elsewhere the far field. Every component of a normal is then moved by up to 1 % of the normal's
/// length: closed elements would settle in the far field, where wrong neighbours do not show. The
/// area is the square of half the surface, with which a step is stable.
formats::Mesh generate_mesh(std::int64_t elements, Order order, std::uint64_t seed);

/// The mesh that the parameters name. Throws UsageError for a bad file.
formats::Mesh host_mesh(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::cfd
