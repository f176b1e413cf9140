#include "harness/parameters.hpp"

#include <algorithm>
#include <charconv>

#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

enum class Parsed { integer, not_an_integer, too_large };

/// What "k", " KiB" or nothing stands for; 0 for no unit there is.
std::int64_t factor_of(std::string_view unit) {
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.ends_with('B')) unit.remove_suffix(1);
  const bool binary = unit.ends_with('i');
  if (binary) unit.remove_suffix(1);
  if (unit.empty() && !binary) return 1;
  constexpr std::string_view prefixes = "kMGT";
  const std::size_t at = unit == "K" ? 0 : prefixes.find(unit);
  if (unit.size() != 1 || at == std::string_view::npos) return 0;
  std::int64_t factor = 1;
  for (std::size_t i = 0; i <= at; ++i) factor *= binary ? 1024 : 1000;
  return factor;
}

/// "4096", "4k" (4000), "4Ki" (4096), "16 KiB", "2^20".
Parsed parse_integer(std::string_view text, std::int64_t& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) return Parsed::too_large;
  if (error != std::errc{}) return Parsed::not_an_integer;
  if (stop != end && *stop == '^') {
    const std::int64_t base = value;
    const auto exponent = number_from<std::uint8_t>({stop + 1, end});
    if (!exponent) return Parsed::not_an_integer;
    value = 1;
    for (int i = 0; i < *exponent; ++i) {
      if (__builtin_mul_overflow(value, base, &value)) return Parsed::too_large;
    }
    return Parsed::integer;
  }
  const std::int64_t factor = factor_of({stop, end});
  if (factor == 0) return Parsed::not_an_integer;
  return __builtin_mul_overflow(value, factor, &value) ? Parsed::too_large : Parsed::integer;
}

std::string range_of(const ParameterSpec& spec) {
  return std::to_string(spec.minimum) +
         (spec.maximum == INT64_MAX ? " or more" : " to " + std::to_string(spec.maximum));
}

/// The canonical spelling of a valid value; throws UsageError for any other.
std::string checked_value(const ParameterSpec& spec, const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("parameter " + spec.name + ": " + why);
  };
  switch (spec.kind) {
    case ParameterSpec::Kind::integer: {
      std::int64_t value = 0;
      const Parsed parsed = parse_integer(text, value);
      if (parsed == Parsed::not_an_integer) {
        refuse("'" + text + "' is no whole number (4096, 4k, 16 KiB, 2^20); expected " +
               range_of(spec));
      }
      if (parsed == Parsed::too_large) {
        refuse(text + " does not fit in 64 bits; expected " + range_of(spec));
      }
      if (value < spec.minimum || value > spec.maximum) {
        refuse(text + " is out of range; expected " + range_of(spec));
      }
      return std::to_string(value);
    }
    case ParameterSpec::Kind::choice:
      if (std::ranges::find(spec.choices, text) == spec.choices.end()) {
        refuse("no choice '" + text + "'; " + suggestion(text, spec.choices));
      }
      return text;
    case ParameterSpec::Kind::file:
      // Sizes are printed and read back as "a=1,b=2": a comma would end the value.
      if (text.find(',') != std::string::npos) {
        refuse("file name '" + text + "' has a comma, which separates parameters; rename the file");
      }
      return text;
  }
  throw std::logic_error("unknown kind of parameter " + spec.name);
}

}  // namespace

Parameters::Parameters(const std::vector<ParameterSpec>& specs,
                       const std::map<std::string, std::string>& given) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : specs) names.push_back(spec.name);
  for (const auto& [name, value] : given) {
    if (std::ranges::find(names, name) != names.end()) continue;
    throw UsageError("unknown parameter '" + name + "': " + suggestion(name, names));
  }
  for (const ParameterSpec& spec : specs) {
    const auto found = given.find(spec.name);
    values_.emplace_back(
        spec.name, checked_value(spec, found == given.end() ? spec.default_value : found->second));
  }
}

Parameters Parameters::from_values(std::vector<std::pair<std::string, std::string>> values) {
  Parameters parameters;
  parameters.values_ = std::move(values);
  return parameters;
}

const std::string& Parameters::text(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  throw std::logic_error("no parameter named " + std::string(name));
}

std::int64_t Parameters::integer(std::string_view name) const {
  std::int64_t value = 0;
  if (parse_integer(text(name), value) != Parsed::integer) {
    throw std::logic_error("parameter " + std::string(name) + " is no integer");
  }
  return value;
}

std::string Parameters::to_string() const {
  std::string joined;
  for (const auto& [name, value] : values_) {
    if (value.empty()) continue;  // a file that was not given
    if (!joined.empty()) joined += ',';
    joined += name + '=' + value;
  }
  return joined;
}

std::map<std::string, std::string> parse_size(std::string_view text, std::string_view what,
                                              std::string_view example) {
  std::map<std::string, std::string> size;
  const auto error = [&](const std::string& mistake) {
    return UsageError(std::string(what) + " '" + std::string(text) + "': " + mistake +
                      "; expected " + std::string(example));
  };
  if (text.empty()) throw error("is empty");
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    if (item.empty()) throw error("a parameter is empty");
    if (equals == std::string_view::npos) throw error("'" + std::string(item) + "' has no '='");
    if (equals == 0) throw error("'" + std::string(item) + "' has no name");
    const std::string name(item.substr(0, equals));
    if (!size.emplace(name, std::string(item.substr(equals + 1))).second) {
      throw error("'" + name + "' is given twice");
    }
    begin = end + 1;
  }
  return size;
}

}  // namespace amasia
