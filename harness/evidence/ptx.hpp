// Reads the PTX that nvcc keeps, as far as questions about instructions need it: kernels, their
// statements in program order, labels. Not a compiler's parser: declarations are skipped, operands
// stay text. Source of the syntax: PTX ISA, "Syntax".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace amasia::ptx {

struct Statement {
  std::string label;                  // set for a label, and then nothing else is
  std::string guard;                  // "@%p1", "@!%p1", or empty
  std::string opcode;                 // "ld.global.nc.v4.u32"
  std::vector<std::string> operands;  // outermost commas split: "{%r1, %r2}", "[%rd1+16]"
  int line = 0;                       // 1-based, in the text parsed

  bool is_label() const { return !label.empty(); }
};

struct Function {
  std::string name;                       // mangled
  bool entry = false;                     // a kernel, not a device function
  std::vector<std::size_t> parameters{};  // of a kernel: bytes of each, in order
  std::vector<Statement> body;
};

struct Module {
  int target = 0;  // 90 for ".target sm_90" and sm_90a; 0 when there is none
  std::vector<Function> functions;
};

/// The text with comments and what strings hold blanked out, so that positions and line numbers
/// stay.
std::string without_comments(std::string_view text);

/// Never fails: what is no function is skipped, an unterminated body ends with the text.
Module parse(std::string_view text);

/// "ld.relaxed.gpu.global.u32" -> "ld.global": the operation, of memory operations with the state
/// space ("ld.shared::cluster" is not "ld.shared"). "cp.async.cg..." -> "cp.async"; bulk forms are
/// operations of their own ("cp.async.bulk.tensor"). Barriers keep their verb.
std::string operation_of(std::string_view opcode);

}  // namespace amasia::ptx
