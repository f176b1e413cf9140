// Commands that the program suggests, quoted so that they can be pasted into a shell.
#pragma once

#include <string>
#include <vector>

namespace amasia {

/// {"amasia", "merge", "my run.json"} -> "amasia merge 'my run.json'". A word with a control
/// character, which a line cannot show, becomes $'...' with escapes.
std::string in_shell(const std::vector<std::string>& words);

}  // namespace amasia
