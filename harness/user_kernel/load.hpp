// From a description to an app that can be measured: the files it names are read, checked against
// it, and become implementations.
#pragma once

#include <string>

#include "harness/user_kernel/description.hpp"
#include "harness/user_kernel/user_app.hpp"

namespace amasia {

/// Reads the file. Throws UsageError, one line: "path:line: ..." for what is wrong in it.
Description read_description(const std::string& path);

/// As an app. Throws UsageError "path:line: ..." for the first contradiction between the
/// description and its files, at each of its sizes.
UserApp load_user_app(Description description);

/// Why a shared library cannot be loaded or lacks a function, a sentence; "" when neither. Loads it
/// into this process, which should be a child.
std::string objection_to_library(const ImplementationDescription& implementation);

/// One digest over those of the app's implementations: whether two processes loaded the same.
std::string digest_of_user_app(const std::string& app);

/// In a child process: loads the description unless the app is there already, for as long as the
/// process lives. Throws UsageError when it is no longer what `digest` was taken of.
void load_user_app_again(const std::string& app, const std::string& path,
                         const std::string& digest);

}  // namespace amasia
