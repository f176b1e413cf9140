// The last line a person reads: what to try next.
#pragma once

#include <string>
#include <vector>

namespace amasia {

/// "next: amasia study quick times every variant (...)": `command` and what it does, on stderr, so
/// that nothing is added to what a program reads from stdout.
void say_next(const std::string& command, const std::string& what_it_does);

/// "python -m plots report run.json", or with ./plots.sh where that is: in a clone.
std::string plots_command(const std::vector<std::string>& words);

/// "amasia tune pathfinder '*/tma'": a command with these patterns, as a shell takes them.
std::string with_patterns(const std::string& command, const std::vector<std::string>& patterns);

}  // namespace amasia
