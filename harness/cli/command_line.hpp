// The `amasia` program: arguments in, exit status out.
#pragma once

#include "harness/cli/exit_status.hpp"

namespace amasia {

int amasia_main(int argc, char** argv);

}  // namespace amasia
