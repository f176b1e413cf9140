// The `amasia` program: arguments in, exit status out.
#pragma once

#include <functional>
#include <string>

#include "harness/cli/exit_status.hpp"

namespace amasia {

int amasia_main(int argc, char** argv);

/// What `program` ("amasia") returns to the shell: what `run` returns, or the exit status that
/// belongs to what it throws, which is told in one line.
int exit_status_of(const std::string& program, const std::function<int()>& run);

}  // namespace amasia
