// The formats of input files, from friendly and hostile ones.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "inputs/errors.hpp"
#include "inputs/formats/grid.hpp"
#include "inputs/formats/keys.hpp"
#include "inputs/formats/matrix.hpp"
#include "inputs/formats/sequences.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia::formats {
namespace {

// Of amino acids, as nw reads it.
constexpr const char* amino_acids = "ARNDCQEGHILKMFPSTWYVBZX*";

/// A reader by what it reads: four numbers of a grid or matrix, three keys, four letters.
std::vector<float> grid_of(const std::string& path) { return read_grid_file(path, 2, 2); }
std::vector<float> matrix_of(const std::string& path) { return read_matrix_file(path, 2); }
std::vector<std::int32_t> keys_of(const std::string& path) { return read_text_keys(path, 3); }
std::vector<signed char> letters_of(const std::string& path) {
  return read_sequence_file(path, amino_acids, 4);
}

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
                          {"1\n\n3\n", 2, "found a blank line"},
                          {"1\n2\n", 3, "expected 3 keys, the file ends after 2"},
                          {"", 1, "the file ends after 0"},
                          {"1\n2\n3\n4\n", 4, "expected the end of the file after 3 keys"},
                          {"1\n" + endless, 2, "more than 256 characters"}});
  expect_errors(letters_of, {{"AR\nJN\n", 2, "found 'J'"},
                             {"AR ND", 1, "found byte 32"},
                             {">P1\nARND", 1, "found '>'"},
                             {std::string("A\0RN", 4), 1, "found byte 0"},
                             {"AR\n\xc3\xa4", 2, "found byte 195"},
                             {"", 1, "the file ends after 0"},
                             {"AR\nN\n", 3, "expected 4 letters"},
                             {"ARND\nC", 2, "expected the end of the file after 4 letters"}});
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
       {std::function<void(const std::string&)>(grid_of), {matrix_of}, {keys_of}, {letters_of}}) {
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
}

}  // namespace
}  // namespace amasia::formats
