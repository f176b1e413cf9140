// Files written so that a crash or a full disk cannot leave a half-written one unnoticed.
#pragma once

#include <string>
#include <string_view>

namespace amasia {

/// Owns a file descriptor. Closed on exec, so that child processes do not hold it.
class OpenFile {
 public:
  OpenFile() = default;
  /// `flags` as of open(2), O_CLOEXEC is added. Ask is_open(), errno says why not.
  OpenFile(const std::string& path, int flags);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// False, with errno, when data that was written before turns out to be lost.
  bool close();
  /// Writes all of `text` and waits until it is on the disk. False with errno.
  bool write_durably(std::string_view text);
  /// Writes all of `text`. False with errno.
  bool write(std::string_view text);

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

/// Path of this executable. Throws std::runtime_error when the system does not tell it.
std::string executable_path();

/// "No space left on device": what errno says.
std::string system_reason();

/// The folder that a file is in, open for reading.
OpenFile parent_directory(const std::string& path);

/// Makes the new name of a file durable. Some file systems refuse to sync a directory; then there
/// is nothing more to be done, so this reports nothing.
void sync_parent_directory(const std::string& path);

}  // namespace amasia
