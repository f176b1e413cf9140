// Proof of mechanism: which instructions are in the machine code that the device loads. Read from
// the executable itself by the toolkit's disassembler, else from the PTX that the build keeps.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/evidence/cubins.hpp"
#include "harness/evidence/kept_ptx.hpp"
#include "harness/evidence/kernel_code.hpp"

namespace amasia {

class CodeEvidence {
 public:
  using Kernel = KernelCode;

  CodeEvidence() = default;
  /// The code for sm_<binary_version> in `executable`; nothing is read yet.
  CodeEvidence(std::string executable, int binary_version)
      : executable_(std::move(executable)), binary_version_(binary_version) {}

  /// The code of a file that the program loads: a cubin, or PTX, which is read at once. Of any
  /// other file nothing.
  static CodeEvidence of_file(const std::string& file);

  /// Reads the kernels of these (mangled) names that were not asked for before, with cuobjdump
  /// ($CUOBJDUMP, on PATH, $CUDA_HOME/bin, beside nvcc, /usr/local/cuda/bin): the modules that
  /// define them, about half a second each and as many at a time as there are cores. Without
  /// cuobjdump, or when the executable holds no such machine code, reads the PTX in <folder of
  /// executable>/code/ that has these kernels. Never throws: what could not be had is in reason().
  void read(const std::vector<std::string>& mangled_names);
  /// Reads the modules with kernels of these namespaces of ours, as many at a time as there are
  /// cores, so that read() finds them. What cannot be had now is read() to say.
  void read_ahead(const std::vector<std::string>& namespaces);
  /// Reads every kernel: less time per kernel, but there may be hundreds.
  void read_all();

  /// From text that a disassembler printed (`cuobjdump -sass`).
  /// A kernel that several object files define is listed once for each, and counted once.
  static CodeEvidence from_sass(std::string_view text);
  /// From the text of one PTX module.
  static CodeEvidence from_ptx(std::string_view text);

  /// Counts of one kernel; source is "none: ..." when it is not in the code that was read.
  Kernel of(const std::string& mangled_name) const;
  const std::map<std::string, Kernel>& kernels() const { return kernels_; }
  /// Why SASS was not read, as a sentence; empty when it was.
  const std::string& reason() const { return reason_; }

 private:
  /// Without names: every kernel. The same below.
  void disassemble(std::vector<std::string> kernels);
  void read_kept(const std::vector<std::string>& kernels);
  const Cubins& cubins();
  /// False when one of these modules cannot be listed.
  bool list(const std::string& cuobjdump, const std::set<std::size_t>& modules);
  /// Returns those that no module of the executable was found to define.
  std::vector<std::string> list_their_modules(const std::string& cuobjdump,
                                              std::vector<std::string> kernels);

  std::string executable_;
  int binary_version_ = 0;
  std::optional<Cubins> cubins_;           // read when first needed
  std::optional<KeptPtx> kept_;            // once there was no machine code to read
  std::set<std::size_t> listed_;           // of them
  std::set<std::string> asked_;            // names given to read() so far
  std::map<std::string, Kernel> kernels_;  // by mangled name
  std::string reason_;
};

}  // namespace amasia
