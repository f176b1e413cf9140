// Structs to JSON and back, from the declarations of their fields (field.hpp).
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/parameters.hpp"
#include "harness/results/field.hpp"
#include "harness/text/json_file.hpp"
#include "harness/words.hpp"

namespace amasia {

/// Integers as numbers, anything else as text.
Json written(const Parameters& value, const Rules& rules = any_value, const Place& at = {});

/// A struct as an object, fields in the order of their declaration. Throws ResultError "place: is
/// not ..." for a number that its rules do not allow.
template <class T>
Json written(const T& value, const Rules& rules = any_value, const Place& at = {});

namespace detail {

/// The number with the shortest decimal that gives the same float: what is written for it.
double shortest_decimal(float value);

inline bool in_range(double value, const Rules& rules) {
  return value <= rules.most && (rules.above ? value > rules.least : value >= rules.least);
}

inline Json written_number(double value, const Rules& rules, const Place& at) {
  if (!std::isfinite(value)) {
    if (rules.infinite_is_null) return nullptr;
    throw ResultError(at.to_string() + ": is not a finite number");
  }
  if (!in_range(value, rules)) {
    throw ResultError(at.to_string() + (rules.above ? ": is not positive" : ": is out of range"));
  }
  return value;
}

/// What an optional member says nothing with.
template <class T>
bool says_nothing(const T& value) {
  if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value == T();
  } else {
    return false;
  }
}

template <class Struct>
Json written_fields(const Struct& value, const Place& at) {
  Json object = Json::object();
  for_each_field<Struct>([&](const auto& field) {
    using FieldType = std::decay_t<decltype(field)>;
    const Place place(at, field.name);
    const auto add = [&](const auto& member) {
      if (field.rules.optional && says_nothing(member)) return;
      Json json = written(member, field.rules, place);
      if (field.rules.optional && json.is_null()) return;
      object[std::string(field.name)] = std::move(json);
    };
    if constexpr (FieldType::derived) {
      add((value.*field.value)());
    } else {
      add(value.*field.member);
    }
  });
  return object;
}

template <class Struct>
Json written_columns(const std::vector<Struct>& items, const Place& at) {
  Json object = Json::object();
  for_each_field<Struct>([&](const auto& field) {
    using Value = typename std::decay_t<decltype(field)>::Value;
    const Place column(at, field.name);
    Json list = Json::array();
    bool nothing = true, counted = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Value& value = items[i].*field.member;
      nothing = nothing && value == Struct().*field.member;
      if constexpr (std::is_same_v<Value, bool>) {
        if (value) list.push_back(i);
      } else {
        list.push_back(written(value, field.rules, Place(column, i)));
        counted = counted && list.back() == i;
      }
    }
    if (field.rules.optional && (field.rules.counts ? counted : nothing)) return;
    object[std::string(field.name)] = std::move(list);
  });
  return object;
}

template <class T>
Json written_shape(const std::optional<T>& value, const Rules& rules, const Place& at) {
  if constexpr (HasWords<T>::value) {
    return word_of(value);  // "" for none
  } else if constexpr (std::is_floating_point_v<T>) {
    // What could not be computed is unknown, not wrong.
    return value && std::isfinite(*value) && in_range(*value, rules) ? Json(*value) : Json(nullptr);
  } else {
    return value ? written(*value, rules, at) : Json(nullptr);
  }
}

template <class T>
Json written_shape(const std::vector<T>& items, const Rules& rules, const Place& at) {
  if constexpr (IsColumns<T>) {
    return written_columns(items, at);
  } else {
    Json list = Json::array();
    for (std::size_t i = 0; i < items.size(); ++i) {
      list.push_back(written(items[i], rules, Place(at, i)));
    }
    return list;
  }
}

template <class Pairs>
Json written_members(const Pairs& pairs, const Rules& rules, const Place& at) {
  Json object = Json::object();
  for (const auto& [name, item] : pairs) object[name] = written(item, rules, Place(at, name));
  return object;
}

template <class T>
Json written_shape(const std::map<std::string, T>& pairs, const Rules& rules, const Place& at) {
  return written_members(pairs, rules, at);
}

template <class T>
Json written_shape(const std::vector<std::pair<std::string, T>>& pairs, const Rules& rules,
                   const Place& at) {
  return written_members(pairs, rules, at);
}

}  // namespace detail

template <class T>
Json written(const T& value, const Rules& rules, const Place& at) {
  if constexpr (HasFields<T>) {
    return detail::written_fields(value, at);
  } else if constexpr (HasWords<T>::value) {
    return word_of(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    Json number = detail::written_number(value, rules, at);
    if constexpr (std::is_same_v<T, float>) number = detail::shortest_decimal(value);
    return number;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else {
    return detail::written_shape(value, rules, at);
  }
}

// Structs from JSON, by the declarations of their fields (field.hpp): every member is checked, and
// a wrong one named by its place.

/// A value of a document together with its place in it. The place around it must outlive it.
class At {
 public:
  using Wide = __int128;  // holds every integer of 64 bits, with a sign and without

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
  Wide integer(Wide least, Wide most) const;
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
  if constexpr (IsColumns<T>) {
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
  if constexpr (HasFields<T>) {
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
  } else if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(at.integer(rules.least_integer, std::numeric_limits<T>::max()));
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = at.text();
  } else {
    detail::read_shape(at, rules, value);
  }
}

}  // namespace amasia
