#include "harness/device.hpp"

#include <cctype>

namespace amasia {

std::string device_slug(const std::string& name) {
  std::string slug;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  for (const std::string vendor : {"nvidia-", "geforce-", "tesla-"}) {
    if (slug.rfind(vendor, 0) == 0) slug.erase(0, vendor.size());
  }
  return slug;
}

}  // namespace amasia
