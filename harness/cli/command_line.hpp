// The `amasia` program: arguments in, exit status out.
#pragma once

#include <functional>
#include <string>

namespace amasia {

int amasia_main(int argc, char** argv);

/// What `program` ("amasia") returns to the shell: what `run` returns, or the exit status that
/// belongs to what it throws, which is told in one line.
int exit_status_of(const std::string& program, const std::function<int()>& run);

/// How the programs end; `--help` has what each means.
enum ExitStatus {
  exit_ok = 0,
  exit_wrong_result = 1,
  exit_usage = 2,
  exit_no_device = 3,
  exit_invalid_measurement = 4,
  exit_output = 5,
  exit_interrupted = 130,
};

}  // namespace amasia
