#include "harness/results/envelope.hpp"

#include <gtest/gtest.h>

#include "harness/conclusions/recomputed.hpp"
#include "harness/results/result.hpp"
#include "harness/text/gzip.hpp"
#include "harness/text/json_file.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

const Json document = {
    {"ceilings", Json::array()},
    {"groups", {{{"key", 1}, {"rows", {{{"a", "x\n"}}, {{"a", 2}}}}, {"w", 0}}}}};

TEST(Sealed, IsALineForEachRow) {
  EXPECT_EQ(sealed("amasia-test", 3, document),
            "{\"schema\":\"amasia-test\",\"version\":3,\"digest\":\"" +
                digest_of("\"ceilings\":[],\n\"groups\":[\n{\"key\":1,\"rows\":[\n{\"a\":\"x\\n\"},"
                          "\n{\"a\":2}],\"w\":0}]\n}\n") +
                "\",\n\"ceilings\":[],\n\"groups\":[\n{\"key\":1,\"rows\":[\n{\"a\":\"x\\n\"},\n"
                "{\"a\":2}],\"w\":0}]\n}\n");
  EXPECT_EQ(digest_of(""),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sealed, LinesOfAJournalShowAnyChange) {
  const std::string line = sealed_line({{"group", {{"a", 1.5}}}});
  const std::string whole = line.substr(0, line.size() - 1);
  EXPECT_TRUE(is_whole_line(whole));
  EXPECT_EQ(Json::parse(whole)["group"]["a"], 1.5);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = changed[i] == '7' ? '8' : '7';
    EXPECT_FALSE(is_whole_line(changed)) << i;
    EXPECT_FALSE(is_whole_line(whole.substr(0, i))) << i;
  }
}

TEST(BadFiles, AreRefusedInOneLine) {
  const std::string text = to_text(sample_results());
  const std::string packed = gzip(text);
  const auto with = [&](const char* what, const char* other) {
    std::string changed = text;
    changed.replace(changed.find(what), std::string_view(what).size(), other);
    return changed;
  };
  std::string flipped = packed;
  flipped[packed.size() / 2] = static_cast<char>(flipped[packed.size() / 2] ^ 1);
  const struct Case {
    std::string bytes, error;
  } cases[] = {
      {with("\"version\":5", "\"version\":4"),
       "is a result file of format 4, which Amasia 0.1.0 reads (tag v0.1.0); this program reads 5"},
      {"{\"schema\": \"amasia-result\", \"version\": 1}", "is a result file of format 1, which"},
      {with("\"version\":5", "\"version\":6"),
       "version: 6 is newer than this program, which reads 5: read the file with the version of "
       "Amasia that wrote it, or a later one"},
      {with("\"version\":5", "\"version\":0"), "version: expected 5, found 0"},
      {with("\"version\":5", "\"version\":2.5"), "version: expected an integer, found 2.5"},
      {with("amasia-result", "other"), "schema: expected \"amasia-result\", found \"other\""},
      {"{\"benchmarks\": []}", "schema: is missing"},
      {"[1]", "the document: expected an object, found an array"},
      {with("NVIDIA H200", "NVIDIA H100"), "digest: expected sha256:"},
      {with(",\n\"provenance\"", ", \"provenance\""), "the file was changed or damaged after"},
      {text.substr(0, text.size() / 2), "found.json:"},
      {packed.substr(0, packed.size() / 2), "ends in the middle of its gzip data"},
      {packed.substr(0, packed.size() - 1), "ends in the middle of its gzip data"},
      {packed + packed, "has more data after its gzip stream"},
      {packed + "x", "has more data after its gzip stream"},
      {"\x1f\x8b more", "is no whole gzip file"},
      {flipped, "is no whole gzip file"},
      {gzip("{}"), "schema: is missing"},
      {"\xff\xfe{", "found.json:1:1: "},
      {std::string(1000000, '[') + std::string(1000000, ']'), "at most 64 levels"},
      {"", "found.json:1:1: "}};
  const TemporaryFolder folder;
  const std::string path = folder / "found.json";
  for (const Case& c : cases) {
    write_text(path, c.bytes);
    const std::string error = message_of<ResultError>([&] { read_result_file(path); });
    EXPECT_TRUE(is_one_line(error)) << error;
    EXPECT_TRUE(contains(error, path + ":"));
    EXPECT_TRUE(contains(error, c.error));
  }
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_result_file(folder / "none.json"); }),
                       "none.json: cannot be read: No such file"));
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_result_file(folder.path().string()); }),
                       "is a directory"));
}

TEST(Gzip, StopsAtItsBoundAndAtTheLinesAskedFor) {
  const std::string zeros(std::size_t{1} << 22, '0');  // a bomb: 4 KiB that unpack to 4 MiB
  const std::string packed = gzip(zeros);
  EXPECT_LT(packed.size(), zeros.size() / 500);
  EXPECT_EQ(gunzip(packed, zeros.size()), zeros);
  EXPECT_TRUE(contains(message_of<ResultError>([&] { gunzip(packed, std::size_t{1} << 21); }),
                       "unpacks to more than 2 MiB"));
  const std::string text = "one\ntwo\n" + zeros;
  EXPECT_TRUE(gunzip(gzip(text), 1 << 20, 2).starts_with("one\ntwo\n"));
  EXPECT_EQ(gzip(text), gzip(text));
  EXPECT_EQ(gzip(text).substr(4, 4), std::string(4, '\0'));  // no time stamp
}

TEST(FirstLines, AreAllThereIsWhereThereAreFewer) {
  const TemporaryFolder folder;
  write_text(folder / "a", "1\n2\n3\n");
  EXPECT_EQ(read_first_lines(folder / "a", 2), "1\n2\n");
  EXPECT_EQ(read_first_lines(folder / "a", 9), "1\n2\n3\n");
  write_packed_file(folder / "a.gz", "1\n2\n3\n");
  EXPECT_EQ(read_first_lines(folder / "a.gz", 2), "1\n2\n");
}

}  // namespace
}  // namespace amasia
