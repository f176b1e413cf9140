#include "harness/machine_code.hpp"

#include <stdexcept>

#include "harness/evidence/evidence.hpp"
#include "harness/text/file.hpp"

namespace amasia {

int instructions_in_loops(const std::string& mangled_name, const Device& device) {
  CodeEvidence code(executable_path(), device.compute_capability);
  code.read({mangled_name});
  const CodeEvidence::Kernel kernel = code.of(mangled_name);
  const auto total = kernel.in_loops.find("total");
  if (total == kernel.in_loops.end()) throw std::runtime_error("no machine code: " + kernel.source);
  return total->second;
}

}  // namespace amasia
