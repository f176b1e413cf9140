// The two ways in which a request fails without being a bug. A CUDA error is
// variants/device/cuda.hpp's.
#pragma once

#include <stdexcept>

#include "inputs/errors.hpp"  // UsageError

namespace amasia {

/// A file that cannot be read, written or believed. what() is one line that names the file or
/// member.
class ResultError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace amasia
