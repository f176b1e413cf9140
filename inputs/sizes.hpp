// Products of sizes that a user gave, in 64 bits, refused where they overflow.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace amasia {

/// a * b * ... as bytes or cells. Throws UsageError, naming `what`, for a negative factor and when
/// the product does not fit in 63 bits.
std::int64_t checked_product(std::initializer_list<std::int64_t> factors, std::string_view what);

}  // namespace amasia
