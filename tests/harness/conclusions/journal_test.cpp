#include "harness/conclusions/journal.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include "harness/conclusions/recomputed.hpp"
#include "tests/sample_results.hpp"
#include "tests/test.hpp"

namespace {

/// What this program asks of the disk, in order: "fsync run.json", "rename run.json", "unlink
/// run.json.journal". A name of a temporary file is cut at ".tmp".
std::vector<std::string> disk_calls;

void note(const char* call, const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  disk_calls.push_back(std::string(call) + ' ' + name.substr(0, name.find(".tmp")));
}

}  // namespace

// In place of the library's, for the whole program: each notes that it was called.
extern "C" int fsync(int descriptor) {
  std::error_code error;
  note(
      "fsync",
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error).string());
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  note("rename", to);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" int unlink(const char* path) noexcept {
  note("unlink", path);
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

namespace amasia {
namespace {

using Calls = std::vector<std::string>;

class JournalTest : public testing::Test {
 protected:
  std::string out() const { return folder_ / "run.json"; }
  std::string journal() const { return out() + ".journal"; }

  Journal opened(Existing existing) const { return {out(), sample_provenance(), existing}; }
  template <class Error>
  std::string refusal(Existing existing) const {
    return message_of<Error>([&] { opened(existing); });
  }
  /// A run that finished the ceilings and two groups, then was killed.
  void leave_a_journal() const {
    Journal j = opened(Existing::refuse);
    j.append(sample_ceilings());
    j.append(sample_group(512));
    j.append(sample_trouble());
  }

  TemporaryFolder folder_;
};

std::string text_of(const GroupResult& group) { return to_json(group).dump(); }

TEST_F(JournalTest, ResumeReturnsWhatWasFinished) {
  leave_a_journal();
  const Journal j = opened(Existing::resume);
  ASSERT_EQ(j.finished().groups.size(), 2u);
  EXPECT_EQ(text_of(j.finished().groups[0]), text_of(sample_group(512)));
  EXPECT_EQ(text_of(j.finished().groups[1]), text_of(sample_trouble()));
  ASSERT_EQ(j.finished().ceilings.size(), 3u);
  EXPECT_EQ(j.finished().ceilings[2].value, 4690.375);
  // An interrupted run can be read as a result file, too.
  const ResultFile file = read_journal(journal());
  EXPECT_EQ(to_json(file.provenance), to_json(sample_provenance()));
  EXPECT_EQ(text_of(file.groups.at(1)), text_of(sample_trouble()));
}

TEST_F(JournalTest, TornAtEveryByteKeepsTheWholeLines) {
  leave_a_journal();
  const std::string text = read_text(journal());
  for (std::size_t length = 0; length <= text.size();
       length += length + 100 < text.size() ? 151 : 1) {
    const std::string torn = text.substr(0, length);
    write_text(journal(), torn);
    const auto whole = std::ranges::count(torn, '\n');
    {
      Journal j = opened(Existing::resume);
      ASSERT_EQ(j.finished().ceilings.size(), whole >= 2 ? 3u : 0u) << length;
      ASSERT_EQ(j.finished().groups.size(),
                static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, whole - 2)))
          << length;
      j.append(sample_group(2048));  // must not continue the torn line
    }
    const Journal again = opened(Existing::resume);
    ASSERT_EQ(again.finished().groups.back().key, sample_group(2048).key) << length;
  }
}

TEST_F(JournalTest, WithoutResumeFinishedGroupsAreNotOverwritten) {
  leave_a_journal();
  const std::string before = read_text(journal());
  const std::string error = refusal<UsageError>(Existing::refuse);
  EXPECT_TRUE(contains(error, "holds 2 finished groups"));
  EXPECT_TRUE(contains(error, "--resume"));
  EXPECT_EQ(read_text(journal()), before);
  EXPECT_TRUE(opened(Existing::overwrite).finished().groups.empty());
}

TEST_F(JournalTest, AJournalWithNothingFinishedIsStartedAnew) {
  opened(Existing::refuse);
  Provenance other = sample_provenance();
  other.settings["precision"] = "0.01";
  EXPECT_NO_THROW(Journal(out(), other, Existing::refuse));
  EXPECT_NO_THROW(opened(Existing::resume));
}

TEST_F(JournalTest, EachStepIsOnTheDiskBeforeTheNext) {
  const std::string folder = folder_.path().filename().string();
  disk_calls.clear();
  Journal j = opened(Existing::refuse);
  EXPECT_EQ(disk_calls, (Calls{"fsync run.json.journal", "fsync " + folder}));
  disk_calls.clear();
  j.append(sample_group(512));
  EXPECT_EQ(disk_calls, Calls{"fsync run.json.journal"});
  disk_calls.clear();
  j.finish(sample_results());
  // Until the result is on the disk under its name, the journal is all there is of it.
  EXPECT_EQ(disk_calls, (Calls{"fsync run.json", "rename run.json", "fsync " + folder,
                               "unlink run.json.journal"}));
}

class FinishedTest : public JournalTest {
 protected:
  /// A run that ended well.
  void SetUp() override {
    Journal j = opened(Existing::refuse);
    j.append(sample_group(512));
    j.finish(sample_results());
  }
};

TEST_F(FinishedTest, ResumeContinuesItsResultFile) {
  EXPECT_FALSE(std::filesystem::exists(journal()));
  EXPECT_EQ(read_result_file(out()).groups.size(), 2u);
  { opened(Existing::resume).append(sample_group(1024)); }
  const Journal j = opened(Existing::resume);
  ASSERT_EQ(j.finished().groups.size(), 3u);
  EXPECT_EQ(j.finished().ceilings.size(), 3u);
}

TEST_F(FinishedTest, ResumeThatAddsNothingLeavesItAsItIs) {
  const std::string before = read_text(out());
  {
    Journal j = opened(Existing::resume);
    EXPECT_EQ(read_text(journal()), "");  // a kill now leaves nothing that outranks the file
    ResultFile other = sample_results();
    other.provenance.date_utc = "2027-01-01T00:00:00Z";
    j.finish(other);
  }
  EXPECT_EQ(read_text(out()), before);
  EXPECT_FALSE(std::filesystem::exists(journal()));
  opened(Existing::resume);  // never finished
  EXPECT_EQ(read_text(out()), before);
  EXPECT_FALSE(std::filesystem::exists(journal()));
}

TEST_F(FinishedTest, TheJournalThatContinuesItAppearsInOneStep) {
  Journal j = opened(Existing::resume);
  disk_calls.clear();
  j.append(sample_group(1024));
  EXPECT_EQ(disk_calls,
            (Calls{"fsync run.json.journal", "rename run.json.journal",
                   "fsync " + folder_.path().filename().string(), "fsync run.json.journal"}));
  EXPECT_EQ(read_journal(journal()).groups.size(), 3u);
  // It is as locked as the one it replaced.
  EXPECT_THROW(opened(Existing::resume), UsageError);
  j.append(sample_group(2048));
  EXPECT_EQ(read_journal(journal()).groups.size(), 4u);
}

TEST_F(FinishedTest, IsNotReplacedUnasked) {
  const std::string before = read_text(out());
  const std::string error = refusal<UsageError>(Existing::refuse);
  EXPECT_TRUE(is_one_line(error));
  for (const char* way_out : {"--resume", "--overwrite", "another --out"}) {
    EXPECT_TRUE(contains(error, way_out));
  }
  EXPECT_EQ(read_text(out()), before);
  EXPECT_FALSE(std::filesystem::exists(journal()));
  EXPECT_TRUE(opened(Existing::overwrite).finished().groups.empty());
}

TEST_F(JournalTest, ADamagedJournalStaysForAPersonToLookAt) {
  write_text(journal(), "no newline, no JSON");
  opened(Existing::refuse);  // a torn first line
  write_text(journal(), "no JSON\n");
  EXPECT_THROW(opened(Existing::resume), ResultError);
  EXPECT_EQ(read_text(journal()), "no JSON\n");
}

TEST_F(JournalTest, ADeviceHasNone) {
  const std::string device = null_device(folder_);
  Journal j(device, sample_provenance(), Existing::refuse);
  j.append(sample_group(512));
  j.finish(sample_results());
  EXPECT_TRUE(std::filesystem::is_character_file(device));
  EXPECT_FALSE(std::filesystem::exists(device + ".journal"));
}

TEST_F(JournalTest, ALinkAndItsTargetAreOne) {
  std::filesystem::create_symlink("run.json", folder_ / "link.json");
  const Journal j = opened(Existing::refuse);
  EXPECT_THROW(Journal(folder_ / "link.json", sample_provenance(), Existing::refuse), UsageError);
}

TEST_F(JournalTest, DefaultNamesAreNumbered) {
  const std::string stem = folder_ / "h200-quick";
  EXPECT_EQ(default_output(stem, false), stem + ".json.gz");
  EXPECT_EQ(default_output(stem, true), stem + ".json.gz");
  write_text(stem + ".json.gz", "{}");
  EXPECT_EQ(default_output(stem, false), stem + "-2.json.gz");
  EXPECT_EQ(default_output(stem, true), stem + ".json.gz");
  write_text(stem + "-2.json.gz.journal", "{}");
  write_text(stem + "-3.json.gz", "{}");
  EXPECT_EQ(default_output(stem, false), stem + "-4.json.gz");
  EXPECT_EQ(default_output(stem, true), stem + "-2.json.gz");  // the interrupted one
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
    const std::string error =
        message_of<ResultError>([&] { Journal(out(), now, Existing::resume); });
    EXPECT_TRUE(contains(error, c.expected));
    EXPECT_TRUE(contains(error, "remove it to start over"));
  }
  // What does not bear on the finished groups may differ.
  Provenance now = sample_provenance();
  now.date_utc = "2026-12-01T00:00:00Z";
  now.argv.push_back("--resume");
  now.device.free_bytes = 1;
  now.sources["gemm/tma"] = "00";
  EXPECT_EQ(Journal(out(), now, Existing::resume).finished().groups.size(), 2u);
}

TEST_F(JournalTest, DamageInTheMiddleIsNotSkipped) {
  leave_a_journal();
  std::string text = read_text(journal());
  text[text.find('\n') + 5] = '\x01';
  write_text(journal(), text);
  EXPECT_TRUE(contains(refusal<ResultError>(Existing::resume), journal() + ":2: expected JSON"));
  for (const auto& [version, error] : {std::pair("9", "version: 9 is newer than this program"),
                                       std::pair("4", "is a journal file of format 4, which")}) {
    write_text(journal(), std::string("{\"schema\":\"amasia-journal\",\"version\":") + version +
                              ",\"provenance\":{}}\n");
    EXPECT_TRUE(contains(refusal<ResultError>(Existing::resume), std::string(":1: ") + error));
  }
  for (const char* foreign : {"[1]\n", "3\n", "{\"schema\": 3}\n", "{}\n"}) {
    write_text(journal(), foreign);
    EXPECT_THROW(opened(Existing::resume), ResultError) << foreign;
  }
}

TEST_F(JournalTest, TwoRunsCannotShareOne) {
  const Journal j = opened(Existing::refuse);
  EXPECT_TRUE(contains(refusal<UsageError>(Existing::resume), "another run is writing to it"));
}

TEST_F(JournalTest, AFullDiskIsReportedAndLeavesTheJournalWhole) {
  Journal j = opened(Existing::refuse);
  j.append(sample_group(512));
  const std::string before = read_text(journal());
  const std::string error = [&] {
    const FileSizeLimit disk_full(before.size() + 100);
    return message_of<ResultError>([&] { j.append(sample_group(1024)); });
  }();
  EXPECT_TRUE(contains(error, "run.json.journal: cannot be written: "));
  EXPECT_EQ(read_text(journal()), before);
  j.append(sample_group(2048));
  EXPECT_EQ(read_text(journal()).substr(0, before.size()), before);
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
  // What another run is writing at the moment is not its to use.
  write_text(folder / "old.json.tmp", "of another");
  check_writable(folder / "old.json", 1000);
  EXPECT_EQ(read_text(folder / "old.json.tmp"), "of another");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
  check_writable(null_device(folder), 1000);
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
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

}  // namespace
}  // namespace amasia
