// Every CPU reference on the smoke sizes, as `amasia verify --reference` compares them with a
// second computation. Without command line, isolation and result files it compiles in a fifth of
// the time.
#include <cstdint>
#include <exception>
#include <vector>

#include "harness/references.hpp"
#include "harness/registry.hpp"
#include "harness/text/output.hpp"

namespace {

constexpr std::uint64_t seed = 20211;  // that of `amasia verify`

struct Case {
  const amasia::App* app;
  amasia::Parameters size;
  amasia::Verdict verdict{};
};

void check(Case& c) {
  try {
    c.verdict = c.app->check_reference(c.size, seed);
  } catch (const std::exception& error) {
    c.verdict.norm = "no verdict";
    c.verdict.first_mismatches.push_back(amasia::reason_of(error));
  }
}

int run() {
  std::vector<Case> cases;
  for (const amasia::App* app : amasia::apps()) {
    for (const amasia::Parameters& size : app->sizes(amasia::Preset::smoke)) {
      cases.push_back({app, size});
    }
  }
  // A case per thread: most are too small to be divided.
#pragma omp parallel for schedule(dynamic)
  for (Case& c : cases) check(c);
  amasia::ReferenceCount count;
  for (const Case& c : cases) amasia::print_reference(*c.app, c.size, c.verdict, count);
  amasia::print_count(count);
  return count.failed > 0 || count.passed == 0;
}

}  // namespace

int main() {
  amasia::secure_standard_streams();
  amasia::keep_freed_memory();
  try {
    return run();
  } catch (const amasia::OutputError& error) {
    amasia::print_prose("amasia-references: {}\n", error.what());
    return 5;  // as amasia
  }
}
