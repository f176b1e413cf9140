// Key files, from friendly and hostile ones.
#include <gtest/gtest.h>

#include <string>

#include "inputs/errors.hpp"
#include "inputs/formats/keys.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia::formats {
namespace {

class KeyFile : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "keys";

  void write(const std::string& text) const { write_text(path, text); }
  void expect_error(const std::string& text, int line, const std::string& part) const {
    write(text);
    const std::string message = message_of<UsageError>([&] { read_text_keys(path, 3); });
    EXPECT_EQ(message.rfind(path + ":" + std::to_string(line) + ": ", 0), 0u) << message;
    EXPECT_TRUE(contains(message, part));
    EXPECT_TRUE(is_one_line(message));
  }
};

TEST_F(KeyFile, ReadsOneIntegerPerLine) {
  write("1\r\n -2147483648\t\n2147483647\n\n \n");
  EXPECT_EQ(read_text_keys(path, 3), (std::vector<std::int32_t>{1, -2147483647 - 1, 2147483647}));
  write("1\n2\n3");
  EXPECT_EQ(read_text_keys(path, 3), (std::vector<std::int32_t>{1, 2, 3}));
}

TEST_F(KeyFile, ReadsTheBytesOfAnyFile) {
  write(std::string("a\0\xff\n", 4));
  EXPECT_EQ(read_byte_keys(path, 4), (std::vector<std::int32_t>{97, 0, 255, 10}));
}

TEST_F(KeyFile, NamesTheLineThatIsNoKey) {
  expect_error("1\ntwo\n3\n", 2, "expected one integer, found 'two'");
  expect_error("1\n2 3\n", 2, "found '2 3'");
  expect_error("1\n2.5\n3\n", 2, "found '2.5'");
  expect_error("1\n+2\n3\n", 2, "found '+2'");
  expect_error("1\n2147483648\n3\n", 2, "expected an integer of 32 bits");
  expect_error("1\n\n3\n", 2, "found a blank line");
  expect_error("1\n2\n", 3, "expected 3 keys, the file ends after 2");
  expect_error("", 1, "the file ends after 0");
  expect_error("1\n2\n3\n4\n", 4, "expected the end of the file after 3 keys");
  expect_error("1\n" + std::string(100000, '7'), 2, "more than 256 characters");
}

TEST_F(KeyFile, SaysHowManyBytesThereAre) {
  const auto message = [&](std::int64_t count) {
    return message_of<UsageError>([&] { read_byte_keys(path, count); });
  };
  write("abc");
  EXPECT_TRUE(contains(message(4), "expected 4 bytes, as many as keys, the file has 3"));
  EXPECT_TRUE(contains(message(2), "expected 2 bytes, as many as keys, the file has more"));
  // A huge count costs no memory before the keys are there.
  EXPECT_TRUE(contains(message(std::int64_t{1} << 40), "the file has 3"));
}

TEST_F(KeyFile, SaysWhatCannotBeOpened) {
  const auto message = [](const std::string& file) {
    return message_of<UsageError>([&] { read_text_keys(file, 1); });
  };
  EXPECT_TRUE(contains(message(folder / "absent"), "cannot be opened"));
  EXPECT_TRUE(contains(message(folder.path().string()), "found a directory"));
}

}  // namespace
}  // namespace amasia::formats
