// Files written so that a crash or a full disk cannot leave a half-written one unnoticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace amasia {

/// Writes all of `text`. False with errno.
bool write_all(int descriptor, std::string_view text) noexcept;

/// Owns a file descriptor. Closed on exec, so that child processes do not hold it.
class OpenFile {
 public:
  OpenFile() = default;
  /// `flags` as of open(2), O_CLOEXEC is added. Ask is_open(), errno says why not.
  OpenFile(const std::string& path, int flags);
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// False, with errno, when data that was written before turns out to be lost.
  bool close();
  /// Writes all of `text` and waits until it is on the disk. False with errno.
  bool write_durably(std::string_view text);
  bool write(std::string_view text) { return write_all(descriptor_, text); }

 private:
  int descriptor_ = -1;
};

/// A new file beside `path`, open for writing, under a name that no other process has at the same
/// time ("<path>.tmp-1234-0"). The name is the caller's to remove or to rename; when the file is
/// not open, errno says why.
struct FileBeside {
  std::string name;
  OpenFile file;
};
FileBeside create_beside(const std::string& path);

/// What a name on the command line stands for. Symbolic links are followed, also to a target that
/// is not there yet: it is the target that is written, the link stays.
struct Destination {
  std::string path;  // without links
  bool special =
      false;  // a device, a FIFO or a descriptor of a process: written to, never replaced
  bool mounted = false;  // a file with a mount on it, as in a container: rewritten in place
};
Destination destination_of(const std::string& path);

/// All of a regular file; "" for one that cannot be read.
std::string bytes_of_file(const std::string& path);

/// Path of this executable. Throws std::runtime_error when the system does not tell it.
std::string executable_path();

/// "No space left on device": what errno says.
std::string system_reason();

/// The folder that a file is in, open for reading.
OpenFile parent_directory(const std::string& path);

/// Makes the new name of a file durable. Some file systems refuse to sync a directory; then there
/// is nothing more to be done, so this reports nothing.
void sync_parent_directory(const std::string& path);

/// The regular files of a folder with the suffix .json or .json.gz, by name. Other files may have
/// it, too. A folder that cannot be read has none.
std::vector<std::string> json_files_in(const std::string& folder);

/// A file that a user names as an input, open for reading. It must be a regular file: where a
/// device or a FIFO ends is not known before it is read. Everything throws UsageError, one line
/// that names the file and begins with `place` and a colon where one is given ("saxpy.toml:14").
class InputFile {
 public:
  explicit InputFile(std::string path, std::string place = "");

  /// Its length when it was opened.
  std::uint64_t size() const { return size_; }
  /// Refuses a file of another length than what `what` takes; nothing is read for that.
  void expect_size(std::uint64_t bytes, const std::string& what) const;
  /// The next bytes, as many as were there when it was opened at most; 0 at its end. Throws
  /// Interrupted soon after a signal.
  std::size_t read(char* to, std::size_t most);
  /// All of it from here on. Refuses a file of more than `most` bytes.
  std::string content(std::uint64_t most);

 private:
  [[noreturn]] void refuse(const std::string& what) const;

  std::string path_, place_;
  OpenFile file_;
  std::uint64_t size_ = 0, at_ = 0;
};

/// SIGINT and SIGTERM set a flag from now on instead of ending the process.
void catch_interrupts();
bool interrupted();

/// SIGINT or SIGTERM came where nothing is kept that could be continued.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Path of a program of the toolkit: what the environment variable `variable` names, else the first
/// on PATH, in $CUDA_HOME/bin, $CUDA_PATH/bin, beside nvcc, in /usr/local/cuda/bin, and last in the
/// folders `elsewhere`. "" when there is none.
std::string find_tool(std::string_view program, const char* variable,
                      const std::vector<std::filesystem::path>& elsewhere = {});

/// A folder for a while. Its path is empty when none can be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_{};
};

}  // namespace amasia
