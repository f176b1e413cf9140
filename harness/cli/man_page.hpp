// The manual page, section 1, made of the description of the program.
#pragma once

#include <string>

#include "harness/cli/description.hpp"

namespace amasia {

/// In roff, for `man -l -` and for a file amasia.1.
std::string man_page(const ProgramDescription& program);

}  // namespace amasia
