// A vendor library loaded at run time, so that the suite builds and runs without it: comparators
// are skipped with the reason where it is missing.
#pragma once

#include <initializer_list>
#include <string>

namespace amasia {

/// A shared library, looked for under each of `names` in turn ("libcublas.so.13",
/// "libcublas.so.12") in the loader's path, $CUDA_HOME/lib64 and /usr/local/cuda/lib64. It stays
/// loaded: libraries of the CUDA toolkit cannot be unloaded while a context lives.
class Library {
 public:
  Library(std::initializer_list<const char*> names);

  bool loaded() const { return handle_ != nullptr; }
  /// Why it is not loaded, as a sentence that says what to do; empty when it is.
  const std::string& reason() const { return reason_; }

  /// The function of this name. Throws std::runtime_error when the library has none.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string name_;
  std::string reason_;
};

}  // namespace amasia
