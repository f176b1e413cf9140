// The other direction: numbers to a text file, which is complete or an error.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace amasia::formats {

/// Writes a file from its beginning. Errors are kept until finish(), which throws.
class TextWriter {
 public:
  /// Throws UsageError when the file cannot be opened for writing.
  explicit TextWriter(const std::string& path);

  /// The number with the digits that restore it exactly (%.9g), and what comes behind it.
  void number(float value, char behind);
  void number(std::int64_t value, char behind);

  /// Closes the file. Throws UsageError when not everything was written.
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  bool complete_ = true;
};

}  // namespace amasia::formats
