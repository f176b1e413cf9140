// Every judgement of the C++ program about two recorded files, one value a line.
#include <fstream>
#include <iostream>
#include <string>
#include "harness/results/again.hpp"
#include "harness/results/compare.hpp"
#include "harness/cli/result_files.hpp"
#include "harness/text/output.hpp"
#include "harness/text/table.hpp"
using namespace amasia;
int main(int argc, char** argv) {
  // OLD NEW -> OUT.compare.csv, OUT.repetition.csv
  for (int i = 1; i + 2 < argc; i += 3) {
    const std::vector<ResultFile> f = read_result_files({argv[i], argv[i + 1]});
    std::ofstream(std::string(argv[i + 2]) + ".compare.csv") << to_csv(compare_files(f[0], f[1], 0.95));
    std::ofstream(std::string(argv[i + 2]) + ".repetition.csv") << to_csv(to_table(repetition(f[0], f[1])));
    std::cout << argv[i] << ' ' << argv[i + 1] << std::endl;
  }
}
