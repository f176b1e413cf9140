// What is known of the code of one kernel.
#pragma once

#include <map>
#include <string>

namespace amasia {

/// instructions: static counts by opcode group. From SASS: the opcode up to its first dot, for the
/// groups that tell about data movement, waiting and arithmetic ("LDG", "LDGSTS", "UTMALDG",
/// "FFMA", ...), wide and multicast forms again apart ("LDG.128", "UTMALDG.MULTICAST"). From PTX:
/// operation_of() (harness/evidence/ptx.hpp), "ld.global", "cp.async". "total" is all but padding.
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

}  // namespace amasia
