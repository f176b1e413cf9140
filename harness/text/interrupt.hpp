// SIGINT and SIGTERM: a flag that whatever takes long looks at.
#pragma once

#include <exception>

namespace amasia {

/// SIGINT and SIGTERM set a flag from now on instead of ending the process.
void catch_interrupts();
bool interrupted();

/// SIGINT or SIGTERM came where nothing is kept that could be continued.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace amasia
