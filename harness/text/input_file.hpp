// A file that a user names as an input: its requirements, and how it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/text/file.hpp"

namespace amasia {

/// Open for reading. It must be a regular file: where a device or a FIFO ends is not known before
/// it is read. Everything throws UsageError, one line that names the file and begins with `place`
/// and a colon where one is given ("saxpy.toml:14").
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

}  // namespace amasia
