// The `amasia` program: arguments in, exit status out.
#pragma once

namespace amasia {

enum ExitStatus {
  exit_ok = 0,
  exit_wrong_result = 1,
  exit_usage = 2,
  exit_no_device = 3,
  exit_invalid_measurement = 4,  // only under --strict
  exit_interrupted = 130,
};

int amasia_main(int argc, char** argv);

}  // namespace amasia
