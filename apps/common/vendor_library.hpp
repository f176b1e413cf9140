// What the comparators that call a vendor's library have in common.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "variants/device/library.hpp"

namespace amasia {

/// Throws std::runtime_error unless a call to a library returned 0, its status of success.
template <class Status>
void check_status(Status status, const char* call) {
  if (static_cast<int>(status) == 0) return;
  throw std::runtime_error(std::string(call) + " failed with status " + std::to_string(status));
}

// A function of a library, and a call that is checked. Macros, because only a macro can quote the
// name.
#define AMASIA_LIBRARY_FUNCTION(library, name) (library).function<decltype(name)>(#name)
#define AMASIA_LIBRARY_CALL(library, name, ...) \
  ::amasia::check_status(AMASIA_LIBRARY_FUNCTION(library, name)(__VA_ARGS__), #name)

/// Why comparators cannot use the library; nothing if they can.
inline std::optional<std::string> objection_of(const Library& library) {
  if (library.loaded()) return std::nullopt;
  return library.reason();
}

}  // namespace amasia
