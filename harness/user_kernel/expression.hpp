// Integers that depend on the parameters of a description: "(n + 255) / 256".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace amasia {

/// What a name stands for; nothing for one that is not known.
using ValueOf = std::function<std::optional<std::int64_t>(std::string_view name)>;

/// Decimal integers, names, + - * / (rounding towards zero), parentheses. Throws UsageError, a
/// clause that quotes the text, for anything else, for an unknown name, a division by zero and a
/// value beyond 64 bits.
std::int64_t evaluate(std::string_view text, const ValueOf& value_of);

}  // namespace amasia
