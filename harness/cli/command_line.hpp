// The `amasia` program: arguments in, exit status out.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace amasia {

int amasia_main(int argc, char** argv);

/// What `program` ("amasia") returns to the shell: what `run` returns, or the exit status that
/// belongs to what it throws, which is told in one line.
int exit_status_of(const std::string& program, const std::function<int()>& run);

// How the programs end. One table for the code and `--help`.

enum ExitStatus {
  exit_ok = 0,
  exit_wrong_result = 1,
  exit_usage = 2,
  exit_no_device = 3,
  exit_invalid_measurement = 4,
  exit_output = 5,
  exit_interrupted = 130,
};

struct ExitMeaning {
  ExitStatus status;
  std::string_view meaning;
};

/// Every exit status there is, in ascending order.
inline constexpr std::array exit_meanings{
    ExitMeaning{exit_ok, "done, and nothing wrong was found"},
    ExitMeaning{exit_wrong_result, "a wrong result, a crash, or something that could not be done"},
    ExitMeaning{exit_usage, "a mistake in the command line, or a file that cannot be used"},
    ExitMeaning{exit_no_device, "no usable GPU, or a program built without CUDA"},
    ExitMeaning{exit_invalid_measurement,
                "a measurement is not valid (only with --strict, or where `tune` has no winner)"},
    ExitMeaning{exit_output, "standard output could not be written"},
    ExitMeaning{exit_interrupted, "interrupted; what was finished is kept"},
};

}  // namespace amasia
