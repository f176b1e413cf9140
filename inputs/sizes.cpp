#include "inputs/sizes.hpp"

#include <string>

#include "inputs/errors.hpp"

namespace amasia {

std::int64_t checked_product(std::initializer_list<std::int64_t> factors, std::string_view what) {
  std::string text;
  bool zero = false;
  for (const std::int64_t factor : factors) {
    if (!text.empty()) text += " x ";
    text += std::to_string(factor);
    zero = zero || factor == 0;
    if (factor < 0) {
      throw UsageError(std::string(what) + ": " + std::to_string(factor) + " is negative");
    }
  }
  if (zero) return 0;  // whatever the other factors would overflow to
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      throw UsageError(std::string(what) + ": " + text + " does not fit in 63 bits");
    }
  }
  return product;
}

}  // namespace amasia
