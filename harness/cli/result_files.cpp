#include "harness/cli/result_files.hpp"

#include "harness/results/journal.hpp"

namespace amasia {

std::vector<ResultFile> read_result_files(const std::vector<std::string>& paths) {
  std::vector<ResultFile> files;
  for (const std::string& path : paths) {
    files.push_back(path.ends_with(".journal") ? read_journal(path) : read_result_file(path));
  }
  return files;
}

}  // namespace amasia
