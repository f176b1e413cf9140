// The program amasia-gbench: what `amasia run` selects, under Google Benchmark, with its flags, its
// statistics and its output (docs/results.md).
#pragma once

namespace amasia {

/// Arguments in, exit status out.
int gbench_main(int argc, char** argv);

}  // namespace amasia
