// Machine code as nvcc makes it (ELF of 64 bits, little-endian), and the modules of it in an
// executable.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace amasia {

/// Modules are ELF files (cubins) in the executable, unless they were compressed; then there are
/// none here. A disassembler lists a module alone in the time that it takes to find one kernel in
/// the executable.
class Cubins {
 public:
  Cubins() = default;
  /// Those in the file for sm_<architecture>. Empty when it cannot be read.
  Cubins(const std::string& executable, int architecture);

  bool empty() const { return modules_.empty(); }
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

struct KernelSignature {
  std::string name;                       // mangled
  std::vector<std::size_t> parameters{};  // bytes of each, in order
};

struct CodeFile {
  enum class Kind { cubin, ptx } kind = Kind::cubin;
  /// Of a cubin, what it runs on (90: devices of 9.x from 9.0); of PTX, what it needs at least.
  int architecture = 0;
  std::vector<KernelSignature> kernels{};  // in the order of the file

  /// By its mangled name, or by that of the source ("saxpy", "saxpy<float>", "lib::saxpy"). nullptr
  /// with `reason`, a clause that lists the names, when none or several are meant.
  const KernelSignature* find(std::string_view name, std::string& reason) const;
};

/// Reads a cubin (sections .text.<kernel>, .nv.info.<kernel>) or PTX (PTX ISA,
/// "Kernel and Function Directives"), never beyond `bytes`. Throws UsageError, a clause, for
/// anything else and for a damaged cubin.
CodeFile read_code_file(std::string_view bytes);

}  // namespace amasia
