#include "harness/text/tool.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace amasia {
namespace {

namespace fs = std::filesystem;

bool executable_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string on_path(std::string_view program) {
  const std::string path = environment("PATH");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path folder(path.substr(begin, end - begin));
    if (!folder.empty() && executable_file(folder / program)) return folder / program;
    begin = end + 1;
  }
  return "";
}

}  // namespace

std::string find_tool(std::string_view program, const char* variable,
                      const std::vector<fs::path>& elsewhere) {
  std::vector<fs::path> candidates{environment(variable), on_path(program)};
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string folder = environment(home);
    if (!folder.empty()) candidates.push_back(fs::path(folder) / "bin" / program);
  }
  if (const std::string nvcc = on_path("nvcc"); !nvcc.empty()) {
    std::error_code ignored;
    candidates.push_back(fs::canonical(nvcc, ignored).parent_path() / program);
  }
  candidates.push_back(fs::path("/usr/local/cuda/bin") / program);
  for (const fs::path& folder : elsewhere) candidates.push_back(folder / program);
  const auto found = std::find_if(candidates.begin(), candidates.end(), executable_file);
  return found == candidates.end() ? "" : found->string();
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "amasia-XXXXXX").string();
  if (!error && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace amasia
