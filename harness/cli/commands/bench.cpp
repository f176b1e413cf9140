#include <memory>
#include <string>

#include "harness/cli/command_line.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/errors.hpp"
#include "harness/session/session.hpp"
#include "harness/text/output.hpp"
#include "harness/user_kernel/load.hpp"
#include "harness/user_kernel/user_app.hpp"

namespace amasia {
namespace {

struct BenchRequest : MeasureRequest {
  std::string file{};
};

ExitStatus bench(BenchRequest& r, const std::vector<std::string>& argv) {
  for (const char* code : {".cu", ".cubin", ".ptx", ".so"}) {
    if (!r.file.ends_with(code)) continue;
    throw UsageError(
        "bench takes a description in TOML, not code: copy saxpy.toml of "
        "docs/your-kernel.md and name " +
        r.file + " in it");
  }
  const Description description = read_description(r.file);
  UserApp app = load_user_app(description);
  check_user_app(app);  // before anything is loaded
  if (!r.dry_run) {     // which runs nothing, also no constructor of a library
    load_libraries(description, app, r.session);
    for (const std::size_t needed : {std::size_t{0}, description.reference}) {
      const UserImplementation& i = app.implementations[needed];
      if (i.broken.empty()) continue;
      print_prose("amasia: {}: {}; it is {}, so nothing can be compared\n", i.place,
                  in_one_line(i.broken), needed == 0 ? "the baseline" : "the reference");
      return exit_wrong_result;
    }
  }
  r.title = "bench-" + app.name;
  r.campaign.patterns = {app.name};
  r.finder = in_shell({"compute-sanitizer", "amasia", "bench", r.file, "--in-process"});
  r.finder_does = "says which thread read or wrote where it must not";
  const std::string baseline = app.implementations.front().name;
  const UserRegistration registration = register_user_app(std::move(app));
  print_prose("note: baseline is {}, outputs are compared with those of {}\n", baseline,
              description.implementations[description.reference].name);
  return measure(r, argv);
}

Action declare_bench(CLI::App& options) {
  auto r = std::make_shared<BenchRequest>();
  r->campaign.roles = {Role::best};
  add_file(options, "file", r->file, "description of the problem and its implementations, in TOML");
  add_given_sizes(options, r->campaign.sizes, "those of the file");
  add_modes(options, r->campaign);
  add_effort(options, r->effort, "");
  add_measuring(options, *r);
  return [r](const std::vector<std::string>& argv) {
    r->campaign.effort = effort_of(r->effort, Effort{});
    return bench(*r, argv);
  };
}

const bool bench_registered = register_command(
    {.name = "bench",
     .group = CommandGroup::measure,
     .summary = "compare kernels of your own: cubins, PTX or shared libraries",
     .description =
         "A TOML file (docs/your-kernel.md) names the buffers, the launches and what the outputs "
         "must be. Its implementations are verified, timed in pairs and compared as the "
         "suite's own variants are, and what contradicts the code is found before anything runs.",
     .examples = {{{"amasia bench saxpy.toml",
                    "the first implementation against each of the others"},
                   {"amasia bench saxpy.toml --size n=1000000 --cache cold,hot --dry-run",
                    "compares the file with the code, and shows what would run"}}},
     .declare = declare_bench});

}  // namespace
}  // namespace amasia
