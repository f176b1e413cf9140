// The commands of the `amasia` program. Each returns the exit status.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/request.hpp"

namespace amasia {

/// Verifies, times and compares; sizes default to the preset `fallback`.
int run(Request request, const std::vector<std::string>& argv, Preset fallback);
/// Measures what answers these rows of the inventory and prints own values beside the published
/// ones; what is not part of this program says so, and is no success when nothing else is left.
int reproduce(Request request, const std::vector<std::string>& argv);
/// Searches the configs of the selected variants and records the winners.
int tune(Request request);
/// Every config of the selected variants against the reference; with request.reference the CPU
/// references against a second one.
int verify(const Request& request);
int list(const std::vector<std::string>& patterns, bool json, bool sources);
int doctor(const Request& request);
/// File B against file A.
int compare(const std::string& a, const std::string& b, const Request& request);
int merge(const std::vector<std::string>& inputs, const std::string& out);
/// A result file in the forms the request names, every sample as CSV to `csv_samples`; Markdown on
/// stdout when nothing is named.
int export_file(const std::string& path, const std::string& csv_samples, Request request);

}  // namespace amasia
