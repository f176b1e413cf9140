// The parameters of an app as its table writes them: specifications, sizes, choices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/parameters.hpp"

namespace amasia {

/// A parameter that is one of some words.
inline ParameterSpec choice(std::string name, std::string help, std::string default_value,
                            std::vector<std::string> choices) {
  return {std::move(name),
          ParameterSpec::Kind::choice,
          std::move(help),
          std::move(default_value),
          1,
          1,
          std::move(choices)};
}
/// Which of `names`, in the order of an enumeration T.
template <class T, std::size_t COUNT>
T choice_of(const std::string& text, const char* const (&names)[COUNT]) {
  const auto* const found = std::find(std::begin(names), std::end(names), text);
  return static_cast<T>(found - std::begin(names));
}

struct ParameterValue {
  std::string text;
  ParameterValue(std::int64_t number) : text(std::to_string(number)) {}
  ParameterValue(int number) : text(std::to_string(number)) {}
  ParameterValue(const char* word) : text(word) {}
};
/// size_of(specs, {{"rows", 4096}, {"order", "front"}}); defaults for what is left out. Throws
/// UsageError as Parameters does.
inline Parameters size_of(const std::vector<ParameterSpec>& specs,
                          std::initializer_list<std::pair<const char*, ParameterValue>> values) {
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : values) given[name] = value.text;
  return {specs, given};
}

}  // namespace amasia
