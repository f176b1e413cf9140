// What the value of an option may be. Each check says in one line what was expected, and CLI11 puts
// the option's name before it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace amasia {

/// A finite number between the two, inclusive. `unit` is for the message: "seconds".
CLI::Validator number_between(double low, double high, const std::string& unit);

/// A whole number between the two, inclusive, in decimal digits.
CLI::Validator integer_between(std::int64_t low, std::int64_t high);

/// A whole number of 64 bits without a sign: a seed.
CLI::Validator unsigned_integer();

/// One of `choices`; anything else is answered with the nearest of them.
CLI::Validator one_of(std::vector<std::string> choices);

/// Accepts what `objection` has nothing to say of; `names` are offered by the shell's completion.
CLI::Validator offers(const std::vector<std::string>& names,
                      std::function<std::string(const std::string&)> objection);

/// The names that one_of() or offers() was given, {} for an option without.
std::vector<std::string> choices_of(CLI::Option& option);
std::vector<std::string> offers_of(CLI::Option& option);

}  // namespace amasia
