#include "harness/results/journal.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

class JournalTest : public testing::Test {
 protected:
  std::string out() const { return folder_ / "run.json"; }
  std::string journal() const { return out() + ".journal"; }

  /// A run that finished the ceilings and two groups, then was killed.
  void leave_a_journal() const {
    Journal j = Journal::open(out(), sample_provenance(), false);
    j.append(sample_ceilings());
    j.append(sample_group(512));
    j.append(sample_trouble());
  }

  TemporaryFolder folder_;
};

std::string text_of(const GroupResult& group) { return dump_json(to_json(group)); }

TEST_F(JournalTest, ResumeReturnsWhatWasFinished) {
  leave_a_journal();
  const Journal j = Journal::open(out(), sample_provenance(), true);
  ASSERT_EQ(j.groups().size(), 2u);
  EXPECT_EQ(text_of(j.groups()[0]), text_of(sample_group(512)));
  EXPECT_EQ(text_of(j.groups()[1]), text_of(sample_trouble()));
  ASSERT_EQ(j.ceilings().size(), 3u);
  EXPECT_EQ(j.ceilings()[2].value, 4690.375);
}

TEST_F(JournalTest, AnInterruptedRunCanBeReadAsAResultFile) {
  leave_a_journal();
  const ResultFile file = read_journal(journal());
  EXPECT_EQ(dump_json(to_json(file.provenance)), dump_json(to_json(sample_provenance())));
  ASSERT_EQ(file.groups.size(), 2u);
  EXPECT_EQ(text_of(file.groups[0]), text_of(sample_group(512)));
  EXPECT_EQ(file.ceilings.size(), 3u);
}

TEST_F(JournalTest, AJournalWithNothingFinishedIsNoResult) {
  { Journal::open(out(), sample_provenance(), false).append(sample_ceilings()); }
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_journal(journal()); }),
                       "holds nothing that was finished"));
}

TEST_F(JournalTest, EachAppendIsOnDiskBeforeTheNext) {
  Journal j = Journal::open(out(), sample_provenance(), false);
  const auto lines = [&] {
    const std::string text = read_text(journal());
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(), 1);
  j.append(sample_ceilings());
  EXPECT_EQ(lines(), 2);
  j.append(sample_group(512));
  EXPECT_EQ(lines(), 3);
}

TEST_F(JournalTest, AppendsAfterResuming) {
  leave_a_journal();
  { Journal::open(out(), sample_provenance(), true).append(sample_group(1024)); }
  const Journal j = Journal::open(out(), sample_provenance(), true);
  ASSERT_EQ(j.groups().size(), 3u);
  EXPECT_EQ(j.groups()[2].key, sample_group(1024).key);
  EXPECT_EQ(j.ceilings().size(), 3u);
}

TEST_F(JournalTest, TornAtEveryByteKeepsTheWholeLines) {
  leave_a_journal();
  const std::string text = read_text(journal());
  for (std::size_t length = 0; length <= text.size();
       length += length + 400 < text.size() ? 37 : 1) {
    const std::string torn = text.substr(0, length);
    write_text(journal(), torn);
    const auto whole = std::count(torn.begin(), torn.end(), '\n');
    {
      Journal j = Journal::open(out(), sample_provenance(), true);
      ASSERT_EQ(j.ceilings().size(), whole >= 2 ? 3u : 0u) << length;
      ASSERT_EQ(j.groups().size(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, whole - 2)))
          << length;
      j.append(sample_group(2048));  // must not continue the torn line
    }
    const Journal again = Journal::open(out(), sample_provenance(), true);
    ASSERT_EQ(again.groups().back().key, sample_group(2048).key) << length;
  }
}

TEST_F(JournalTest, WithoutResumeFinishedGroupsAreNotOverwritten) {
  leave_a_journal();
  const std::string before = read_text(journal());
  const std::string error =
      message_of<UsageError>([&] { Journal::open(out(), sample_provenance(), false); });
  EXPECT_TRUE(contains(error, "holds 2 finished groups"));
  EXPECT_TRUE(contains(error, "--resume"));
  EXPECT_EQ(read_text(journal()), before);
}

TEST_F(JournalTest, AJournalWithNothingFinishedIsStartedAnew) {
  { Journal::open(out(), sample_provenance(), false); }
  Provenance other = sample_provenance();
  other.settings["precision"] = "0.01";
  EXPECT_NO_THROW(Journal::open(out(), other, false));
  EXPECT_NO_THROW(Journal::open(out(), sample_provenance(), true));
}

TEST_F(JournalTest, ResumeWithoutAnythingIsAFirstRun) {
  const Journal j = Journal::open(out(), sample_provenance(), true);
  EXPECT_TRUE(j.groups().empty());
  EXPECT_TRUE(j.ceilings().empty());
}

TEST_F(JournalTest, ResumeOfAFinishedRunContinuesItsResultFile) {
  {
    Journal j = Journal::open(out(), sample_provenance(), false);
    j.append(sample_group(512));
    j.finish(sample_results());
  }
  EXPECT_FALSE(std::filesystem::exists(journal()));
  EXPECT_EQ(read_result_file(out()).groups.size(), 2u);
  { Journal::open(out(), sample_provenance(), true).append(sample_group(1024)); }
  const Journal j = Journal::open(out(), sample_provenance(), true);
  ASSERT_EQ(j.groups().size(), 3u);
  EXPECT_EQ(j.ceilings().size(), 3u);
  // Without --resume it is measured again.
  std::filesystem::remove(journal());
  EXPECT_TRUE(Journal::open(out(), sample_provenance(), false).groups().empty());
}

TEST_F(JournalTest, ResumeRefusesWhatDiffers) {
  leave_a_journal();
  struct Case {
    const char* expected;
    void (*change)(Provenance&);
  };
  const Case cases[] = {
      {"setting precision: 0.005 against 0.01",
       [](Provenance& p) { p.settings["precision"] = "0.01"; }},
      {"setting energy: (none) against true", [](Provenance& p) { p.settings["energy"] = "true"; }},
      {"setting precision: 0.005 against (none)",
       [](Provenance& p) { p.settings.erase("precision"); }},
      {"study", [](Provenance& p) { p.study = "paper"; }},
      {"GPU: NVIDIA H200 against NVIDIA H100",
       [](Provenance& p) { p.device.name = "NVIDIA H100"; }},
      {"GPU (hash of its UUID)", [](Provenance& p) { p.device.uuid_hash = "f0"; }},
      {"CUDA driver", [](Provenance& p) { p.device.driver_version = 12080; }},
      {"CUDA runtime", [](Provenance& p) { p.device.runtime_version = 12080; }},
      {"C++ compiler", [](Provenance& p) { p.compiler = "Clang"; }},
      {"CUDA compiler", [](Provenance& p) { p.cuda_compiler = "NVIDIA 12.4"; }},
      {"compiler flags", [](Provenance& p) { p.flags = "-O0"; }},
      {"architectures", [](Provenance& p) { p.architectures = "80-real"; }},
      {"sources of the harness", [](Provenance& p) { p.harness_digest = "00"; }},
      {"sources of hotspot/tma", [](Provenance& p) { p.sources["hotspot/tma"] = "00"; }},
      {"sources of pathfinder/dsm", [](Provenance& p) { p.sources.erase("pathfinder/dsm"); }},
  };
  for (const Case& c : cases) {
    Provenance now = sample_provenance();
    c.change(now);
    const std::string error = message_of<ResultError>([&] { Journal::open(out(), now, true); });
    EXPECT_TRUE(contains(error, c.expected));
    EXPECT_TRUE(contains(error, "remove it to start over"));
  }
  // What does not bear on the finished groups may differ.
  Provenance now = sample_provenance();
  now.date_utc = "2026-12-01T00:00:00Z";
  now.argv.push_back("--resume");
  now.device.free_bytes = 1;
  now.sources["gemm/tma"] = "00";
  EXPECT_EQ(Journal::open(out(), now, true).groups().size(), 2u);
}

TEST_F(JournalTest, DamageInTheMiddleIsNotSkipped) {
  leave_a_journal();
  std::string text = read_text(journal());
  text[text.find('\n') + 5] = '\x01';
  write_text(journal(), text);
  EXPECT_TRUE(
      contains(message_of<ResultError>([&] { Journal::open(out(), sample_provenance(), true); }),
               journal() + ":2: expected JSON"));
  write_text(journal(), "{\"schema\":\"amasia-journal\",\"version\":9}\n");
  EXPECT_TRUE(
      contains(message_of<ResultError>([&] { Journal::open(out(), sample_provenance(), true); }),
               ":1: expected the first line of a journal of version 1"));
  for (const char* foreign : {"[1]\n", "3\n", "{\"schema\": 3}\n", "{}\n"}) {
    write_text(journal(), foreign);
    EXPECT_THROW(Journal::open(out(), sample_provenance(), true), ResultError) << foreign;
  }
}

TEST_F(JournalTest, TwoRunsCannotShareOne) {
  const Journal j = Journal::open(out(), sample_provenance(), false);
  EXPECT_TRUE(
      contains(message_of<UsageError>([&] { Journal::open(out(), sample_provenance(), true); }),
               "another run is writing to it"));
}

TEST_F(JournalTest, AFullDiskIsReportedAndLeavesTheJournalWhole) {
  Journal j = Journal::open(out(), sample_provenance(), false);
  j.append(sample_group(512));
  const std::string before = read_text(journal());
  // A file-size limit fails a write half way, as a full disk does.
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = old;
  tight.rlim_cur = before.size() + 100;
  setrlimit(RLIMIT_FSIZE, &tight);
  const std::string error = message_of<ResultError>([&] { j.append(sample_group(1024)); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(contains(error, "run.json.journal: cannot be written: "));
  EXPECT_EQ(read_text(journal()), before);
  j.append(sample_group(2048));
  EXPECT_EQ(read_text(journal()).substr(0, before.size()), before);
}

TEST_F(JournalTest, UnwritableIsAUsageError) {
  EXPECT_TRUE(contains(message_of<UsageError>([&] {
                         Journal::open(folder_ / "none/run.json", sample_provenance(), false);
                       }),
                       "cannot be written: No such file or directory"));
}

TEST_F(JournalTest, LinesAreTheRecordedOnes) {
  leave_a_journal();
  expect_golden("run.json.journal", read_text(journal()));
}

TEST(CheckWritable, CreatesFoldersAndLeavesNothing) {
  TemporaryFolder folder;
  check_writable(folder / "a/b/run.json", 1000);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "a/b"));
  write_text(folder / "old.json", "kept");
  check_writable(folder / "old.json", 1000);
  EXPECT_EQ(read_text(folder / "old.json"), "kept");
}

TEST(CheckWritable, SaysInOneLineWhyNot) {
  TemporaryFolder folder;
  write_text(folder / "file", "");
  std::filesystem::create_directory(folder / "folder");
  const auto error = [](const std::string& path, std::uint64_t bytes) {
    const std::string text = message_of<UsageError>([&] { check_writable(path, bytes); });
    EXPECT_TRUE(is_one_line(text));
    EXPECT_TRUE(contains(text, path + ": "));
    return text;
  };
  EXPECT_TRUE(contains(error(folder / "file/run.json", 1), "cannot create its folder"));
  EXPECT_TRUE(contains(error(folder / "folder", 1), "is a directory"));
  EXPECT_TRUE(contains(error("/proc/run.json", 1), "cannot be written"));
  EXPECT_TRUE(contains(error(folder / "run.json", UINT64_MAX), "results may need"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run.json.tmp"));
}

}  // namespace
}  // namespace amasia
