// Rodinia's text format of a grid, from friendly and hostile files.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "inputs/errors.hpp"
#include "inputs/formats/grid.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia::formats {
namespace {

class GridFile : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "grid.txt";

  void write(const std::string& text) const { write_text(path, text); }
  std::string error_of(const std::string& text) const {
    write(text);
    return message_of<UsageError>([&] { read_grid_file(path, 2, 2); });
  }
  void expect_error(const std::string& text, int line, const std::string& part) const {
    const std::string message = error_of(text);
    EXPECT_EQ(message.rfind(path + ":" + std::to_string(line) + ": ", 0), 0u) << message;
    EXPECT_TRUE(contains(message, part));
    EXPECT_TRUE(is_one_line(message));
  }
};

TEST_F(GridFile, ReadsOneNumberPerLine) {
  write("1\n2.5\n-3e2\n+4\n");
  EXPECT_EQ(read_grid_file(path, 2, 2), (std::vector<float>{1, 2.5f, -300, 4}));
}

TEST_F(GridFile, AcceptsCarriageReturnsBlanksAndAMissingOrExtraLastNewline) {
  write("1\r\n 2\t\r\n3\r\n4");
  EXPECT_EQ(read_grid_file(path, 2, 2), (std::vector<float>{1, 2, 3, 4}));
  write("1\n2\n3\n4\n\n \n");
  EXPECT_EQ(read_grid_file(path, 2, 2), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(GridFile, RestoresEveryBitOfWhatItWrote) {
  std::vector<float> cells = {0.0f,
                              -0.0f,
                              323.456789f,
                              1.0f / 3,
                              1e-30f,
                              3.4e38f,
                              std::numeric_limits<float>::min(),
                              std::nextafter(80.0f, 81.0f)};
  write_grid_file(path, cells);
  EXPECT_EQ(read_grid_file(path, 2, 4), cells);
  EXPECT_TRUE(std::signbit(read_grid_file(path, 4, 2)[1]));
}

TEST_F(GridFile, NamesTheLineOfATruncatedFile) {
  expect_error("1\n2\n3\n", 4, "the file ends after 3");
  expect_error("1\n2\n3\n", 4, "expected 4 numbers (2 rows x 2 cols)");
  expect_error("", 1, "the file ends after 0");
}

TEST_F(GridFile, NamesTheLineOfASurplusNumber) {
  expect_error("1\n2\n3\n4\n5\n", 5, "expected the end of the file after 4 numbers");
}

TEST_F(GridFile, NamesTheLineThatIsNoNumber) {
  expect_error("1\ntwo\n3\n4\n", 2, "expected one number, found 'two'");
  expect_error("1\n2 3\n4\n", 2, "expected one number, found '2 3'");
  expect_error("1\n2,\n3\n4\n", 2, "found '2,'");
  expect_error("1\n0x10\n3\n4\n", 2, "found '0x10'");
  expect_error("1\n+-2\n3\n4\n", 2, "found '+-2'");
  expect_error("1\n+\n3\n4\n", 2, "found '+'");
  expect_error("1\n\n3\n4\n5\n", 2, "found a blank line");
  expect_error(std::string("1\n\0\1\n3\n4\n", 9), 2,
               "found '?"
               "?'");
}

TEST_F(GridFile, RefusesWhatIsNotFinite) {
  expect_error("1\nnan\n3\n4\n", 2, "expected a finite number");
  expect_error("1\n2\n-inf\n4\n", 3, "expected a finite number");
  expect_error("1\n2\n1e39\n4\n", 3, "within fp32's range");
}

TEST_F(GridFile, RefusesALineWithoutEnd) {
  expect_error("1\n" + std::string(100000, '7'), 2, "more than 256 characters");
  expect_error(std::string(1 << 20, '\0'), 1, "more than 256 characters");
}

TEST_F(GridFile, SaysWhatCannotBeOpened) {
  const auto message = [](const std::string& file) {
    return message_of<UsageError>([&] { read_grid_file(file, 1, 1); });
  };
  EXPECT_TRUE(contains(message(folder / "absent"), "cannot be opened"));
  EXPECT_TRUE(contains(message(folder.path().string()), "found a directory"));
  EXPECT_THROW(write_grid_file(folder / "absent/x", {1.0f}), UsageError);
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_THROW(write_grid_file("/dev/full", {1.0f}), UsageError);
  }
}

TEST_F(GridFile, RefusesASizeThatOverflows) {
  write("1\n");
  EXPECT_THROW(read_grid_file(path, std::int64_t{1} << 40, std::int64_t{1} << 40), UsageError);
  // A huge size costs no memory before the numbers are there.
  EXPECT_THROW(read_grid_file(path, std::int64_t{1} << 30, std::int64_t{1} << 30), UsageError);
}

}  // namespace
}  // namespace amasia::formats
