// What all text formats are read and written with, on friendly and hostile files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "inputs/errors.hpp"
#include "inputs/formats/text_reader.hpp"
#include "inputs/formats/text_writer.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia::formats {
namespace {

constexpr std::size_t longest = TextReader::longest;

class TextReaderTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "text";

  using Lines = std::vector<std::pair<std::int64_t, std::string>>;
  Lines lines_of(const std::string& text) const {
    write_text(path, text);
    TextReader file(path, "of lines");
    Lines all;
    while (const auto line = file.line("one line")) all.emplace_back(line->number, line->text);
    EXPECT_EQ(file.line_number(), static_cast<std::int64_t>(all.size()) + 1);
    return all;
  }
  Lines words_of(const std::string& text) const {
    write_text(path, text);
    TextReader file(path, "of words");
    Lines all;
    while (const auto word = file.word("a word")) all.emplace_back(file.line_number(), *word);
    return all;
  }
  std::string error_of(const std::string& text) const {
    write_text(path, text);
    TextReader file(path, "of lines");
    return message_of<UsageError>([&] {
      while (file.line("one number")) {
      }
    });
  }
};

TEST_F(TextReaderTest, HandsOutLinesAndWordsWithTheirLine) {
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("\n"), (Lines{{1, ""}}));
  EXPECT_EQ(lines_of("a\n\nb c\n"), (Lines{{1, "a"}, {2, ""}, {3, "b c"}}));
  EXPECT_EQ(lines_of("a\nb"), (Lines{{1, "a"}, {2, "b"}}));
  EXPECT_EQ(lines_of("a\r\nb\r\n"), (Lines{{1, "a\r"}, {2, "b\r"}}));  // trimmed() takes it off
  EXPECT_EQ(lines_of(std::string("a\0b\n", 4)), (Lines{{1, std::string("a\0b", 3)}}));
  EXPECT_EQ(words_of(" \n\t\r\n"), Lines{});
  EXPECT_EQ(words_of("a  b\tc\r\n\n\r\n d\n"), (Lines{{1, "a"}, {1, "b"}, {1, "c"}, {4, "d"}}));
  EXPECT_EQ(words_of("a\nb"), (Lines{{1, "a"}, {2, "b"}}));
  EXPECT_EQ(words_of(std::string("\0 a", 3)), (Lines{{1, std::string(1, '\0')}, {1, "a"}}));
  for (const auto& [text, rest] : {std::pair{" \ta b\t \r", "a b"}, {"\r", ""}, {"", ""}}) {
    EXPECT_EQ(trimmed(text), rest);
  }
}

TEST_F(TextReaderTest, HandsOutEveryByteAndCountsLines) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  write_text(path, all);
  TextReader file(path, "of bytes");
  for (int c = 0; c < 256; ++c) {
    EXPECT_EQ(file.line_number(), c <= '\n' ? 1 : 2);
    EXPECT_EQ(file.byte(), c);
  }
  EXPECT_EQ(file.byte(), std::nullopt);
  EXPECT_EQ(file.byte(), std::nullopt);
}

TEST_F(TextReaderTest, ReadsOnBeyondItsBuffer) {
  // Lines and words that lie across what is read at once, 64 KiB, wherever that cuts them.
  Lines expected;
  std::string text;
  for (std::int64_t number = 1; text.size() < 300000; ++number) {
    expected.emplace_back(number, std::string(static_cast<std::size_t>(number % 200) + 1, 'x'));
    text += expected.back().second + "\n";
  }
  EXPECT_EQ(lines_of(text), expected);
  EXPECT_EQ(words_of(text), expected);
}

TEST_F(TextReaderTest, RefusesALineOrWordWithoutEndAndNamesItsPlace) {
  EXPECT_EQ(lines_of(std::string(longest, '7') + "\n").size(), 1u);
  EXPECT_EQ(error_of("1\n" + std::string(longest + 1, '7') + "\n"),
            path + ":2: expected one number, found a line of more than 256 characters");
  EXPECT_EQ(error_of(std::string(1 << 20, '\0')),
            path + ":1: expected one number, found a line of more than 256 characters");
  EXPECT_EQ(words_of(std::string(longest, '7')).size(), 1u);
  write_text(path, "1 2\n" + std::string(longest + 1, '7'));
  TextReader file(path, "of words");
  file.word("a number");
  file.word("a number");
  EXPECT_EQ(message_of<UsageError>([&] { file.fail("expected c"); }), path + ":1: expected c");
  EXPECT_EQ(message_of<UsageError>([&] { file.fail(7, "expected c"); }), path + ":7: expected c");
  EXPECT_EQ(message_of<UsageError>([&] { file.fail_file("expected c"); }), path + ": expected c");
  EXPECT_EQ(message_of<UsageError>([&] { file.word("a number"); }),
            path + ":2: expected a number, found a word of more than 256 characters");
}

TEST_F(TextReaderTest, SaysWhatCannotBeOpenedOrRead) {
  const auto message = [](const std::string& file) {
    return message_of<UsageError>([&] { TextReader(file, "of numbers"); });
  };
  EXPECT_EQ(message(folder / "absent"), folder / "absent: cannot be opened for reading");
  const std::string here = folder.path().string();
  EXPECT_EQ(message(here), here + ": expected a file of numbers, found a directory");
  const char* const unreadable = "/proc/self/mem";  // opens, but has nothing at its beginning
  if (std::filesystem::exists(unreadable)) {
    TextReader file(unreadable, "of numbers");
    EXPECT_EQ(message_of<UsageError>([&] { file.byte(); }),
              std::string(unreadable) + ": reading failed");
  }
}

TEST_F(TextReaderTest, SaysThatAFileMayNotBeRead) {
  write_text(path, "1\n");
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(path, std::filesystem::perms::none);
  constexpr ::uid_t root = 0, nobody = 65534;
  const bool is_root = ::geteuid() == root;  // who may read every file
  if (is_root) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  const std::string message = message_of<UsageError>([&] { TextReader(path, "of numbers"); });
  if (is_root) {
    ASSERT_EQ(::seteuid(root), 0);
  }
  EXPECT_EQ(message, path + ": cannot be opened for reading");
}

TEST_F(TextReaderTest, ReadsAColumnOfJustSoManyValues) {
  const auto read = [&](const std::string& text) {
    write_text(path, text);
    TextReader file(path, "of letters");
    const Column column{2, "2 letters", "one letter", "a letter"};
    return read_column<char>(file, column, [&](std::string_view letter, std::int64_t line) {
      if (letter.size() > 1) file.fail(line, "expected one letter");
      return letter[0];
    });
  };
  const auto error = [&](const std::string& text) {
    return message_of<UsageError>([&] { read(text); }).substr(path.size());
  };
  EXPECT_EQ(read("a\r\n b \n\n\t\n"), (std::vector<char>{'a', 'b'}));
  EXPECT_EQ(error("a\n"), ":2: expected 2 letters, the file ends after 1");
  EXPECT_EQ(error("a"), ":2: expected 2 letters, the file ends after 1");
  EXPECT_EQ(error("a\n\n\nb\n"), ":2: expected a letter, found a blank line");
  EXPECT_EQ(error("a\nb\n\nc\n"), ":3: expected a letter, found a blank line");
  EXPECT_EQ(error("a\nb\nc\n"), ":3: expected the end of the file after 2 letters");
  EXPECT_EQ(error("a\nbb\n"), ":2: expected one letter");
}

TEST(InQuotes, ShowsWhatATerminalCanPrint) {
  EXPECT_EQ(in_quotes("a b"), "'a b'");
  EXPECT_EQ(in_quotes(std::string("\0\x1b[31m\x7f\xff", 8)), std::string("'??[31m") + "?" + "?'");
  EXPECT_EQ(in_quotes(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
}

TEST(ParseNumber, TakesAllOfTheTextWithinTheTypesRange) {
  EXPECT_EQ(parse_number<int>("-12").value, -12);
  EXPECT_EQ(parse_number<int>("-12").error, std::errc{});
  EXPECT_EQ(parse_number<int>("+7").value, 7);
  EXPECT_EQ(parse_number<std::int32_t>("2147483647").value, 2147483647);
  EXPECT_EQ(parse_number<float>("2.5e-1").value, 0.25f);
  EXPECT_TRUE(std::isnan(parse_number<float>("nan").value));
  constexpr auto wrong = std::errc::invalid_argument, beyond = std::errc::result_out_of_range;
  for (const char* text : {"", "+", "-", "1 ", " 1", "1x", "0x1", "1.5", "--1", "+-1", "++1"}) {
    EXPECT_EQ(parse_number<int>(text).error, wrong) << text;
  }
  EXPECT_EQ(parse_number<int>("+7", LeadingPlus::refused).error, wrong);
  EXPECT_EQ(parse_number<float>("1,5").error, wrong);
  EXPECT_EQ(parse_number<std::int32_t>("2147483648").error, beyond);
  EXPECT_EQ(parse_number<float>("1e39").error, beyond);
}

TEST(TextWriterTest, WritesNumbersThatRestoreEveryBit) {
  const TemporaryFolder folder;
  TextWriter file(folder / "numbers");
  file.number(std::int64_t{-3}, ' ');
  file.number(1.0f / 3, '\n');
  file.finish();
  EXPECT_EQ(read_text(folder / "numbers"), "-3 0.333333343\n");
}

TEST(TextWriterTest, SaysWhatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<UsageError>([&] { TextWriter(folder / "absent/x"); }),
            folder / "absent/x: cannot be opened for writing");
  if (std::filesystem::exists("/dev/full")) {
    TextWriter file("/dev/full");
    file.number(1.0f, '\n');  // in the buffer: the disk is met at the end
    EXPECT_EQ(message_of<UsageError>([&] { file.finish(); }),
              "/dev/full: writing failed (is the disk full?)");
  }
}

}  // namespace
}  // namespace amasia::formats
