// What a folder of results holds besides result files: whatever editors, other systems and other
// programs leave there. It is passed over with a note; as json_files() of plots/folders.py.
#pragma once

#include <string>
#include <vector>

namespace amasia {

struct FolderContents {
  std::vector<std::string> files{};  // regular files with the suffix .json or .json.gz, by name
  std::vector<std::string> notes{};  // what else has it, a line each, of many the first
};

/// A folder that cannot be read has nothing. Opens no pipe and no device.
FolderContents json_files_in(const std::string& folder);

}  // namespace amasia
