// The toolkit's disassembler, cuobjdump, run on the executable.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/evidence/cubins.hpp"

namespace amasia {

// What is in the code of kernels, counted from machine code as `cuobjdump -sass` lists it.

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

/// Takes the listing line by line: "Function : <name>", then instructions
/// "/*0120*/  @!P0 LDG.E.128 R4, ... ;  /* encoding */" and lines that hold an encoding only. A
/// kernel that several object files define is listed once for each, and counted once.
class SassReader {
 public:
  explicit SassReader(KernelCodes& kernels) : kernels_(kernels) {}

  void line(std::string_view text);
  /// Counts what lies in loops. After the last line, and before the next kernel.
  void finish();

 private:
  void count_timed();

  KernelCodes& kernels_;
  KernelCode* current_ = nullptr;
  std::vector<std::pair<unsigned long, std::string>> listing_{};  // address, opcode
  std::vector<std::pair<unsigned long, unsigned long>> loops_{};  // first and last address
  std::vector<unsigned long> timer_reads_{};                      // addresses
};

/// The text up to the separator, which both are taken off `text`.
std::string_view next_field(std::string_view& text, char separator);

/// Path of cuobjdump on this machine ($CUOBJDUMP, on PATH, $CUDA_HOME/bin, beside nvcc,
/// /usr/local/cuda/bin), "" when there is none.
std::string find_cuobjdump();

/// Adds the SASS of all kernels of a file for an architecture ("sm_90a"); false when that fails or
/// lists nothing.
bool list_file(const std::string& cuobjdump, const std::string& file,
               const std::string& architecture, KernelCodes& found);

/// Adds all kernels of some modules, as many at a time as there are cores; false when one cannot be
/// listed.
bool list_modules(const std::string& cuobjdump, const Cubins& cubins,
                  const std::vector<std::size_t>& modules, KernelCodes& found);

}  // namespace amasia
