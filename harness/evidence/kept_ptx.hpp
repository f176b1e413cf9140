// The PTX that a build keeps beside the executable, where machine code cannot be read.
#pragma once

#include <filesystem>
#include <string_view>

#include "harness/evidence/kernel_code.hpp"
#include "harness/evidence/ptx.hpp"

namespace amasia {

/// Adds the kernels of a module, replacing those of the same name.
void count_module(const ptx::Module& module, KernelCodes& kernels);

/// The PTX that nvcc --keep left under `folder`, of the newest architecture up to `binary_version`:
/// machine code for sm_86 may come from PTX for compute_80.
KernelCodes kept_ptx(const std::filesystem::path& folder, int binary_version);

}  // namespace amasia
