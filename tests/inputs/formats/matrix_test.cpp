// Rodinia's text format of a matrix, from friendly and hostile files.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "inputs/errors.hpp"
#include "inputs/formats/matrix.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia::formats {
namespace {

class MatrixFile : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "matrix.dat";

  void expect_error(const std::string& text, int line, const std::string& part) const {
    write_text(path, text);
    const std::string message = message_of<UsageError>([&] { read_matrix_file(path, 2); });
    EXPECT_EQ(message.rfind(path + ":" + std::to_string(line) + ": ", 0), 0u) << message;
    EXPECT_TRUE(contains(message, part));
    EXPECT_TRUE(is_one_line(message));
  }
};

TEST_F(MatrixFile, ReadsItsOrderAndThenItsElements) {
  write_text(path, "2\n4 -1 \n+2.5e0 3");
  EXPECT_EQ(read_matrix_file(path, 2), (std::vector<float>{4, -1, 2.5f, 3}));
  write_text(path, "2\r\n\r\n4\t-1\r\n2.5 3 \r\n\n");
  EXPECT_EQ(read_matrix_file(path, 2), (std::vector<float>{4, -1, 2.5f, 3}));
}

TEST_F(MatrixFile, RestoresEveryBitOfWhatItWrote) {
  const std::vector<float> elements = {0.0f, -0.0f, 1.0f / 3, std::numeric_limits<float>::max()};
  write_matrix_file(path, 2, elements);
  EXPECT_EQ(read_matrix_file(path, 2), elements);
}

TEST_F(MatrixFile, NamesTheLineOfWhatIsWrong) {
  expect_error("", 1, "the file is empty");
  expect_error("three\n", 1, "expected the order");
  expect_error("3\n1 2 3\n", 1, "pass n=3");
  expect_error("2\n1 2\n3\n", 4, "the file ends after 3");
  expect_error("2\n1 2\n3 4\n5\n", 4, "expected the end of the file");
  expect_error("2\n1 x\n3 4\n", 2, "found 'x'");
  expect_error("2\n1 2\n3 0x4\n", 3, "in row 2, column 2, found '0x4'");
  expect_error("2\n1 nan\n3 4\n", 2, "expected a finite number in row 1, column 2, found 'nan'");
  expect_error("2\n1 2\ninf 4\n", 3, "expected a finite number in row 2, column 1, found 'inf'");
  expect_error("2\n1 1e39\n3 4\n", 2, "within range");
  expect_error("2\n" + std::string(100000, '7'), 2, "more than 256 characters");
}

TEST_F(MatrixFile, SaysWhatCannotBeOpened) {
  EXPECT_TRUE(contains(message_of<UsageError>([&] { read_matrix_file(folder / "absent", 1); }),
                       "cannot be opened"));
  EXPECT_TRUE(contains(message_of<UsageError>([&] { read_matrix_file(folder.path().string(), 1); }),
                       "directory"));
  EXPECT_THROW(write_matrix_file(folder / "absent/x", 1, {1.0f}), UsageError);
  write_text(path, "1073741824\n1\n");  // a huge size costs no memory before the numbers are there
  EXPECT_THROW(read_matrix_file(path, std::int64_t{1} << 30), UsageError);
}

}  // namespace
}  // namespace amasia::formats
