#include <fcntl.h>

#include <thread>

#include "harness/errors.hpp"
#include "harness/text/file.hpp"
#include "harness/text/json_file.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"
#include "harness/text/table.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

// A child process that kept a result file open would keep its lock as well.
TEST(OpenFile, IsNotInheritedByChildProcesses) {
  const TemporaryFolder folder;
  const OpenFile file(folder / "file", O_WRONLY | O_CREAT);
  EXPECT_NE(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(DestinationOf, FollowsLinksAndKnowsWhatIsNoFile) {
  TemporaryFolder folder;
  const auto at = [&](const char* name) { return destination_of(folder / name); };
  EXPECT_EQ(at("new").path, folder / "new");
  EXPECT_FALSE(at("new").special);
  fs::create_symlink("new", folder / "link");
  fs::create_symlink(folder / "link", folder / "link-to-link");
  EXPECT_EQ(at("link").path, folder / "new");  // though it is not there
  EXPECT_EQ(at("link-to-link").path, folder / "new");
  fs::create_symlink("circle", folder / "circle");
  at("circle");  // comes to an end
  fs::create_directory(folder / "folder");
  EXPECT_FALSE(at("folder").special);
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(at("fifo").special);
  fs::create_symlink("fifo", folder / "link-to-fifo");
  EXPECT_TRUE(at("link-to-fifo").special);
  EXPECT_TRUE(destination_of("/dev/null").special);
  fs::create_symlink("/proc/self/fd/1", folder / "stdout");  // as /dev/stdout, where there is one
  EXPECT_TRUE(at("stdout").special);
  EXPECT_TRUE(destination_of("/proc/self/fd/1").special);
  fs::create_directory_symlink("/proc/self/fd", folder / "fd");
  fs::create_symlink("fd/1", folder / "stdout-by-fd");  // as it is in some roots
  EXPECT_TRUE(at("stdout-by-fd").special);
  for (const char* name : {"new", "link", "folder", "fifo"}) EXPECT_FALSE(at(name).mounted);
}

TEST(WriteTextFile, ManyAtATimeLeaveOneOfTheirs) {
  TemporaryFolder folder;
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'i'; ++c) {
    writers.emplace_back([&, c] {
      for (int i = 0; i < 20; ++i) write_text_file(folder / "x", std::string(10000, c));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = read_text(folder / "x");
  EXPECT_EQ(text, std::string(10000, text.at(0)));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

using Json = nlohmann::ordered_json;

TEST(ReadJsonFile, TakesAByteOrderMarkAndNamesUtf16) {
  const TemporaryFolder folder;
  const std::string path = folder / "run.json";
  write_text(path, "\xef\xbb\xbf{\"a\": 1}\n");
  EXPECT_EQ(read_json_file(path), Json::parse(R"({"a": 1})"));
  for (const char* mark : {"\xff\xfe", "\xfe\xff"}) {
    write_text(path, mark + std::string("{\0}\0", 4));
    EXPECT_EQ(message_of<ResultError>([&] { read_json_file(path); }),
              path + ": expected JSON text in UTF-8, found UTF-16: convert it");
  }
}

TEST(ReadJsonFile, WaitsForNobodyAndReadsAPipeToItsEnd) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe.json";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(
      contains(message_of<ResultError>([&] { read_json_file(path); }), path + ": expected"));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "[1]", 3), 3);
  ::close(ends[1]);
  EXPECT_EQ(read_json_file("/proc/self/fd/" + std::to_string(ends[0])), Json::parse("[1]"));
  ::close(ends[0]);
}

TEST(ParseJson, SaysWhereItStoppedUnderstanding) {
  const auto message = [](const std::string& text) {
    return message_of<ResultError>([&] { parse_json(text, "run.json"); });
  };
  for (const auto& [text, where] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", "run.json: expected JSON, found nothing"},
           {" \n", "run.json: expected JSON, found nothing"},
           {"{\n \"a\": 1,\n \"b\": }\n", "run.json:3:7: "},
           {"[1, 2", "run.json:1:"},
           {std::string("{}\0", 3), "run.json:1:3: expected JSON, found a zero byte"},
           {"[1e999]", "run.json: "},
       }) {
    EXPECT_TRUE(contains(message(text), where));
    EXPECT_TRUE(is_one_line(message(text)));
    EXPECT_FALSE(contains(message(text), "json.exception"));
  }
}

TEST(ParseJson, RefusesMoreLevelsThanAFileHas) {
  const auto nested = [](int levels) {
    return std::string(levels, '[') + "\"[{\\\"[[\"" + std::string(levels, ']');
  };
  EXPECT_NO_THROW(parse_json(nested(64), "a.json"));
  EXPECT_EQ(message_of<ResultError>([&] { parse_json(nested(65), "a.json"); }),
            "a.json:1:65: expected at most 64 levels of arrays and objects");
  EXPECT_NO_THROW(parse_json("[" + nested(3) + "," + std::string(200, ' ') + nested(60) + "]", ""));
  EXPECT_THROW(check_nesting(std::string(1000, '{')), ResultError);
}

TEST(WriteTextFile, LeavesTheOldFileWhenItFails) {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  const std::string message = [&] {
    const FileSizeLimit disk_full(0);
    return message_of<ResultError>([&] { write_text_file(folder / "file", "new"); });
  }();
  EXPECT_TRUE(contains(message, folder / "file: cannot be written: "));
  EXPECT_EQ(read_text(folder / "file"), "old");

  EXPECT_THROW(write_text_file(folder / "absent/file", "new"), ResultError);
}

using Names = std::vector<std::string>;

TEST(Suggestion, NamesTheNearOrAllThatIsValid) {
  EXPECT_EQ(suggestion("overlpa", {"overlap", "tma"}), "did you mean overlap?");
  EXPECT_EQ(suggestion("tmc", {"tmab", "tma", "tmb", "tmd"}), "did you mean tma or tmb or tmd?");
  EXPECT_EQ(suggestion("zzzz", {"overlap", "tma"}), "valid: overlap, tma");
  EXPECT_EQ(suggestion("x", {}), "there are none");
  const std::string cut = suggestion("????????????", Names(20, "name"));
  EXPECT_EQ(cut.substr(cut.size() - 5), ", ...");
}

/// What bash makes of a command: its words, with a bar behind each.
std::string words_of(const std::string& command) {
  const TemporaryFolder folder;
  write_text(folder / "script", "printf '%s|' " + command + " > words\n");
  const std::string run = "cd '" + folder.path().string() + "' && bash script";
  return std::system(run.c_str()) == 0 ? read_text(folder / "words") : "";
}

TEST(InShell, IsTakenByAShellAsItWasMeant) {
  const std::vector<std::string> words{"$(echo no)", "a b",   "it's", "~/x",    "a\\b",
                                       "`x`;&|<>",   "#x",    "*",    "",       "two\nlines",
                                       "{1,2}",      "zwölf", "!x",   "\x01'\\"};
  std::string expected;
  for (const std::string& word : words) expected += word + '|';
  EXPECT_EQ(words_of(in_shell(words)), expected);
}

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("- ", "one two three", 2, 9), "- one two\n  three\n");
  EXPECT_EQ(wrapped("", "one two", 0, 7), "one two\n") << "the last column is used";
  EXPECT_EQ(wrapped("", "one two", 0, 6), "one\ntwo\n");
  EXPECT_EQ(wrapped("name  ", "", 2, 20), "name\n");
}

TEST(Wrapped, NoLineIsLongerThanAsked) {
  const std::string word(57, 'x');
  for (std::size_t columns = 8; columns < 70; ++columns) {
    std::istringstream lines(
        wrapped("  key   ", "a " + word + " b \u00e4\u00f6\u00fc " + word, 4, columns));
    std::string line, letters;
    while (std::getline(lines, line)) {
      EXPECT_LE(columns_of(line), columns) << line;
      for (const char c : line) letters += c == 'x' ? "x" : "";
    }
    EXPECT_EQ(letters.size(), 2 * word.size()) << "nothing is lost at " << columns;
  }
}

// What becomes of streams that are closed, full or gone: tests/cli/test_stub.py.

TEST(Csv, ReadsQuotesCommentsAndEmptyFields) {
  const CsvTable t = parse_csv("# a, b\na,b\n1,\"x, \"\"y\"\"\"\n,\n", "t");
  EXPECT_EQ(t.columns, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[0][1], "x, \"y\"");
  EXPECT_EQ(t.rows[1][0], "");
  EXPECT_THROW(parse_csv("a,b\n1\n", "t"), ResultError);
  EXPECT_THROW(parse_csv("a,b\n\"1,2\n", "t"), ResultError);
  EXPECT_THROW(t.column("c"), ResultError);
}

}  // namespace
}  // namespace amasia
