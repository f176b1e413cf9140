// The modules of device code in an executable, and which kernels each defines.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace amasia {

/// Modules lie in an executable as ELF files (cubins), unless the compiler was told to compress
/// them; then there are none here. Taken apart because a disassembler that is given the executable
/// looks for each kernel in every module, a third of a second each, and lists a whole module that
/// it is given alone in as much time.
class Cubins {
 public:
  Cubins() = default;
  /// Those in the file for sm_<architecture>. Empty when it cannot be read.
  Cubins(const std::string& executable, int architecture);

  /// The modules that define a kernel of this (mangled) name; several may, of one template.
  std::vector<std::size_t> of(const std::string& kernel) const;
  /// Those that define a kernel with one of these words in its name.
  std::vector<std::size_t> with_any_of(const std::vector<std::string>& words) const;
  std::string_view bytes(std::size_t module) const {
    return std::string_view(text_).substr(modules_[module].offset, modules_[module].size);
  }

 private:
  struct Module {
    std::size_t offset = 0;
    std::size_t size = 0;
  };
  std::string text_;  // of the executable
  std::vector<Module> modules_;
  std::multimap<std::string, std::size_t> kernels_;
};

}  // namespace amasia
