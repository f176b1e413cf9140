#include "harness/evidence/ptx.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>

#include "harness/text/pattern.hpp"

namespace amasia::ptx {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

std::string trimmed(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return std::string(s);
}

std::uint64_t number_in(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

int target_of(std::string_view name) {
  const std::uint64_t version = number_in(name.substr(std::min<std::size_t>(3, name.size())));
  return version > 99999 ? 0 : static_cast<int>(version);  // beyond any is no target
}

/// ".f32" -> 4: the digits behind the letter are bits. 0 for what is no type.
std::size_t bytes_of_type(std::string_view word) {
  const bool is_type = word.size() >= 3 && word[0] == '.' &&
                       std::string_view("bsuf").find(word[1]) != std::string_view::npos;
  return is_type ? number_in(word.substr(2)) / 8 : 0;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Module module() {
    Module m;
    while (pos_ < text_.size()) {
      const std::string_view word = next_word();
      if (word == ".target") {
        m.target = target_of(next_word());
      } else if (word == ".entry" || word == ".func") {
        function(m, word == ".entry");
      } else if (word == ".section") {  // debug information, in braces, holds labels and bytes
        skip_to_any("{");
        skip_to_any("}");
      }
    }
    return m;
  }

 private:
  void advance() {
    if (text_[pos_] == '\n') ++line_;
    ++pos_;
  }
  void skip_space() {
    while (pos_ < text_.size() && is_space(text_[pos_])) advance();
  }
  void skip_to_any(std::string_view ends) {
    while (pos_ < text_.size() && ends.find(text_[pos_]) == std::string_view::npos) advance();
    if (pos_ < text_.size()) advance();
  }
  /// Directive or name at file scope; one character when it is neither.
  std::string_view next_word() {
    skip_space();
    const std::size_t start = pos_;
    while (pos_ < text_.size() && (is_name(text_[pos_]) || text_[pos_] == '.')) advance();
    if (pos_ == start && pos_ < text_.size()) advance();
    return text_.substr(start, pos_ - start);
  }

  void function(Module& m, bool entry) {
    skip_space();
    if (!entry && pos_ < text_.size() && text_[pos_] == '(') {  // .func (.param .b32 result) name
      skip_to_any(")");
      skip_space();
    }
    Function f;
    f.entry = entry;
    f.name = std::string(next_word());
    for (std::string_view word = next_word(); word != "{"; word = next_word()) {
      if (word.empty() || word == ";") return;  // a declaration
      if (word == "(") {
        parameters(f);
      } else if (word == ".pragma") {  // ends with a semicolon, as a declaration does
        skip_to_any(";");
      }
    }
    body(f.body);
    m.functions.push_back(std::move(f));
  }

  /// `.param .align 8 .b8 name[48], ...)`, behind the opening parenthesis.
  void parameters(Function& f) {
    std::size_t each = 0, count = 1;
    bool any = false;
    for (std::string_view word = next_word(); !word.empty(); word = next_word()) {
      any = any || word == ".param";
      if (word == ".align") {
        next_word();
      } else if (word == "[") {
        count = number_in(next_word());
      } else if (word == "," || word == ")") {
        if (any) f.parameters.push_back(each * count);
        each = 0;
        count = 1;
        any = false;
        if (word == ")") return;
      } else if (each == 0) {
        each = bytes_of_type(word);
      }
    }
  }

  void body(std::vector<Statement>& out) {
    int depth = 1;
    while (true) {
      skip_space();
      if (pos_ >= text_.size()) return;
      const char c = text_[pos_];
      if (c == '{' || c == '}') {
        depth += c == '{' ? 1 : -1;
        advance();
        if (depth == 0) return;
      } else if (c == '.') {
        directive();
      } else {
        statement(out);
      }
    }
  }

  void directive() {
    const std::size_t start = pos_;
    const std::string_view word = next_word();
    if (word == ".loc" || word == ".file") {  // end with the line, not with a semicolon
      skip_to_any("\n");
    } else {
      skip_to_any(";");
    }
    if (pos_ == start) advance();
  }

  void statement(std::vector<Statement>& out) {
    Statement s;
    s.line = line_;
    std::size_t end = pos_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    std::size_t colon = end;
    while (colon < text_.size() && is_space(text_[colon])) ++colon;
    const bool is_label = end > pos_ && colon < text_.size() && text_[colon] == ':' &&
                          (colon + 1 >= text_.size() || text_[colon + 1] != ':');
    if (is_label) {
      s.label = std::string(text_.substr(pos_, end - pos_));
      while (pos_ <= colon) advance();
      out.push_back(std::move(s));
      return;
    }
    const std::size_t start = pos_;
    skip_to_any(";");
    std::string_view text = text_.substr(start, pos_ - start);
    if (!text.empty() && text.back() == ';') text.remove_suffix(1);
    split(text, s);
    if (!s.opcode.empty()) out.push_back(std::move(s));
  }

  static void split(std::string_view text, Statement& s) {
    const auto word = [&text] {
      while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
      std::size_t n = 0;
      while (n < text.size() && !is_space(text[n])) ++n;
      std::string w(text.substr(0, n));
      text.remove_prefix(n);
      return w;
    };
    s.opcode = word();
    if (!s.opcode.empty() && s.opcode.front() == '@') {
      s.guard = std::move(s.opcode);
      s.opcode = word();
    }
    int nested = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i == text.size() || (text[i] == ',' && nested == 0)) {
        std::string operand = trimmed(text.substr(start, i - start));
        if (!operand.empty()) s.operands.push_back(std::move(operand));
        start = i + 1;
      } else if (text[i] == '{' || text[i] == '[' || text[i] == '(') {
        ++nested;
      } else if (text[i] == '}' || text[i] == ']' || text[i] == ')') {
        --nested;
      }
    }
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  int line_ = 1;
};

}  // namespace

std::string without_comments(std::string_view text) {
  std::string out(text);
  bool in_string = false;  // which ends with its line
  for (std::size_t i = 0; i + 1 < out.size();) {
    if (out[i] == '"' || out[i] == '\n') {
      in_string = out[i++] == '"' && !in_string;
    } else if (in_string) {
      out[i++] = ' ';
    } else if (out[i] == '/' && out[i + 1] == '/') {
      while (i < out.size() && out[i] != '\n') out[i++] = ' ';
    } else if (out[i] == '/' && out[i + 1] == '*') {
      const std::size_t end = std::min(out.find("*/", i + 2), out.size() - 2) + 2;
      for (; i < end; ++i) {
        if (out[i] != '\n') out[i] = ' ';
      }
    } else {
      ++i;
    }
  }
  return out;
}

Module parse(std::string_view text) {
  const std::string code = without_comments(text);
  return Reader(code).module();
}

std::string operation_of(std::string_view opcode) {
  // Longest first where one begins another.
  static const std::vector<std::string> whole = split(
      "cp.async.bulk.tensor cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.bulk "
      "cp.async.commit_group cp.async.wait_group cp.async.wait_all cp.async.mbarrier cp.async "
      "cp.reduce.async.bulk barrier.cluster.arrive barrier.cluster.wait "
      "mbarrier.try_wait mbarrier.test_wait mbarrier.arrive mbarrier.init st.async "
      "wgmma.mma_async wgmma.fence wgmma.commit_group wgmma.wait_group "
      "wmma.mma wmma.load wmma.store griddepcontrol.launch_dependents griddepcontrol.wait",
      ' ');
  for (const std::string& name : whole) {
    if (opcode.starts_with(name)) return name;
  }

  std::string verb(opcode.substr(0, opcode.find('.')));
  if (verb == "bar" || verb == "barrier") {
    const std::size_t second = opcode.find('.', verb.size() + 1);
    return std::string(opcode.substr(0, second));
  }
  if (verb != "ld" && verb != "st" && verb != "atom" && verb != "red" && verb != "ldu") return verb;
  // "shared::cta" is "shared"; no space at all means a generic address.
  for (std::string_view space :
       {"shared::cluster", "shared", "global", "local", "param", "const"}) {
    std::size_t at = opcode.find(space);
    if (at != std::string_view::npos && opcode[at - 1] == '.') {
      return verb + "." + std::string(space);
    }
  }
  return verb;
}

}  // namespace amasia::ptx
