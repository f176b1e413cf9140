// What is printed of CPU references that were compared with a second computation.
#pragma once

#include "harness/app.hpp"

namespace amasia {

struct ReferenceCount {
  int passed = 0, failed = 0;
};

/// Prints one line, and below it the first mismatches.
void print_reference(const App& app, const Parameters& size, const Verdict& verdict,
                     ReferenceCount& count);
void print_count(const ReferenceCount& count);

}  // namespace amasia
