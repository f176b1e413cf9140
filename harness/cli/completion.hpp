// Completion scripts for shells, made of the description of the program: commands, options, the
// values that an option may have, names worth offering, files.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/description.hpp"

namespace amasia {

/// "bash", "fish", "zsh".
const std::vector<std::string>& completion_shells();

/// The script for one of completion_shells(). Throws std::logic_error for any other.
std::string completion_script(const ProgramDescription& program, const std::string& shell);

}  // namespace amasia
