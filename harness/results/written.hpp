// Structs to JSON, from the declarations of their fields (field.hpp).
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

/// Integers as numbers, anything else as text.
nlohmann::ordered_json written(const Parameters& value, const Rules& rules, const Place& at);

/// A struct as an object, fields in the order of their declaration. Throws ResultError "place: is
/// not ..." for a number that its rules do not allow.
template <class T>
nlohmann::ordered_json written(const T& value, const Rules& rules, const Place& at);

namespace detail {

using Json = nlohmann::ordered_json;

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
  if constexpr (is_columns<T>()) {
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
nlohmann::ordered_json written(const T& value, const Rules& rules, const Place& at) {
  if constexpr (HasFields<T>::value) {
    return detail::written_fields(value, at);
  } else if constexpr (HasWords<T>::value) {
    return word_of(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    nlohmann::ordered_json number = detail::written_number(value, rules, at);
    if constexpr (std::is_same_v<T, float>) number = detail::shortest_decimal(value);
    return number;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else {
    return detail::written_shape(value, rules, at);
  }
}

}  // namespace amasia
