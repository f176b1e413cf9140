#include "inputs/formats/mesh.hpp"

#include <cmath>
#include <optional>
#include <string_view>

#include "inputs/formats/text_reader.hpp"
#include "inputs/formats/text_writer.hpp"

namespace amasia::formats {
namespace {

/// The words of the file, one after the other, with what each is for errors.
class MeshReader {
 public:
  MeshReader(const std::string& path, std::int64_t elements)
      : file_(path, "with a mesh"), elements_(elements) {}

  std::int64_t count() {
    const std::optional<std::string_view> word = file_.word("the number of elements");
    if (!word) file_.fail("expected the number of elements, the file is empty");
    const auto [value, error] = parse_number<std::int64_t>(*word);
    if (error != std::errc{}) {
      file_.fail("expected the number of elements, found " + in_quotes(*word));
    }
    return value;
  }
  float number(std::int64_t element, const std::string& what) {
    const std::string_view word = next(element, what);
    const auto [value, error] = parse_number<float>(word);
    if (error != std::errc{} || !std::isfinite(value)) refuse(element, "a finite " + what, word);
    return value;
  }
  float area(std::int64_t element) {
    const std::string_view word = next(element, "area");
    const auto [value, error] = parse_number<float>(word);
    if (error != std::errc{} || !std::isfinite(value) || value <= 0) {
      refuse(element, "an area above 0", word);
    }
    return value;
  }
  std::int32_t neighbour(std::int64_t element) {
    const std::string_view word = next(element, "neighbour");
    const auto [value, error] = parse_number<std::int64_t>(word);
    if (error != std::errc{} || value > elements_) {
      refuse(element,
             "a neighbour from 1 to " + std::to_string(elements_) + ", 0 or a negative number",
             word);
    }
    if (value < 0) return Mesh::far_field;
    return static_cast<std::int32_t>(value - 1);  // 0 is Mesh::wing
  }
  void end() {
    if (const std::optional<std::string_view> word = file_.word("nothing")) {
      file_.fail("expected the end of the file after " + std::to_string(elements_) +
                 " elements, found " + in_quotes(*word));
    }
  }
  [[noreturn]] void fail(const std::string& expected) const { file_.fail(expected); }

 private:
  std::string_view next(std::int64_t element, const std::string& what) {
    const std::optional<std::string_view> word = file_.word("a number");
    if (!word) {
      file_.fail("expected the " + what + " of element " + std::to_string(element + 1) + " of " +
                 std::to_string(elements_) + ", the file ends");
    }
    return *word;
  }
  [[noreturn]] void refuse(std::int64_t element, const std::string& what,
                           std::string_view word) const {
    file_.fail("expected " + what + " of element " + std::to_string(element + 1) + ", found " +
               in_quotes(word));
  }

  TextReader file_;
  std::int64_t elements_;
};

}  // namespace

Mesh read_mesh_file(const std::string& path, std::int64_t elements) {
  MeshReader file(path, elements);
  const std::int64_t count = file.count();
  if (count != elements) {
    file.fail("expected a mesh of " + std::to_string(elements) + " elements, found " +
              std::to_string(count) +
              (count > 0 ? ": pass elements=" + std::to_string(count) : std::string()));
  }
  Mesh mesh;  // grows with the file, so that a short one costs no memory
  for (std::int64_t i = 0; i < elements; ++i) {
    mesh.areas.push_back(file.area(i));
    for (int face = 0; face < Mesh::faces; ++face) {
      mesh.neighbours.push_back(file.neighbour(i));
      for (int axis = 0; axis < 3; ++axis) mesh.normals.push_back(-file.number(i, "normal"));
    }
  }
  file.end();
  return mesh;
}

void write_mesh_file(const std::string& path, const Mesh& mesh) {
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
