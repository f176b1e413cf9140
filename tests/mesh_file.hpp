// Meshes in Rodinia's text format, for tests of what reads them.
#pragma once

#include <string>

#include "inputs/formats/mesh.hpp"
#include "inputs/formats/text_writer.hpp"

namespace amasia::formats {

/// An element per line, each number with the digits that restore it exactly.
inline void write_mesh_file(const std::string& path, const Mesh& mesh) {
  TextWriter file(path);
  file.number(mesh.elements(), '\n');
  for (std::int64_t i = 0; i < mesh.elements(); ++i) {
    file.number(mesh.areas[i], ' ');
    for (std::int64_t face = Mesh::faces * i; face < Mesh::faces * (i + 1); ++face) {
      const std::int32_t neighbour = mesh.neighbours[face];
      file.number(neighbour == Mesh::far_field ? std::int64_t{-1} : std::int64_t{neighbour} + 1,
                  ' ');
      for (int axis = 0; axis < 3; ++axis) {
        file.number(-mesh.normals[3 * face + axis],
                    face % Mesh::faces == Mesh::faces - 1 && axis == 2 ? '\n' : ' ');
      }
    }
  }
  file.finish();
}

}  // namespace amasia::formats
