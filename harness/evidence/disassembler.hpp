// The toolkit's disassembler, cuobjdump, run on the executable.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/evidence/cubins.hpp"
#include "harness/evidence/kernel_code.hpp"

namespace amasia {

/// Path of cuobjdump on this machine ($CUOBJDUMP, on PATH, $CUDA_HOME/bin, beside nvcc,
/// /usr/local/cuda/bin), "" when there is none.
std::string find_cuobjdump();

/// Adds the SASS of some kernels (none: all) of the executable that `command` lists; false when it
/// fails or lists nothing. A disassembler takes a third of a second for each kernel, whatever its
/// length, because it looks for each name in every module of the executable; so as many run at a
/// time as there are cores.
bool list_kernels_in_parallel(const std::vector<std::string>& command,
                              const std::string& executable,
                              const std::vector<std::string>& kernels, KernelCodes& found);

/// Adds all kernels of some modules; false when one cannot be listed.
bool list_modules(const std::string& cuobjdump, const Cubins& cubins,
                  const std::vector<std::size_t>& modules, KernelCodes& found);

}  // namespace amasia
