// The formats of input files, from friendly and hostile ones. Sizes that overflow, and orders that
// look random.
#include "inputs/errors.hpp"
#include "inputs/formats/grid.hpp"
#include "inputs/formats/keys.hpp"
#include "inputs/formats/matrix.hpp"
#include "inputs/formats/mesh.hpp"
#include "inputs/formats/sequences.hpp"
#include "inputs/permutation.hpp"
#include "inputs/sizes.hpp"
#include "tests/test.hpp"

namespace amasia::formats {
namespace {

// Of amino acids, as nw reads it.
constexpr const char* amino_acids = "ARNDCQEGHILKMFPSTWYVBZX*";

/// A reader by what it reads: four numbers of a grid or matrix, three keys, four letters, a mesh of
/// one element.
std::vector<float> grid_of(const std::string& path) { return read_grid_file(path, 2, 2); }
std::vector<float> matrix_of(const std::string& path) { return read_matrix_file(path, 2); }
std::vector<std::int32_t> keys_of(const std::string& path) { return read_text_keys(path, 3); }
std::vector<signed char> letters_of(const std::string& path) {
  return read_sequence_file(path, amino_acids, 4);
}
Mesh mesh_of(const std::string& path) { return read_mesh_file(path, 1); }

class FormatsTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "file";

  template <class Read>
  auto read(const Read& of, const std::string& text) const {
    write_text(path, text);
    return of(path);
  }

  struct Wrong {
    std::string text;
    int line;
    const char* part;
  };
  template <class Read>
  void expect_errors(const Read& of, const std::vector<Wrong>& all) const {
    for (const Wrong& wrong : all) {
      const std::string message = message_of<UsageError>([&] { read(of, wrong.text); });
      EXPECT_EQ(message.rfind(path + ":" + std::to_string(wrong.line) + ": ", 0), 0u) << message;
      EXPECT_TRUE(contains(message, wrong.part));
      EXPECT_TRUE(is_one_line(message));
    }
  }
};

TEST_F(FormatsTest, ReadWhatTheyDescribe) {
  using Floats = std::vector<float>;
  EXPECT_EQ(read(grid_of, "1\n2.5\n-3e2\n+4\n"), (Floats{1, 2.5f, -300, 4}));
  EXPECT_EQ(read(grid_of, "1\r\n 2\t\r\n3\r\n4"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(read(grid_of, "1\n2\n3\n4\n\n \n"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(read(matrix_of, "2\n4 -1 \n+2.5e0 3"), (Floats{4, -1, 2.5f, 3}));
  EXPECT_EQ(read(matrix_of, "2\r\n\r\n4\t-1\r\n2.5 3 \r\n\n"), (Floats{4, -1, 2.5f, 3}));
  EXPECT_EQ(read(keys_of, "1\r\n -2147483648\t\n2147483647\n\n \n"),
            (std::vector<std::int32_t>{1, -2147483647 - 1, 2147483647}));
  EXPECT_EQ(read(keys_of, "1\n2\n3"), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(read(letters_of, "AR\r\nn*\n\n"), (std::vector<signed char>{0, 1, 2, 23}));
  write_text(path, std::string("a\0\xff\n", 4));
  EXPECT_EQ(read_byte_keys(path, 4), (std::vector<std::int32_t>{97, 0, 255, 10}));
}

TEST_F(FormatsTest, RestoreEveryBitOfWhatTheyWrote) {
  const std::vector<float> cells{0.0f,
                                 -0.0f,
                                 1e-30f,
                                 1.0f / 3,
                                 3.4e38f,
                                 std::numeric_limits<float>::max(),
                                 323.456789f,
                                 std::numeric_limits<float>::min(),
                                 std::nextafter(80.0f, 81.0f)};
  write_grid_file(path, cells);
  EXPECT_EQ(read_grid_file(path, 3, 3), cells);
  EXPECT_TRUE(std::signbit(read_grid_file(path, 9, 1)[1]));
  write_matrix_file(path, 3, cells);
  EXPECT_EQ(read_matrix_file(path, 3), cells);
}

TEST_F(FormatsTest, ReadOnBeyondTheirBuffers) {
  std::vector<float> cells(90000);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = 1.0f / static_cast<float>(i + 1);
  write_grid_file(path, cells);
  EXPECT_EQ(read_grid_file(path, 300, 300), cells);
  const std::string text = read_text(path);
  ASSERT_GT(text.size(), std::size_t{1} << 19);
  write_text(path, text + "x\n");
  EXPECT_TRUE(contains(message_of<UsageError>([&] { read_grid_file(path, 300, 300); }),
                       path + ":90001: expected the end of the file"));
  write_matrix_file(path, 300, cells);
  EXPECT_EQ(read_matrix_file(path, 300), cells);
}

TEST_F(FormatsTest, NameTheLineOfWhatIsWrong) {
  const std::string endless(100000, '7');
  expect_errors(grid_of,
                {{"1\n2\n3\n", 4, "expected 4 numbers (2 rows x 2 cols), the file ends after 3"},
                 {"", 1, "the file ends after 0"},
                 {"1\n2\n3\n4\n5\n", 5, "expected the end of the file after 4 numbers"},
                 {"1\ntwo\n3\n4\n", 2, "expected one number, found 'two'"},
                 {"1\n2 3\n4\n", 2, "expected one number, found '2 3'"},
                 {"1\n2,\n3\n4\n", 2, "found '2,'"},
                 {"1\n0x10\n3\n4\n", 2, "found '0x10'"},
                 {"1\n+-2\n3\n4\n", 2, "found '+-2'"},
                 {"1\n+\n3\n4\n", 2, "found '+'"},
                 {"1\n\n3\n4\n5\n", 2, "found a blank line"},
                 {std::string("1\n\0\1\n3\n4\n", 9), 2,
                  "found '?"
                  "?'"},
                 {"1\nnan\n3\n4\n", 2, "expected a finite number"},
                 {"1\n2\n-inf\n4\n", 3, "expected a finite number"},
                 {"1\n2\n1e39\n4\n", 3, "within fp32's range"},
                 {"1\n" + endless, 2, "more than 256 characters"},
                 {std::string(1 << 20, '\0'), 1, "more than 256 characters"}});
  expect_errors(matrix_of,
                {{"", 1, "the file is empty"},
                 {"three\n", 1, "expected the order"},
                 {"3\n1 2 3\n", 1, "pass n=3"},
                 {"2\n1 2\n3\n", 4, "the file ends after 3"},
                 {"2\n1 2\n3 4\n5\n", 4, "expected the end of the file"},
                 {"2\n1 x\n3 4\n", 2, "found 'x'"},
                 {"2\n1 2\n3 0x4\n", 3, "in row 2, column 2, found '0x4'"},
                 {"2\n1 nan\n3 4\n", 2, "expected a finite number in row 1, column 2, found 'nan'"},
                 {"2\n1 2\ninf 4\n", 3, "expected a finite number in row 2, column 1, found 'inf'"},
                 {"2\n1 1e39\n3 4\n", 2, "within range"},
                 {"2\n" + endless, 2, "more than 256 characters"}});
  expect_errors(keys_of, {{"1\ntwo\n3\n", 2, "expected one integer, found 'two'"},
                          {"1\n2 3\n", 2, "found '2 3'"},
                          {"1\n2.5\n3\n", 2, "found '2.5'"},
                          {"1\n+2\n3\n", 2, "found '+2'"},
                          {"1\n2147483648\n3\n", 2, "expected an integer of 32 bits"},
                          // The rest is what every column is read with.
                          {"1\n2\n", 3, "expected 3 keys, the file ends after 2"}});
  expect_errors(letters_of, {{"AR\nJN\n", 2, "found 'J'"},
                             {"AR ND", 1, "found byte 32"},
                             {">P1\nARND", 1, "found '>'"},
                             {std::string("A\0RN", 4), 1, "found byte 0"},
                             {"AR\n\xc3\xa4", 2, "found byte 195"},
                             {"", 1, "the file ends after 0"},
                             {"AR\nN\n", 3, "expected 4 letters"},
                             {"ARND\nC", 2, "expected the end of the file after 4 letters"}});
  const std::string first = "1\n1 ", faces = "0 1 0 0 0 1 0 0 0 1 0 0 ";
  expect_errors(
      mesh_of,
      {{"", 1, "expected the number of elements, the file is empty"},
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
       {std::string(300, '1'), 1, "more than 256 characters"}});
}

TEST_F(FormatsTest, SayHowManyBytesThereAre) {
  write_text(path, "abc");
  const auto message = [&](std::int64_t count) {
    return message_of<UsageError>([&] { read_byte_keys(path, count); });
  };
  EXPECT_TRUE(contains(message(4), "expected 4 bytes, as many as keys, the file has 3"));
  EXPECT_TRUE(contains(message(2), "expected 2 bytes, as many as keys, the file has more"));
  EXPECT_TRUE(contains(message(std::int64_t{1} << 40), "the file has 3"));
}

TEST_F(FormatsTest, SayWhatCannotBeOpened) {
  const std::string absent = folder / "absent", here = folder.path().string();
  for (const std::function<void(const std::string&)>& of :
       {std::function<void(const std::string&)>(grid_of),
        {matrix_of},
        {keys_of},
        {letters_of},
        {mesh_of}}) {
    EXPECT_TRUE(contains(message_of<UsageError>([&] { of(absent); }), "cannot be opened"));
    EXPECT_TRUE(contains(message_of<UsageError>([&] { of(here); }), "found a directory"));
  }
  const char* const unreadable = "/proc/self/mem";  // opens, but has nothing at its beginning
  if (std::filesystem::exists(unreadable)) {
    EXPECT_TRUE(
        contains(message_of<UsageError>([&] { read_byte_keys(unreadable, 4); }), "reading failed"));
  }
  EXPECT_THROW(write_grid_file(absent + "/x", {1.0f}), UsageError);
  EXPECT_THROW(write_matrix_file(absent + "/x", 1, {1.0f}), UsageError);
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_THROW(write_grid_file("/dev/full", {1.0f}), UsageError);
  }
}

TEST_F(FormatsTest, RefuseHugeSizesWithoutTheMemory) {
  write_text(path, "1\n");
  constexpr std::int64_t huge = std::int64_t{1} << 30;
  EXPECT_THROW(read_grid_file(path, 1024 * huge, 1024 * huge), UsageError);  // it overflows
  EXPECT_THROW(read_grid_file(path, huge, huge), UsageError);
  write_text(path, "1073741824\n1\n");
  EXPECT_THROW(read_matrix_file(path, huge), UsageError);
  write_text(path, "536870912\n1 0 1 0 0");
  EXPECT_TRUE(contains(message_of<UsageError>([&] { read_mesh_file(path, std::int64_t{1} << 29); }),
                       "the file ends"));
}

// An element per line: its area, and neighbour and normal of four faces.
constexpr const char* two_elements =
    "2\n"
    "1.5  2 1 0 0  0 0 1 0  -1 0 0 1  -4 -1 -1 -1\n"
    "0.5  1 -1 0 0  1 0 1e-3 0  0 0 0 1  0 1 2 3\n";

TEST_F(FormatsTest, MeshesNumberNeighboursFromZeroAndTurnNormalsInwards) {
  write_text(path, two_elements);
  const Mesh mesh = read_mesh_file(path, 2);
  EXPECT_EQ(mesh.areas, (std::vector<float>{1.5f, 0.5f}));
  EXPECT_EQ(mesh.neighbours,
            (std::vector<std::int32_t>{1, Mesh::wing, Mesh::far_field, Mesh::far_field, 0, 0,
                                       Mesh::wing, Mesh::wing}));
  EXPECT_EQ(mesh.normals[0], -1);
  EXPECT_EQ(mesh.normals[9], 1);
  EXPECT_EQ(mesh.normals[12 + 4], -1e-3f);
  EXPECT_EQ(mesh.normals.size(), 24u);
}

}  // namespace
}  // namespace amasia::formats

namespace amasia {
namespace {

TEST(CheckedProduct, FitsOrRefuses) {
  EXPECT_EQ(checked_product({3, 5, 7}, "cells"), 105);
  EXPECT_EQ(checked_product({}, "cells"), 1);
  EXPECT_EQ(checked_product({INT64_MAX, 1}, "cells"), INT64_MAX);
  EXPECT_EQ(checked_product({INT64_MAX, INT64_MAX, 0}, "cells"), 0);
  EXPECT_EQ(checked_product({std::int64_t{1} << 31, (std::int64_t{1} << 31) + 1}, "cells"),
            (std::int64_t{1} << 62) + (std::int64_t{1} << 31));
  EXPECT_TRUE(
      contains(message_of<UsageError>([] {
                 checked_product({std::int64_t{1} << 32, std::int64_t{1} << 31}, "grid bytes");
               }),
               "grid bytes: 4294967296 x 2147483648 does not fit in 63 bits"));
  EXPECT_THROW(checked_product({-1, 0}, "cells"), UsageError);
}

/// Whether following next[] from 0 visits every element before it returns to 0.
bool is_full_cycle(const std::vector<std::uint32_t>& next) {
  std::size_t visited = 0;
  std::uint32_t at = 0;
  do {
    at = next.at(at);
    ++visited;
  } while (at != 0 && visited <= next.size());
  return visited == next.size();
}

std::vector<std::uint32_t> scattered_cycle(std::uint32_t count, std::uint64_t key) {
  std::vector<std::uint32_t> next(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    next[scatter(i, count, key)] =
        static_cast<std::uint32_t>(scatter(i + 1 == count ? 0 : i + 1, count, key));
  }
  return next;
}

TEST(Scatter, GivesOneCycleOfEverySize) {
  for (const std::uint32_t count : {1u, 2u, 3u, 31u, 64u, 1000u, 1024u, 65537u}) {
    EXPECT_TRUE(is_full_cycle(scattered_cycle(count, 11))) << count;
  }
  EXPECT_NE(scattered_cycle(1000, 1), scattered_cycle(1000, 2));
  EXPECT_FALSE(is_full_cycle({0, 1}));     // two cycles of one
  EXPECT_FALSE(is_full_cycle({1, 0, 2}));  // one is left out
}

TEST(Scatter, LeavesNoSequenceForAPrefetcher) {
  constexpr std::uint32_t count = 1 << 16;
  std::uint32_t neighbours = 0;
  double distance = 0;
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    const auto a = static_cast<double>(scatter(i, count, 3));
    const auto b = static_cast<double>(scatter(i + 1, count, 3));
    neighbours += std::abs(a - b) <= 4;
    distance += std::abs(a - b) / count;
  }
  EXPECT_LT(neighbours, 40u);                          // 8 of each 65,536 by chance
  EXPECT_NEAR(distance / (count - 1), 1.0 / 3, 0.01);  // as of two independent uniform numbers
}

}  // namespace
}  // namespace amasia
