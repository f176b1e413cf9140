// What is thrown for input that cannot be used: a size, a file, an option.
#pragma once

#include <stdexcept>

namespace amasia {

/// A mistake of the user: exit status 2. what() is one line that says what to do.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace amasia
