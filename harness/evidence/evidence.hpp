// Proof of mechanism: which instructions are in the machine code that the device loads. Read from
// the executable itself by the toolkit's disassembler.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evidence/cubins.hpp"

namespace amasia {

/// Static counts by opcode group. From SASS the opcode up to its first dot ("LDG", "UTMALDG"), wide
/// and multicast forms again ("LDG.128", "UTMALDG.MULTICAST"); from PTX operation_of(),
/// "ld.global". "total" is all but padding.
struct KernelCode {
  std::string source;  // "sass", "ptx" or "none: <reason>"
  std::map<std::string, int> instructions;
  /// Those of them that lie in a loop, between the target of a backward branch and the branch: a
  /// load that was hoisted out of the loop is in the code, but is not what the loop measures.
  std::map<std::string, int> in_loops{};
  /// What a walk repeats, by whole opcode ("IMAD.WIDE.U32"), from SASS: the largest loop that does
  /// not read the global timer.
  std::map<std::string, int> timed{};
};

/// By mangled name.
using KernelCodes = std::map<std::string, KernelCode>;

/// Path of cuobjdump on this machine ($CUOBJDUMP, on PATH, $CUDA_HOME/bin, beside nvcc,
/// /usr/local/cuda/bin), "" when there is none.
std::string find_cuobjdump();

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

  /// Reads the modules that define these (mangled) kernels and were not read before: half a second
  /// each, as many at a time as there are cores. Where that cannot be, as read_all(). Never throws:
  /// see reason().
  void read(const std::vector<std::string>& mangled_names);
  /// Reads the modules with kernels of these namespaces of ours, so that read() finds them. What
  /// cannot be had now is read() to say.
  void read_ahead(const std::vector<std::string>& namespaces);
  /// Reads every kernel, of which there may be hundreds.
  void read_all();

  /// From text that a disassembler printed (`cuobjdump -sass`).
  static CodeEvidence from_sass(std::string_view text);
  /// From the text of one PTX module.
  static CodeEvidence from_ptx(std::string_view text);

  /// Counts of one kernel; source is "none: ..." when it is not in the code that was read.
  KernelCode of(const std::string& mangled_name) const;
  const KernelCodes& kernels() const { return kernels_; }
  /// Why SASS was not read, as a sentence; empty when it was.
  const std::string& reason() const { return reason_; }

 private:
  const Cubins& cubins();
  /// False when one of these modules cannot be listed.
  bool list(const std::set<std::size_t>& modules);

  std::string executable_;
  int binary_version_ = 0;
  std::optional<Cubins> cubins_;  // read when first needed
  std::set<std::size_t> listed_;  // of them
  bool read_whole_ = false;
  KernelCodes kernels_;
  std::string reason_;
};

}  // namespace amasia
