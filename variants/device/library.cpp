#include "variants/device/library.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace amasia {

Library::Library(std::initializer_list<const char*> names) {
  std::vector<std::string> folders{""};
  if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(std::string(home) + "/lib64/");
  folders.emplace_back("/usr/local/cuda/lib64/");
  for (const char* name : names) {
    for (const std::string& folder : folders) {
      handle_ = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) {
        name_ = name;
        return;
      }
    }
  }
  reason_ = fmt::format(
      "none of {} was found: install the CUDA toolkit's libraries, or name their folder in "
      "LD_LIBRARY_PATH",
      fmt::join(names, " "));
}

void* Library::symbol(const char* name) const {
  if (!loaded()) throw std::runtime_error(reason_);
  void* found = dlsym(handle_, name);
  if (found == nullptr) throw std::runtime_error(name_ + " has no function " + name);
  return found;
}

}  // namespace amasia
