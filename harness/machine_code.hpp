// What a microbenchmark may ask about the machine code of its own kernels.
#pragma once

#include <string>

#include "harness/device.hpp"

namespace amasia {

/// Instructions in the loops of the kernel with this mangled name, counted in the code that the
/// device loads. Throws std::runtime_error with the reason when it cannot be read.
int instructions_in_loops(const std::string& mangled_name, const Device& device);

}  // namespace amasia
