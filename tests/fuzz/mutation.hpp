// Inputs that nobody wrote: mutations of a corpus, the same in every run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace amasia {

class Mutator {
 public:
  /// `words`: what the format is made of, to be put where it does not belong.
  Mutator(std::vector<std::string> corpus, std::vector<std::string> words, std::uint64_t seed)
      : corpus_(std::move(corpus)), words_(std::move(words)), state_(seed) {}

  /// One of the corpus with up to eight changes. The first calls give the corpus as it is.
  std::string next() {
    if (given_ < corpus_.size()) return corpus_[given_++];
    std::string text = corpus_[below(corpus_.size())];
    for (std::size_t changes = 1 + below(8); changes > 0; --changes) change(text);
    return text;
  }

  /// 0 to n-1; 0 for n = 0.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); }

 private:
  /// splitmix64: any seed is a good one.
  std::uint64_t random() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }

  static bool in_number(char c) {
    return std::string_view("0123456789+-.eE").find(c) != std::string_view::npos;
  }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(1 + below(64)), text.size() - at);
    switch (below(7)) {
      case 0:  // a bit
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:  // twice, somewhere
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 4: {  // a piece of another
        const std::string& other = corpus_[below(corpus_.size())];
        const std::size_t from = below(other.size() + 1);
        text.replace(at, length, other.substr(from, below(64)));
        break;
      }
      case 5: {  // another number
        std::size_t begin = at, end = at;
        while (begin > 0 && in_number(text[begin - 1])) --begin;
        while (end < text.size() && in_number(text[end])) ++end;
        text.replace(begin, end - begin, numbers[below(std::size(numbers))]);
        break;
      }
      default:
        text.insert(at, words_[below(words_.size())]);
    }
  }

  static constexpr std::string_view numbers[] = {
      "0",     "-0",    "1",   "-1",  "2147483648", "4294967297", "9223372036854775808",
      "1e308", "1e309", "0.1", "nan", "inf",        "5e-324",     "18446744073709551616",
      "+1",    "1e",    ".",   "-",   "0x10",       "007"};

  std::vector<std::string> corpus_;
  std::vector<std::string> words_;
  std::size_t given_ = 0;
  std::uint64_t state_;
};

}  // namespace amasia
