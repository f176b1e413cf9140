#include "harness/cli/result_files.hpp"

#include <gtest/gtest.h>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

std::string said_of(const std::vector<std::string>& paths) {
  testing::internal::CaptureStderr();
  const std::size_t files = read_result_files(paths).size();
  EXPECT_EQ(files, paths.size());
  return testing::internal::GetCapturedStderr();
}

TEST(ReadResultFiles, SaysOnceWhichHaveNoDigest) {
  TemporaryFolder folder;
  ResultFile exact = sample_results();
  for (GroupResult& group : exact.groups) {
    group.interval_rule.reset();
    for (Row& row : group.rows) row.repeat_samples.clear();
    recompute(group, 0.95);
  }
  Json old = to_json(exact);
  old["version"] = 2;
  old.erase("digest");
  write_text(folder / "a.json", dump_json(old));
  write_text(folder / "b.json", dump_json(old));
  write_result_file(folder / "new.json", sample_results());
  EXPECT_EQ(said_of({folder / "new.json"}), "");
  const std::string said = said_of({folder / "a.json", folder / "new.json", folder / "b.json"});
  EXPECT_TRUE(contains(said, "note: " + (folder / "a.json") + ", " + (folder / "b.json") +
                                 ": from before files carried a digest of their content"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST(ReadResultFiles, NamesTheFirstBadOne) {
  TemporaryFolder folder;
  write_text(folder / "x.json", "{");
  write_text(folder / "y.json", "{");
  EXPECT_TRUE(contains(message_of<ResultError>([&] {
                         read_result_files({folder / "x.json", folder / "y.json"});
                       }),
                       "x.json:1:2: "));
}

}  // namespace
}  // namespace amasia
