#include "harness/cli/result_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/results/journal.hpp"
#include "harness/text/output.hpp"

namespace amasia {

std::vector<ResultFile> read_result_files(const std::vector<std::string>& paths) {
  std::vector<ResultFile> files;
  std::vector<std::string> without_digest;
  for (const std::string& path : paths) {
    const bool journal = path.ends_with(".journal");
    files.push_back(journal ? read_journal(path) : read_result_file(path));
    if (!journal && !has_content_digest(files.back().version)) without_digest.push_back(path);
  }
  if (!without_digest.empty()) {
    print_prose(
        "note: {}: from before files carried a digest of their content, so that only what follows "
        "from the samples was checked (amasia upgrade adds one)\n",
        fmt::join(without_digest, ", "));
  }
  return files;
}

}  // namespace amasia
