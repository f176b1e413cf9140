#include "harness/references.hpp"

#include "harness/text/output.hpp"

namespace amasia {

void print_reference(const App& app, const Parameters& size, const Verdict& verdict,
                     ReferenceCount& count) {
  print_data("{} {} {}: reference over {} values, {} {:.3g} (bound {:.3g})\n", app.name(),
             size.to_string(), verdict.passed ? "ok" : "FAILED", verdict.checked, verdict.norm,
             verdict.error, verdict.bound);
  for (const std::string& m : verdict.first_mismatches) print_data("  {}\n", m);
  ++(verdict.passed ? count.passed : count.failed);
}

void print_count(const ReferenceCount& count) {
  print_data("{} references ok, {} failed\n", count.passed, count.failed);
}

}  // namespace amasia
