#include "inputs/formats/mesh.hpp"

#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "inputs/formats/text_reader.hpp"

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
  float area(std::int64_t element) {
    return next<float>(element, "area", "an area above 0",
                       [](float value) { return std::isfinite(value) && value > 0; });
  }
  float normal(std::int64_t element) {
    return next<float>(element, "normal", "a finite normal",
                       [](float value) { return std::isfinite(value); });
  }
  std::int32_t neighbour(std::int64_t element) {
    const auto value =
        next<std::int64_t>(element, "neighbour", any_neighbour_,
                           [this](std::int64_t number) { return number <= elements_; });
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
  template <class Value, class Accepts>
  Value next(std::int64_t element, std::string_view name, std::string_view expected,
             const Accepts& accepts) {
    const auto fail = [&](std::string_view what, const std::string& found) {
      file_.fail(fmt::format("expected {} of element {}{}", what, element + 1, found));
    };
    const std::optional<std::string_view> word = file_.word("a number");
    if (!word) fail(fmt::format("the {}", name), fmt::format(" of {}, the file ends", elements_));
    const auto [value, error] = parse_number<Value>(*word);
    if (error != std::errc{} || !accepts(value)) fail(expected, ", found " + in_quotes(*word));
    return value;
  }

  TextReader file_;
  std::int64_t elements_;
  std::string any_neighbour_ =
      fmt::format("a neighbour from 1 to {}, 0 or a negative number", elements_);
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
      for (int axis = 0; axis < 3; ++axis) mesh.normals.push_back(-file.normal(i));
    }
  }
  file.end();
  return mesh;
}

}  // namespace amasia::formats
