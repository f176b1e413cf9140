#include "harness/results/provenance.hpp"

#include <regex>

#include "tests/test.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

TEST(Provenance, KeepsNoFolderThatTellsWhoseMachineItWas) {
  EXPECT_EQ(without_folders("/home/somebody/x.json"), "x.json");
  EXPECT_EQ(without_folders("--out=/home/somebody/x.json"), "--out=x.json");
  EXPECT_EQ(without_folders("rows=8,temp_file=/home/somebody/t,power_file=/home/somebody/p"),
            "rows=8,temp_file=t,power_file=p");
  for (const char* plain :
       {"", "--out=", "out/x.json", "../x", "hotspot/*", "rows=8,cols=9", "="}) {
    EXPECT_EQ(without_folders(plain), plain);
  }
}

TEST(Provenance, SaysWhereAResultComesFrom) {
  const Provenance p = collect_provenance({"/home/somebody/amasia", "run", "a b", "../x.json"},
                                          "quick", {{"cache", "cold"}});
  EXPECT_EQ(p.argv, (std::vector<std::string>{"amasia", "run", "a b", "../x.json"}));
  EXPECT_EQ(p.study, "quick");
  EXPECT_EQ(p.settings.at("cache"), "cold");
  EXPECT_TRUE(std::regex_match(p.date_utc, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")))
      << p.date_utc;
  EXPECT_TRUE(std::regex_match(p.commit, std::regex("[0-9a-f]{40}|unknown"))) << p.commit;
  EXPECT_FALSE(p.commit == "unknown" && p.dirty);
  EXPECT_TRUE(std::regex_search(p.compiler, std::regex(R"(\w+ \d+\.\d+)"))) << p.compiler;
  EXPECT_NE(p.flags.find("C++:"), std::string::npos);
  EXPECT_EQ(p.architectures.find(';'), std::string::npos);
  auto sources = source_digests();
  sources.insert(microbenchmark_digests().begin(), microbenchmark_digests().end());
  EXPECT_EQ(p.sources, sources);
  EXPECT_EQ(p.harness_digest, harness_digest());
}

TEST(Provenance, ADateIsInTheCalendar) {
  for (const char* date : {"2026-11-21T09:30:00Z", "2024-02-29T23:59:60Z"}) {
    EXPECT_TRUE(is_date(date)) << date;
  }
  for (const char* none :
       {"", "yesterday", "2026-11-21", "2026-11-21T09:30:00", "2026-11-21T09:30:00+Z",
        "2026-11-21T09:30:00.25Z", "2026-1-21T09:30:00Z", "2026-02-30T00:00:00Z",
        "2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T09:60:00Z", "2026-11-21 09:30:00Z"}) {
    EXPECT_FALSE(is_date(none)) << none;
  }
}

TEST(Provenance, NamesTheHostOnlyWhenAsked) {
  EXPECT_EQ(collect_provenance({}, "", {}).host_name, "");
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(collect_provenance({}, "", {}, true).host_name, name);
}

// The build step that finds the commit, run on trees made here.
class CommitScript : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "git was not found";
    fs::create_directories(tree_ / "harness");
    fs::create_directories(tree_ / "results");
    std::ofstream(tree_ / "harness" / "a.cpp") << "int a;\n";
    std::ofstream(tree_ / "results" / "r.json") << "{}\n";
  }
  void shell(const std::string& command) const {
    const std::string full = "cd '" + tree_.string() + "' && " + command + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(full.c_str()), 0) << command;
  }
  void commit() const {
    shell(
        "git init -q . && git add -A && git -c user.name=t -c user.email=t@example.org "
        "-c commit.gpgsign=false commit -q -m t");
  }
  std::string answer(const fs::path& root, const std::string& environment = "") const {
    const fs::path output = tree_ / "out" / "commit.inc";
    shell(environment + "cmake -DROOT='" + root.string() + "' -DOUTPUT='" + output.string() +
          "' -P '" AMASIA_SOURCE_DIR "/cmake/commit.cmake'");
    return read_text(output);
  }
  std::string answer() const { return answer(tree_); }

  const TemporaryFolder folder_{};
  const fs::path tree_ = folder_.path();
};

TEST_F(CommitScript, KnowsCleanFromDirty) {
  commit();
  const std::string clean = answer();
  EXPECT_TRUE(std::regex_match(clean, std::regex("\\{\"[0-9a-f]{40}\", false\\}\n"))) << clean;

  std::ofstream(tree_ / "results" / "r.json") << "{\"new\": 1}\n";
  EXPECT_EQ(answer(), clean) << "a new result does not make the code dirty";

  std::ofstream(tree_ / "harness" / "b.cpp") << "int b;\n";  // not tracked, but globbed and built
  EXPECT_NE(answer().find("true"), std::string::npos);
  fs::remove(tree_ / "harness" / "b.cpp");
  EXPECT_EQ(answer(), clean);

  std::ofstream(tree_ / "harness" / "a.cpp") << "int c;\n";
  EXPECT_NE(answer().find("true"), std::string::npos);
}

TEST_F(CommitScript, ATarballHasNoCommit) {
  EXPECT_EQ(answer(), "{\"unknown\", false}\n");
  // Nor does one that was unpacked inside another repository.
  commit();
  fs::create_directories(tree_ / "unpacked" / "harness");
  EXPECT_EQ(answer(tree_ / "unpacked"), "{\"unknown\", false}\n");
}

TEST_F(CommitScript, KnowsTheCommitOfACheckoutThatAnotherUserOwns) {
  commit();
  const std::string own = answer();
  const std::string foreign = "GIT_TEST_ASSUME_DIFFERENT_OWNER=1 ";
  shell("! " + foreign + "git status");
  EXPECT_EQ(answer(tree_, foreign), own);
  EXPECT_NE(own.find("false"), std::string::npos);
}

TEST_F(CommitScript, ACheckoutThatGitCannotReadIsNotCalledClean) {
  fs::create_directory(tree_ / ".git");
  EXPECT_EQ(answer(), "{\"unknown\", true}\n");
}

}  // namespace
}  // namespace amasia
