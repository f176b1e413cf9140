// Rodinia's format of a mesh, from friendly and hostile files.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "inputs/errors.hpp"
#include "inputs/formats/mesh.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia::formats {
namespace {

// An element per line: its area, and neighbour and normal of four faces.
constexpr const char* two_elements =
    "2\n"
    "1.5  2 1 0 0  0 0 1 0  -1 0 0 1  -4 -1 -1 -1\n"
    "0.5  1 -1 0 0  1 0 1e-3 0  0 0 0 1  0 1 2 3\n";

class MeshFormatTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "mesh";

  Mesh read(const std::string& text, std::int64_t elements) const {
    write_text(path, text);
    return read_mesh_file(path, elements);
  }
};

TEST_F(MeshFormatTest, NumbersNeighboursFromZeroAndTurnsNormalsInwards) {
  const Mesh mesh = read(two_elements, 2);
  EXPECT_EQ(mesh.areas, (std::vector<float>{1.5f, 0.5f}));
  EXPECT_EQ(mesh.neighbours,
            (std::vector<std::int32_t>{1, Mesh::wing, Mesh::far_field, Mesh::far_field, 0, 0,
                                       Mesh::wing, Mesh::wing}));
  EXPECT_EQ(mesh.normals[0], -1);
  EXPECT_EQ(mesh.normals[9], 1);
  EXPECT_EQ(mesh.normals[12 + 4], -1e-3f);
  EXPECT_EQ(mesh.normals.size(), 24u);
}

TEST_F(MeshFormatTest, ErrorsNameTheLineAndWhatWasExpected) {
  const std::string first = "1\n1 ", faces = "0 1 0 0 0 1 0 0 0 1 0 0 ";
  struct Wrong {
    std::string text;
    int line;
    const char* part;
  };
  for (const Wrong& wrong : std::vector<Wrong>{
           {"", 1, "expected the number of elements, the file is empty"},
           {"x\n", 1, "expected the number of elements, found 'x'"},
           {"1.5\n", 1, "expected the number of elements, found '1.5'"},
           {"99999999999999999999\n", 1, "expected the number of elements"},
           {"2\n1\n", 1, "expected a mesh of 1 elements, found 2: pass elements=2"},
           {"-1\n1\n", 1, "expected a mesh of 1 elements, found -1"},
           {"1\n0 " + faces + "0 1 0 0\n", 2, "expected an area above 0 of element 1, found '0'"},
           {"1\n-2 " + faces + "0 1 0 0\n", 2, "area above 0"},
           {"1\nnan " + faces + "0 1 0 0\n", 2, "area above 0"},
           {first + faces + "2 1 0 0\n", 2,
            "expected a neighbour from 1 to 1, 0 or a negative number of element 1, found '2'"},
           {first + faces + "4294967297 1 0 0\n", 2, "neighbour"},
           {first + faces + "0.5 1 0 0\n", 2, "neighbour"},
           {first + faces + "0 nan 0 0\n", 2, "expected a finite normal of element 1, found 'nan'"},
           {first + faces + "0 1 inf 0\n", 2, "finite normal"},
           {first + faces + "\n0 1 0 1e99\n", 3, "finite normal"},
           {first + faces + "0 1 0", 2, "expected the normal of element 1 of 1, the file ends"},
           {"1\n", 2, "expected the area of element 1 of 1, the file ends"},
           {first + faces + "0 1 0 0\n7\n", 3,
            "expected the end of the file after 1 elements, found '7'"},
           {"3\n1 2 3\n4 5 6\n", 1, "found 3"},  // a matrix of lud
           {std::string(300, '1'), 1, "more than 256 characters"}}) {
    const std::string message = message_of<UsageError>([&] { (void)read(wrong.text, 1); });
    EXPECT_EQ(message.rfind(path + ":" + std::to_string(wrong.line) + ": ", 0), 0u) << message;
    EXPECT_TRUE(contains(message, wrong.part));
    EXPECT_TRUE(is_one_line(message));
  }
  EXPECT_TRUE(contains(message_of<UsageError>([&] { (void)read_mesh_file(folder / "none", 1); }),
                       "cannot be opened"));
}

TEST_F(MeshFormatTest, AShortFileOfManyElementsCostsNoMemory) {
  EXPECT_TRUE(contains(
      message_of<UsageError>([&] { (void)read("536870912\n1 0 1 0 0", std::int64_t{1} << 29); }),
      "the file ends"));
}

}  // namespace
}  // namespace amasia::formats
