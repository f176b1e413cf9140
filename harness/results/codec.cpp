#include "harness/results/codec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace amasia {

void At::expected(const std::string& what) const {
  const std::string place = place_.to_string();
  throw ResultError((place.empty() ? std::string("the document") : place) + ": expected " + what +
                    ", found " + found());
}

std::string At::found() const {
  if (value_.is_object() || value_.is_array()) return std::string("an ") + value_.type_name();
  constexpr std::size_t most = 40;
  const std::string text = compact(value_);
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

void At::check_object() const {
  if (!value_.is_object()) expected("an object");
}

At At::member(std::string_view name) const {
  check_object();
  const auto found = value_.find(std::string(name));
  const Place place(place_, name);
  if (found == value_.end()) throw ResultError(place.to_string() + ": is missing");
  return {*found, place};
}

std::optional<At> At::optional_member(std::string_view name) const {
  check_object();
  const auto found = value_.find(std::string(name));
  if (found == value_.end()) return std::nullopt;
  return At(*found, Place(place_, name));
}

const std::string& At::text() const {
  if (!value_.is_string()) expected("text");
  return value_.get_ref<const std::string&>();
}

bool At::boolean() const {
  if (!value_.is_boolean()) expected("true or false");
  return value_.get<bool>();
}

double At::number(const Rules& rules) const {
  if (rules.infinite_is_null && value_.is_null()) return std::numeric_limits<double>::infinity();
  if (!value_.is_number()) expected("a number");
  const double number = value_.get<double>();
  if (rules.above && !(number > rules.least)) expected("a positive number");
  if (!std::isfinite(number) || number < rules.least || number > rules.most) {
    expected("a finite number in range");
  }
  return number;
}

namespace {

/// JSON's parser makes a floating-point number of a whole one with too many digits.
const char* integer_expected(const Json& value) {
  constexpr double two_to_63 = 0x1p63;
  const bool too_long = value.is_number_float() && std::abs(value.get<double>()) >= two_to_63;
  return too_long ? "an integer of 64 bits at most" : "an integer";
}

}  // namespace

At::Wide At::integer(Wide least, Wide most) const {
  if (!value_.is_number_integer()) expected(integer_expected(value_));
  const Wide number = value_.is_number_unsigned() ? Wide{value_.get<std::uint64_t>()}
                                                  : Wide{value_.get<std::int64_t>()};
  if (number < least || number > most) expected("one in range");
  return number;
}

void check_derived(const At& at, double expected) {
  const double found = at.number(any_value);
  if (std::abs(found - expected) > 1e-9 * std::max(std::abs(found), std::abs(expected))) {
    at.expected(fmt::format("{}, as the members beside it have it", expected));
  }
}

void check_derived(const At& at, std::string_view expected) {
  if (at.text() != expected) {
    at.expected(fmt::format("{}, as the members beside it have it", expected));
  }
}

std::size_t At::array_size() const {
  if (!value_.is_array()) expected("an array");
  return value_.size();
}

void read(const At& at, const Rules&, Parameters& value) {
  at.check_object();
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& [name, item] : at.json().items()) {
    const At parameter(item, Place(at.place(), name));
    if (item.is_number()) {
      values.emplace_back(
          name, std::to_string(static_cast<std::int64_t>(parameter.integer(INT64_MIN, INT64_MAX))));
    } else if (item.is_string()) {
      values.emplace_back(name, parameter.text());
    } else {
      parameter.expected("an integer or text");
    }
  }
  value = Parameters::from_values(std::move(values));
}

}  // namespace amasia
