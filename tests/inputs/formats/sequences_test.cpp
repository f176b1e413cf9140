// Sequence files, friendly and hostile.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "inputs/errors.hpp"
#include "inputs/formats/sequences.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia::formats {
namespace {

// Of amino acids, as nw reads it.
constexpr std::string_view alphabet = "ARNDCQEGHILKMFPSTWYVBZX*";

class SequenceFile : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "sequence.txt";

  void expect_error(const std::string& text, int line, const std::string& part) const {
    write_text(path, text);
    const std::string message =
        message_of<UsageError>([&] { read_sequence_file(path, alphabet, 4); });
    EXPECT_EQ(message.rfind(path + ":" + std::to_string(line) + ": ", 0), 0u) << message;
    EXPECT_TRUE(contains(message, part)) << message;
    EXPECT_TRUE(is_one_line(message));
  }
};

TEST_F(SequenceFile, ReadsLettersAcrossLines) {
  write_text(path, "AR\r\nn*\n\n");
  EXPECT_EQ(read_sequence_file(path, alphabet, 4), (std::vector<signed char>{0, 1, 2, 23}));
}

TEST_F(SequenceFile, NamesTheLineOfAForeignCharacter) {
  expect_error("AR\nJN\n", 2, "found 'J'");
  expect_error("AR ND", 1, "found byte 32");
  expect_error(">P1\nARND", 1, "found '>'");
  expect_error(std::string("A\0RN", 4), 1, "found byte 0");
  expect_error("AR\n\xc3\xa4", 2, "found byte 195");
}

TEST_F(SequenceFile, NamesWhatIsMissingOrTooMuch) {
  expect_error("", 1, "the file ends after 0");
  expect_error("AR\nN\n", 3, "expected 4 letters");
  expect_error("ARND\nC", 2, "expected the end of the file after 4 letters");
}

TEST_F(SequenceFile, SaysWhatCannotBeOpened) {
  EXPECT_TRUE(
      contains(message_of<UsageError>([&] { read_sequence_file(folder / "absent", alphabet, 1); }),
               "cannot be opened"));
  EXPECT_TRUE(contains(
      message_of<UsageError>([&] { read_sequence_file(folder.path().string(), alphabet, 1); }),
      "found a directory"));
}

}  // namespace
}  // namespace amasia::formats
