// Whether shared libraries that are brought can be loaded, asked of child processes: a constructor
// may crash, hang or end the process.
#pragma once

#include "harness/outside/description.hpp"
#include "harness/outside/outside_app.hpp"
#include "harness/session/session.hpp"

namespace amasia {

/// Loads each library of the description once, and says in `broken` of its implementation what
/// stands against it. `app` is what the description was brought as. Throws Interrupted.
void load_libraries(const Description& description, OutsideApp& app, const SessionOptions& options);

}  // namespace amasia
