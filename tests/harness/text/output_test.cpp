#include "harness/text/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

/// Has `path` in place of a standard stream while it lives.
class Redirected {
 public:
  Redirected(int stream, const std::string& path, int flags)
      : stream_(stream), before_(::dup(stream)) {
    std::fflush(nullptr);
    const int file = ::open(path.c_str(), flags | O_CREAT, 0600);
    ::dup2(file, stream);
    ::close(file);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;
  ~Redirected() {
    std::fflush(stdout);
    ::dup2(before_, stream_);
    ::close(before_);
    std::clearerr(stdout);
  }

 private:
  int stream_, before_;
};

TEST(InOneLine, ReplacesWhatATerminalObeys) {
  EXPECT_EQ(in_one_line("no 'a\nb\x1b[2J\x7f': é"), "no 'a?b?[2J?': é");
  EXPECT_EQ(in_one_line(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(in_one_line(""), "");
  EXPECT_EQ(in_one_line(std::string(2001, 'a')), std::string(2000, 'a') + "...");
}

TEST(WriteData, ArrivesBehindWhatStdioHolds) {
  const TemporaryFolder folder;
  {
    const Redirected redirected(STDOUT_FILENO, folder / "data", O_WRONLY);
    std::printf("first,");
    write_data("second\n");
    EXPECT_EQ(read_text(folder / "data"), "first,second\n");
    print_data("{},{}\n", 1, 2.5);
    EXPECT_EQ(read_text(folder / "data"), "first,second\n1,2.5\n");
  }
}

TEST(WriteData, SaysThatItDidNotArrive) {
  std::string message;
  {
    const Redirected redirected(STDOUT_FILENO, "/dev/full", O_WRONLY);
    message = message_of<OutputError>([] { write_data("a,b\n"); });
  }
  EXPECT_EQ(message, "stdout cannot be written: No space left on device");
}

TEST(WriteProse, ArrivesWholeOrIsDropped) {
  const TemporaryFolder folder;
  const std::string large(300'000, 'x');  // more than a pipe or a buffer holds
  {
    const Redirected redirected(STDERR_FILENO, folder / "prose", O_WRONLY);
    write_prose(large);
    print_prose("{} of {}\n", 1, 2);
  }
  EXPECT_EQ(read_text(folder / "prose"), large + "1 of 2\n");

  const Redirected redirected(STDERR_FILENO, "/dev/full", O_WRONLY);
  EXPECT_NO_THROW(print_prose("{} of {}\n", 1, 2));
}

// In a child process, whose standard streams can be closed. It ends with the number of the check
// that failed, 0 when none did.
int with_closed_streams(const std::string& path) {
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
  secure_standard_streams();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  if (file <= STDERR_FILENO) return 1;
  write_prose("prose");
  try {
    write_data("data");
    return 2;
  } catch (const OutputError&) {
    std::clearerr(stdout);
  }
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0 || ::close(pipe_ends[0]) != 0) return 3;
  return ::write(pipe_ends[1], "a", 1) == -1 ? 0 : 4;  // by SIGPIPE it would not return
}

TEST(SecureStandardStreams, KeepsOutputOutOfFilesThatTakeTheirNumbers) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const TemporaryFolder folder;
  const std::string path = folder / "result";
  EXPECT_EXIT(::_exit(with_closed_streams(path)), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace amasia
