#include "harness/text/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "harness/text/json_file.hpp"
#include "tests/files.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

// A child process that kept a result file open would keep its lock as well.
TEST(OpenFile, IsNotInheritedByChildProcesses) {
  const TemporaryFolder folder;
  const OpenFile file(folder / "file", O_WRONLY | O_CREAT);
  EXPECT_NE(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(CreateBeside, GivesEachItsOwnName) {
  TemporaryFolder folder;
  FileBeside a = create_beside(folder / "x.json"), b = create_beside(folder / "x.json");
  ASSERT_TRUE(a.file.is_open() && b.file.is_open());
  EXPECT_NE(a.name, b.name);
  EXPECT_TRUE(a.name.starts_with(folder / "x.json.tmp"));
  EXPECT_FALSE(create_beside(folder / "none/x.json").file.is_open());
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

TEST(DestinationOf, KnowsAFileThatIsMountedByTheSystemsOwnList) {
  std::ifstream mounts("/proc/self/mountinfo");
  int files = 0;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string point;
    for (int i = 0; i < 5; ++i) words >> point;
    if (!fs::is_regular_file(point)) continue;
    ++files;
    EXPECT_TRUE(destination_of(point).mounted) << point;
  }
  if (files == 0) GTEST_SKIP() << "no file is mounted here; tests/cli/test_outputs.py mounts one";
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

}  // namespace
}  // namespace amasia
