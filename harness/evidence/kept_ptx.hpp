// The PTX that a build keeps beside the executable, where machine code cannot be read.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evidence/kernel_code.hpp"
#include "harness/evidence/ptx.hpp"

namespace amasia {

/// Adds the kernels of a module, replacing those of the same name.
void count_module(const ptx::Module& module, KernelCodes& kernels);

/// The PTX that nvcc --keep left under a folder, for architectures up to `binary_version`: machine
/// code for sm_86 may come from PTX for compute_80. To read all that a build for three
/// architectures keeps takes 3 s, so modules are looked through for the names of their kernels
/// first, and only those are read whose kernels are asked for.
class KeptPtx {
 public:
  KeptPtx(const std::filesystem::path& folder, int binary_version);

  /// No module for this architecture or an older one.
  bool empty() const { return modules_.empty(); }
  /// These (mangled) kernels, each as in the module for the newest architecture; of equals, the one
  /// written last. Without the kernels that no module has.
  KernelCodes of(const std::vector<std::string>& kernels) const;
  KernelCodes all() const;

 private:
  KernelCodes read(const std::set<std::size_t>& modules) const;

  std::vector<std::filesystem::path> modules_;  // of several with a kernel, the last is used
  std::map<std::string, std::set<std::size_t>> having_;  // by kernel: places in modules_
};

}  // namespace amasia
