// The toolkit's disassembler, cuobjdump, run on the executable.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/evidence/cubins.hpp"
#include "harness/evidence/sass.hpp"

namespace amasia {

/// Path of cuobjdump on this machine ($CUOBJDUMP, on PATH, $CUDA_HOME/bin, beside nvcc,
/// /usr/local/cuda/bin), "" when there is none.
std::string find_cuobjdump();

/// Adds the SASS of all kernels of a file for an architecture ("sm_90a"); false when that fails or
/// lists nothing.
bool list_file(const std::string& cuobjdump, const std::string& file,
               const std::string& architecture, KernelCodes& found);

/// Adds all kernels of some modules, as many at a time as there are cores; false when one cannot be
/// listed.
bool list_modules(const std::string& cuobjdump, const Cubins& cubins,
                  const std::vector<std::size_t>& modules, KernelCodes& found);

}  // namespace amasia
