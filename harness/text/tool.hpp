// Programs of the CUDA toolkit that the suite calls, and a place for the files they exchange.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace amasia {

/// Path of a program of the toolkit: what the environment variable `variable` names, else the first
/// on PATH, in $CUDA_HOME/bin, $CUDA_PATH/bin, beside nvcc, in /usr/local/cuda/bin, and last in the
/// folders `elsewhere`. "" when there is none.
std::string find_tool(std::string_view program, const char* variable,
                      const std::vector<std::filesystem::path>& elsewhere = {});

/// A folder for a while. Its path is empty when none can be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_{};
};

}  // namespace amasia
