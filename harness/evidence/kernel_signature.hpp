// What a file of device code says of its kernels before any of it is loaded: parameters, launch
// bounds, shared memory, architecture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amasia {

struct KernelSignature {
  std::string name;                          // mangled
  std::vector<std::size_t> parameters{};     // bytes of each, in order
  std::uint64_t most_threads = 0;            // per block, as __launch_bounds__ says; 0: unbounded
  std::vector<std::uint64_t> exact_block{};  // x, y, z that .reqntid demands; empty: any
  std::size_t static_shared_bytes = 0;       // what is surely declared; the driver may add to it
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

/// Reads a cubin (sections .text.<kernel>, .nv.info.<kernel>, .nv.shared.<kernel>) or PTX (PTX ISA,
/// "Kernel and Function Directives"), never beyond `bytes`. Throws UsageError, a clause, for
/// anything else and for a damaged cubin.
CodeFile read_code_file(std::string_view bytes);

/// The name as it stands in the source: "_Z5twiceIfEvPT_" -> "void twice<float>(float*)".
std::string demangled(const std::string& name);

}  // namespace amasia
