#include "inputs/formats/text_writer.hpp"

#include <cinttypes>

#include "inputs/errors.hpp"

namespace amasia::formats {

TextWriter::TextWriter(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "w")) {
  if (!file_) throw UsageError(path_ + ": cannot be opened for writing");
}

void TextWriter::number(float value, char behind) {
  complete_ =
      std::fprintf(file_.get(), "%.9g%c", static_cast<double>(value), behind) > 0 && complete_;
}

void TextWriter::number(std::int64_t value, char behind) {
  complete_ = std::fprintf(file_.get(), "%" PRId64 "%c", value, behind) > 0 && complete_;
}

void TextWriter::finish() {
  // A full disk may show only when the last buffer goes out.
  complete_ = std::fclose(file_.release()) == 0 && complete_;
  if (!complete_) throw UsageError(path_ + ": writing failed (is the disk full?)");
}

}  // namespace amasia::formats
