// Whether shared libraries can be loaded, asked of child processes: a constructor
// may crash, hang or end the process.
#pragma once

#include "harness/session/session.hpp"
#include "harness/user_kernel/description.hpp"
#include "harness/user_kernel/user_app.hpp"

namespace amasia {

/// Loads each library of the description once, and says in `broken` of its implementation what
/// stands against it. `app` is what the description was loaded as. Throws Interrupted.
void load_libraries(const Description& description, UserApp& app, const SessionOptions& options);

}  // namespace amasia
