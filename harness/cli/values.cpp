#include "harness/cli/values.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/text/number.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

constexpr const char* choices_name = "choices";
constexpr const char* offers_name = "offers";

/// Overlong input must not make an overlong message.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 40;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::vector<std::string> names_in(CLI::Option& option, const char* validator) {
  try {
    const std::string list = option.get_validator(validator)->get_description();
    return list.empty() ? std::vector<std::string>{} : CLI::detail::split(list, ',');
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

}  // namespace

CLI::Validator number_between(double low, double high, const std::string& unit) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = number_from<double>(text);
        if (value && *value >= low && *value <= high) return {};  // a NaN is not
        return fmt::format("'{}' is no number{} from {} to {}", shortened(text),
                           unit.empty() ? "" : " of " + unit, low, high);
      },
      "");
}

CLI::Validator integer_between(std::int64_t low, std::int64_t high) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = number_from<std::int64_t>(text);
        if (value && *value >= low && *value <= high) {
          text = fmt::format("{}", *value);  // CLI11 would read a leading zero as octal
          return {};
        }
        return fmt::format("'{}' is no whole number from {} to {}", shortened(text), low, high);
      },
      "");
}

CLI::Validator unsigned_integer() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (const auto value = number_from<std::uint64_t>(text)) {
          text = fmt::format("{}", *value);
          return {};
        }
        return fmt::format("'{}' is no whole number from 0 to {}", shortened(text), UINT64_MAX);
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> choices) {
  const std::string list = fmt::format("{}", fmt::join(choices, ","));
  return CLI::Validator(
      [choices = std::move(choices)](std::string& text) -> std::string {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
        return fmt::format("no '{}': {}", shortened(text), suggestion(text, choices));
      },
      list, choices_name);
}

CLI::Validator offers(const std::vector<std::string>& names,
                      std::function<std::string(const std::string&)> objection) {
  return CLI::Validator(
      [objection = std::move(objection)](std::string& text) { return objection(text); },
      fmt::format("{}", fmt::join(names, ",")), offers_name);
}

std::vector<std::string> choices_of(CLI::Option& option) { return names_in(option, choices_name); }
std::vector<std::string> offers_of(CLI::Option& option) { return names_in(option, offers_name); }

}  // namespace amasia
