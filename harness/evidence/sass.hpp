// Machine code as `cuobjdump -sass` lists it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/evidence/kernel_code.hpp"

namespace amasia {

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

}  // namespace amasia
