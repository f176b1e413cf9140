#include "harness/text/folder.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

TEST(JsonFilesIn, PassesOverWhatIsNoResultWithANote) {
  const TemporaryFolder folder;
  write_text(folder / "b.json", "{}");
  write_text(folder / "a.json", "\xef\xbb\xbf \n{}");
  write_text(folder / "other.txt", "");
  write_text(folder / "c.json.journal", "{}");
  write_text(folder / "._a.json", std::string("\0\5\26\7", 4));
  write_text(folder / "empty.json", "");
  write_text(folder / "commented.json", "// one\n{}");
  fs::create_directory(folder / "folder.json");
  fs::create_symlink("gone", folder / ".#a.json");
  fs::create_symlink("/dev/zero", folder / "zero.json");
  ASSERT_EQ(::mkfifo((folder / "pipe.json").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, (folder / "socket.json").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(socket);

  const FolderContents contents = json_files_in(folder.path());
  EXPECT_EQ(contents.files, (std::vector<std::string>{folder / "a.json", folder / "b.json"}));
  ASSERT_EQ(contents.notes.size(), 7u);
  const auto has = [&](const std::string& note) {
    return std::count(contents.notes.begin(), contents.notes.end(), folder / note) == 1;
  };
  EXPECT_TRUE(has(".#a.json is a link to nothing and was left out"));
  EXPECT_TRUE(has("._a.json is no JSON document and was left out"));
  EXPECT_TRUE(has("empty.json is no JSON document and was left out"));
  EXPECT_TRUE(has("commented.json is no JSON document and was left out"));
  EXPECT_TRUE(has("pipe.json is a pipe and was left out"));
  EXPECT_TRUE(has("socket.json is a socket and was left out"));
  EXPECT_TRUE(has("zero.json is a device and was left out"));
}

TEST(JsonFilesIn, SaysOfManyHowManyMore) {
  const TemporaryFolder folder;
  for (char c = 'a'; c <= 'z'; ++c) write_text(folder / (std::string(1, c) + ".json"), "");
  const FolderContents contents = json_files_in(folder.path());
  ASSERT_EQ(contents.notes.size(), 9u);
  EXPECT_EQ(contents.notes.back(), "18 more files are no results and were left out");
  EXPECT_TRUE(json_files_in(folder / "none").files.empty());
}

}  // namespace
}  // namespace amasia
