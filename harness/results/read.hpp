// Structs from JSON, by the declarations of their fields (field.hpp): every member is checked, and
// a wrong one named by its place.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/errors.hpp"
#include "harness/parameters.hpp"
#include "harness/results/field.hpp"
#include "harness/words.hpp"

namespace amasia {

/// A value of a document together with its place in it. The place around it must outlive it.
class At {
 public:
  using Json = nlohmann::ordered_json;

  explicit At(const Json& document) : value_(document) {}

  /// Throws ResultError "place: expected what, found ...".
  [[noreturn]] void expected(const std::string& what) const;

  At member(std::string_view name) const;
  At item(std::size_t index) const { return {value_[index], Place(place_, index)}; }
  /// Nothing when absent.
  std::optional<At> optional_member(std::string_view name) const;

  const std::string& text() const;
  bool boolean() const;
  double number(const Rules& rules) const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  std::uint64_t unsigned_integer(std::uint64_t least, std::uint64_t most) const;
  std::size_t array_size() const;
  void check_object() const;

  const Json& json() const { return value_; }
  const Place& place() const { return place_; }

  At(const Json& value, Place place) : value_(value), place_(place) {}

 private:
  std::string found() const;

  const Json& value_;
  Place place_{};
};

void read(const At& at, const Rules& rules, Parameters& value);

/// Throws ResultError unless the value is the one that follows from other members.
void check_derived(const At& at, double expected);
void check_derived(const At& at, std::string_view expected);

template <class T>
void read(const At& at, const Rules& rules, T& value);

namespace detail {

template <class Struct>
void read_fields(const At& at, Struct& value) {
  at.check_object();
  for_each_field<Struct>([&](const auto& field) {
    if constexpr (!std::decay_t<decltype(field)>::derived) {
      if (field.rules.optional) {
        if (const auto member = at.optional_member(field.name)) {
          read(*member, field.rules, value.*field.member);
        }
      } else {
        read(at.member(field.name), field.rules, value.*field.member);
      }
    }
  });
  for_each_field<Struct>([&](const auto& field) {
    using FieldType = std::decay_t<decltype(field)>;
    if constexpr (FieldType::derived) {
      using Value = typename FieldType::Value;
      if constexpr (HasWords<Value>::value) {
        check_derived(at.member(field.name), word_of((value.*field.value)()));
      } else if constexpr (std::is_arithmetic_v<Value>) {
        check_derived(at.member(field.name), static_cast<double>((value.*field.value)()));
      }
    }
  });
}

template <class Struct>
void read_columns(const At& at, std::vector<Struct>& items) {
  at.check_object();
  bool first = true, equal = true;
  const auto for_each_column = [&](bool indices, const auto& visit) {
    for_each_field<Struct>([&](const auto& field) {
      if (indices != std::is_same_v<typename std::decay_t<decltype(field)>::Value, bool>) return;
      const auto column = field.rules.optional ? at.optional_member(field.name)
                                               : std::optional(at.member(field.name));
      if (column) visit(field, *column);
    });
  };
  for_each_column(false, [&](const auto& field, const At& column) {
    const std::size_t size = column.array_size();
    if (first) items.resize(size);
    equal = equal && size == items.size();
    first = false;
    for (std::size_t i = 0; i < size; ++i) {
      Struct beyond;  // of a longer column: checked all the same
      Struct& item = i < items.size() ? items[i] : beyond;
      read(column.item(i), field.rules, item.*field.member);
    }
  });
  if (!equal) at.expected("columns of equal length");
  for_each_column(true, [&](const auto& field, const At& column) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(field)>::Value, bool>) {
      for (std::size_t i = 0; i < column.array_size(); ++i) {
        const At item = column.item(i);
        const auto most = static_cast<std::int64_t>(items.size()) - 1;
        items[static_cast<std::size_t>(item.integer(0, most))].*field.member = true;
      }
    }
  });
  for_each_field<Struct>([&](const auto& field) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(field)>::Value, int>) {
      if (!field.rules.counts || at.optional_member(field.name)) return;
      for (std::size_t i = 0; i < items.size(); ++i) items[i].*field.member = static_cast<int>(i);
    }
  });
}

template <class T>
void read_shape(const At& at, const Rules& rules, std::optional<T>& value) {
  if constexpr (HasWords<T>::value) {
    value = find_word<T>(at.text());
    if (!value && !at.text().empty()) at.expected(list_of_words<T>());
  } else {
    if (at.json().is_null()) {
      value.reset();
    } else {
      read(at, rules, value.emplace());
    }
  }
}

template <class T>
void read_shape(const At& at, const Rules& rules, std::vector<T>& items) {
  if constexpr (is_columns<T>()) {
    read_columns(at, items);
  } else {
    items.resize(at.array_size());
    for (std::size_t i = 0; i < items.size(); ++i) read(at.item(i), rules, items[i]);
  }
}

template <class T>
void read_shape(const At& at, const Rules& rules, std::map<std::string, T>& pairs) {
  at.check_object();
  for (const auto& [name, item] : at.json().items()) {
    read(At(item, Place(at.place(), name)), rules, pairs[name]);
  }
}

template <class T>
void read_shape(const At& at, const Rules& rules, std::vector<std::pair<std::string, T>>& pairs) {
  at.check_object();
  for (const auto& [name, item] : at.json().items()) {
    pairs.emplace_back(name, T());
    read(At(item, Place(at.place(), name)), rules, pairs.back().second);
  }
}

}  // namespace detail

template <class T>
void read(const At& at, const Rules& rules, T& value) {
  if constexpr (HasFields<T>::value) {
    detail::read_fields(at, value);
  } else if constexpr (HasWords<T>::value) {
    const auto found = find_word<T>(at.text());
    if (!found) at.expected(list_of_words<T>());
    value = *found;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = at.boolean();
  } else if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(at.number(rules));
    if (!std::isfinite(value) && !rules.infinite_is_null) at.expected("a finite number in range");
    if (rules.above && !(value > rules.least)) at.expected("a positive number");
  } else if constexpr (std::is_unsigned_v<T>) {
    value = static_cast<T>(at.unsigned_integer(static_cast<std::uint64_t>(rules.least_integer),
                                               std::numeric_limits<T>::max()));
  } else if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(at.integer(rules.least_integer, std::numeric_limits<T>::max()));
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = at.text();
  } else {
    detail::read_shape(at, rules, value);
  }
}

}  // namespace amasia
