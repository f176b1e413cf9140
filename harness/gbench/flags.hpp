// Google Benchmark's own flags on the command line of amasia-gbench: which they are, and what the
// library does not say of them afterwards.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace amasia {

/// Whether an argument is for Google Benchmark: "--benchmark_filter=...", "--v=2".
bool is_library_flag(const std::string& argument);

/// What the flag `name` ("benchmark_format") is set to on this command line or, as the library has
/// it, by the environment variable of that name (BENCHMARK_FORMAT); nothing where by neither.
std::optional<std::string> library_flag(const std::vector<std::string>& arguments,
                                        const std::string& name);

/// Whether such a flag is set, and to what the library takes for true.
bool library_switch(const std::vector<std::string>& arguments, const std::string& name);

/// Throws UsageError for a value that would make the library print its usage and end with 0.
void check_library_flags(const std::vector<std::string>& arguments);

}  // namespace amasia
