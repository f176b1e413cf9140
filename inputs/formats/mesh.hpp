// Rodinia's text format of an unstructured mesh (its cfd): the number of elements, then for each
// element its area and, for each of four faces, the neighbour behind it and the normal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace amasia::formats {

/// A mesh of elements with four faces. A face is a neighbour's number from 0 or one of the two
/// kinds of boundary below; its normal points into the element and is as long as the face is large.
struct Mesh {
  static constexpr int faces = 4;
  static constexpr std::int32_t wing = -1, far_field = -2;
  std::vector<float> areas;              // (elements)
  std::vector<std::int32_t> neighbours;  // (elements, 4)
  std::vector<float> normals;            // (elements, 4, 3)

  std::int64_t elements() const { return static_cast<std::int64_t>(areas.size()); }
};

/// Reads a mesh of exactly `elements` elements. In the file neighbours are numbered from 1, 0 is a
/// wing, anything negative the far field, and normals point outwards. Throws UsageError
/// "path:line: what was expected" for another number of elements, an area that is not above 0, a
/// neighbour that does not exist, what is no finite number, too few or too many values, and
/// "path: ..." for an unreadable file. Repeated neighbours and elements without any are accepted.
Mesh read_mesh_file(const std::string& path, std::int64_t elements);

}  // namespace amasia::formats
