#include "apps/lud/matrix_file.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "harness/parameters.hpp"

namespace amasia::lud {
namespace {

// A number is at most a few dozen characters; a longer word is none (and could be gigabytes).
constexpr std::size_t longest_word = 256;

std::string quoted(std::string_view text) {
  std::string shown = "'";
  for (char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > 40 ? "...'" : "'");
}

/// The words of a file one by one, with the line each stands in.
class Words {
 public:
  explicit Words(const std::string& path) : path_(path), buffer_(1 << 16) {
    std::error_code code;
    if (std::filesystem::is_directory(path, code)) {
      throw UsageError(path + ": expected a file with a matrix, found a directory");
    }
    file_.open(path, std::ios::binary);
    if (!file_) throw UsageError(path + ": cannot be opened for reading");
  }

  /// The next word; empty at the end of the file.
  std::string_view next() {
    word_.clear();
    for (int c = character(); c >= 0; c = character()) {
      const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
      if (blank && !word_.empty()) {
        --at_;  // an end of line counts when the next word is looked for
        break;
      }
      if (c == '\n') ++line_;
      if (blank) continue;
      word_ += static_cast<char>(c);
      if (word_.size() > longest_word) {
        fail("expected a number, found a word of more than " + std::to_string(longest_word) +
             " characters");
      }
    }
    return word_;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw UsageError(path_ + ":" + std::to_string(line_) + ": " + expected);
  }

 private:
  int character() {
    if (at_ == size_) {
      file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
      size_ = static_cast<std::size_t>(file_.gcount());
      at_ = 0;
      if (file_.bad()) throw UsageError(path_ + ": reading failed");
      if (size_ == 0) return -1;
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, size_ = 0;
  std::string word_;
  std::int64_t line_ = 1;
};

template <class T>
T parse(std::string_view text, const Words& words, const char* what) {
  T value{};
  // from_chars takes no leading '+', which other writers of this format may produce.
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  const std::string_view digits = plus ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    words.fail(std::string("expected ") + what + " within range, found " + quoted(text));
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    words.fail(std::string("expected ") + what + ", found " + quoted(text));
  }
  return value;
}

}  // namespace

std::vector<float> read_matrix_file(const std::string& path, std::int64_t n) {
  const std::int64_t count = checked_product({n, n}, "n x n");
  Words words(path);
  const std::string_view first = words.next();
  if (first.empty()) words.fail("expected the order of the matrix, the file is empty");
  const auto order = parse<std::int64_t>(first, words, "the order of the matrix");
  if (order != n) {
    words.fail("expected a matrix of order " + std::to_string(n) + ", found " +
               std::to_string(order) +
               (order > 0 ? ": pass n=" + std::to_string(order) : std::string()));
  }
  const std::string size =
      std::to_string(count) + " elements (" + std::to_string(n) + " x " + std::to_string(n) + ")";
  std::vector<float> elements;  // grows with the file, so that a short one costs no memory
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (static_cast<std::int64_t>(elements.size()) == count) {
      words.fail("expected the end of the file after " + size + ", found " + quoted(word));
    }
    const auto value = parse<float>(word, words, "a number");
    if (!std::isfinite(value)) words.fail("expected a finite number, found " + quoted(word));
    elements.push_back(value);
  }
  if (static_cast<std::int64_t>(elements.size()) < count) {
    words.fail("expected " + size + ", the file ends after " + std::to_string(elements.size()));
  }
  return elements;
}

void write_matrix_file(const std::string& path, std::int64_t n,
                       const std::vector<float>& elements) {
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "w"));
  if (!file) throw UsageError(path + ": cannot be opened for writing");
  bool written = std::fprintf(file.get(), "%lld\n", static_cast<long long>(n)) > 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      written = std::fprintf(file.get(), j + 1 < n ? "%.9g " : "%.9g\n",
                             static_cast<double>(elements[i * n + j])) > 0 &&
                written;
    }
  }
  written = std::fclose(file.release()) == 0 && written;
  if (!written) throw UsageError(path + ": writing failed (is the disk full?)");
}

}  // namespace amasia::lud
