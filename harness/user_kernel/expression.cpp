#include "harness/user_kernel/expression.hpp"

#include <cctype>
#include <charconv>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace amasia {
namespace {

constexpr int deepest = 100;  // parentheses and signs within each other

class Calculation {
 public:
  Calculation(std::string_view text, const ValueOf& value_of) : text_(text), value_of_(value_of) {}

  std::int64_t result() {
    const std::int64_t value = sum();
    if (at_ < text_.size()) refuse(fmt::format("'{}' is not expected there", text_[at_]));
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("\"{}\": {}", text_, why));
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::int64_t sum() {
    std::int64_t value = product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at_;
      const std::int64_t other = product();
      const bool over = c == '+' ? __builtin_add_overflow(value, other, &value)
                                 : __builtin_sub_overflow(value, other, &value);
      if (over) refuse("its value is beyond 64 bits");
    }
    return value;
  }

  std::int64_t product() {
    std::int64_t value = operand();
    for (char c = peek(); c == '*' || c == '/'; c = peek()) {
      ++at_;
      const std::int64_t other = operand();
      if (c == '*') {
        if (__builtin_mul_overflow(value, other, &value)) refuse("its value is beyond 64 bits");
        continue;
      }
      if (other == 0) refuse("it divides by zero");
      if (other == -1 && value == std::numeric_limits<std::int64_t>::min()) {
        refuse("its value is beyond 64 bits");
      }
      value /= other;
    }
    return value;
  }

  std::int64_t operand() {
    if (++depth_ > deepest) refuse("it is nested too deeply");
    const std::int64_t value = operand_within();
    --depth_;
    return value;
  }

  std::int64_t operand_within() {
    const char c = peek();
    if (c == '(') {
      ++at_;
      const std::int64_t value = sum();
      if (peek() != ')') refuse("a parenthesis is not closed");
      ++at_;
      return value;
    }
    if (c == '-') {
      ++at_;
      std::int64_t value = 0;
      if (__builtin_sub_overflow(std::int64_t{0}, operand(), &value)) {
        refuse("its value is beyond 64 bits");
      }
      return value;
    }
    const std::size_t begin = at_;
    const auto is_word = [&] {
      return at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_');
    };
    while (is_word()) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      refuse(c == '\0' ? "it ends where a number or a parameter is expected"
                       : fmt::format("'{}' is not expected there", c));
    }
    std::int64_t value = 0;
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) {
      const auto known = value_of_(word);
      if (!known) refuse(fmt::format("'{}' is no parameter", word));
      return *known;
    }
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range) refuse("a number in it is beyond 64 bits");
    if (end != word.data() + word.size()) refuse(fmt::format("'{}' is no integer", word));
    return value;
  }

  std::string_view text_;
  const ValueOf& value_of_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view text, const ValueOf& value_of) {
  return Calculation(text, value_of).result();
}

}  // namespace amasia
