
#include <array>
#include <cmath>

#include "apps/cfd/cpu_reference.hpp"
#include "inputs/permutation.hpp"

namespace amasia::cfd {
namespace {

using Point = std::array<double, 3>;
using formats::Mesh;

constexpr int per_cube = 6;
constexpr int orders_of_axes[per_cube][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                             {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// A cube's six tetrahedra are the orders of the three axes: from the cube's first corner along one
/// axis, then the second, then the third (Kuhn's triangulation).
struct Tetrahedron {
  std::int64_t x, y, z;
  int axes[3];
};

/// Tetrahedra of a box of edge x edge x as many cubes as it takes, numbered along x, y, z.
struct Box {
  std::int64_t edge, elements;
  std::uint64_t seed;

  Box(std::int64_t count, std::uint64_t of_seed) : edge(1), elements(count), seed(of_seed) {
    while (per_cube * edge * edge * edge < count) ++edge;
  }
  Tetrahedron at(std::int64_t t) const {
    const std::int64_t cube = t / per_cube;
    const int* const axes = orders_of_axes[t % per_cube];
    return {cube % edge, cube / edge % edge, cube / edge / edge, {axes[0], axes[1], axes[2]}};
  }
  std::int64_t number(const Tetrahedron& t) const {
    if (t.y < 0) return wing;
    const auto outside = [this](std::int64_t c) { return c < 0 || c >= edge; };
    if (outside(t.x) || outside(t.y) || outside(t.z)) return far_field;
    const int order = 2 * t.axes[0] + (t.axes[1] > t.axes[2] ? 1 : 0);
    const std::int64_t n = ((t.z * edge + t.y) * edge + t.x) * per_cube + order;
    return n < elements ? n : far_field;
  }
  Point corner(const std::array<std::int64_t, 3>& at) const {
    const std::int64_t side = edge + 1;
    const auto n = static_cast<std::uint64_t>((at[2] * side + at[1]) * side + at[0]);
    Point p;
    for (int axis = 0; axis < 3; ++axis) {
      p[axis] = static_cast<double>(at[axis]) + 0.2 * (random_unit(seed, axis, n) - 0.5);
    }
    return p;
  }
};

/// The tetrahedron behind the face that lies opposite corner `face`.
Tetrahedron behind(Tetrahedron t, int face) {
  const auto [a, b, c] = std::array{t.axes[0], t.axes[1], t.axes[2]};
  std::int64_t* const place[3] = {&t.x, &t.y, &t.z};
  const auto in_order = [&t](int first, int second, int third) {
    t.axes[0] = first, t.axes[1] = second, t.axes[2] = third;
    return t;
  };
  if (face == 1) return in_order(b, a, c);  // inside the cube
  if (face == 2) return in_order(a, c, b);
  *place[face == 0 ? a : c] += face == 0 ? 1 : -1;
  return face == 0 ? in_order(b, c, a) : in_order(c, a, b);
}

}  // namespace

formats::Mesh generate_mesh(std::int64_t elements, Order order, std::uint64_t seed) {
  const Box box(elements, seed);
  const auto count = static_cast<std::size_t>(elements);
  std::vector<std::int32_t> tetrahedron, element;  // of an element, and back; empty: the same
  if (order == Order::scattered) {
    tetrahedron.resize(count);
    element.resize(count);
#pragma omp parallel for
    for (std::int64_t i = 0; i < elements; ++i) {
      const auto t = scatter(static_cast<std::uint64_t>(i), count, mix64(seed));
      tetrahedron[i] = static_cast<std::int32_t>(t);
      element[t] = static_cast<std::int32_t>(i);
    }
  }
  Mesh mesh{std::vector<float>(count), std::vector<std::int32_t>(count * faces),
            std::vector<float>(count * faces * 3)};
#pragma omp parallel for
  for (std::int64_t i = 0; i < elements; ++i) {
    const Tetrahedron t = box.at(order == Order::scattered ? tetrahedron[i] : i);
    std::array<std::int64_t, 3> at{t.x, t.y, t.z};
    std::array<Point, 4> corners;
    for (int c = 0; c < 4; ++c) {
      corners[c] = box.corner(at);
      if (c < 3) ++at[t.axes[c]];
    }
    double surface = 0;
    for (int face = 0; face < faces; ++face) {
      const std::int64_t number = box.number(behind(t, face));
      const bool renumbered = order == Order::scattered && number >= 0;
      mesh.neighbours[faces * i + face] =
          renumbered ? element[number] : static_cast<std::int32_t>(number);
      const Point& first = corners[(face + 1) % 4];
      const Point normal = cross(corners[(face + 2) % 4] - first, corners[(face + 3) % 4] - first);
      const double inwards = dot(normal, corners[face] - first) > 0 ? 0.5 : -0.5;
      const double length = 0.5 * std::sqrt(dot(normal, normal));
      surface += length;
      for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t component = 3 * (faces * i + face) + axis;
        const double moved =
            0.02 * length * (random_unit(seed, 3, static_cast<std::uint64_t>(component)) - 0.5);
        mesh.normals[component] = static_cast<float>(inwards * normal[axis] + moved);
      }
    }
    mesh.areas[i] = static_cast<float>(surface * surface / 4);
  }
  return mesh;
}

formats::Mesh host_mesh(const Parameters& p, std::uint64_t seed) {
  if (const std::string& path = p.text("mesh_file"); !path.empty()) {
    return formats::read_mesh_file(path, p.integer("elements"));
  }
  return generate_mesh(p.integer("elements"),
                       p.text("order") == "front" ? Order::front : Order::scattered, seed);
}

}  // namespace amasia::cfd
