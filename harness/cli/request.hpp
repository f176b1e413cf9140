// What the user asked for on the command line, and how the commands read it: which variants, which
// sizes, where results and tuning go.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/published/published.hpp"
#include "harness/registry.hpp"
#include "harness/session/session.hpp"

namespace amasia {

/// Everything the measuring commands share.
struct Request {
  std::vector<std::string> patterns{};
  std::vector<std::string> sizes{};  // --size a=1,b=2
  std::string preset{};
  std::vector<std::string> caches{}, launches{}, roles{"iso", "best"};
  std::string study{};
  std::vector<InventoryRow> inventory{};  // of a study of a document: what it is to reproduce
  std::map<std::string, std::vector<Coordinates>>
      only{};  // points of a microbenchmark; all if none
  Effort effort{};
  std::uint64_t seed = 20211;
  std::string out{}, json{}, csv{}, csv_points{}, markdown{}, google_benchmark{};
  std::string tuning{};
  std::string shard{};
  double group_timeout = 120;
  double point_seconds = 0.4;  // cap on the samples of one point of a microbenchmark
  bool resume = false, strict = false, in_process = false, record_host = false, reference = false;
  int device = 0;
};

/// `text` to a file, or to stdout when `path` is "-"; nothing when it is empty.
void write_output(const std::string& path, const std::string& text);

/// Writes the forms of `file` that the request names.
void write_exports(const ResultFile& file, const Request& request);

SessionOptions session_options(const Request& request);

/// An app and those of its variants that the patterns select.
using Selection = std::vector<std::pair<const App*, std::vector<const Variant*>>>;
Selection selection(const Request& request);
Selection by_app(const std::vector<const Variant*>& variants);

/// With the effort of the request; quick unless the preset is paper or sweep, or a study says.
PlannedMicrobenchmark planned_microbenchmark(const Microbenchmark& m, const Request& request,
                                             Preset fallback);

/// Sizes of one app: --size if given, else the preset's (or `fallback`'s). Throws UsageError.
std::vector<Parameters> sizes_of(const App& app, const Request& request, std::size_t apps_selected,
                                 Preset fallback);

/// A size the user asked for must fit in device memory (UsageError); one of a preset is skipped
/// with the reason later.
void refuse_too_large(const App& app, const std::vector<Parameters>& sizes, const Request& request,
                      const Device& device);

/// results/<gpu>/tuning.json
std::string default_tuning_path(const Device& device);

}  // namespace amasia
