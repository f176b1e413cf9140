#include "harness/gbench/gbench.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/cli/command_line.hpp"
#include "harness/cli/help.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/errors.hpp"
#include "harness/gbench/bench.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/registry.hpp"
#include "harness/report/csv.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/ceilings.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

/// The least number of rounds of the suite's own loop: enough for compare.py's U test, which
/// wants 9.
constexpr char own_repetitions[] = "--benchmark_repetitions=15";
static_assert(Effort{}.min_rounds == 15);

const Command& gbench() {
  static const Command command{
      .name = "amasia-gbench",
      .summary = "variants and microbenchmarks as Google Benchmarks",
      .description =
          "Registers every app and microbenchmark, or what patterns select, for Google Benchmark's "
          "own flags, which are listed at the end. Every result is verified before and after it "
          "is timed. docs/results.md explains names and counters.",
      .examples = {{{"amasia-gbench --benchmark_filter=/tma/ --benchmark_out=tma.json",
                     "every tma variant at its quick sizes, for compare.py"},
                    {"amasia-gbench 'memory/*' --benchmark_display_aggregates_only=true",
                     "the points of some microbenchmarks, without their single repetitions"}}},
      .exits = {exit_ok, exit_wrong_result, exit_usage, exit_no_device, exit_output},
      .declare = {}};
  return command;
}

/// What is registered without a pattern, for --benchmark_filter to choose from.
std::vector<std::string> everything() {
  std::vector<std::string> patterns;
  for (const App* app : apps()) patterns.emplace_back(app->name());
  for (const Microbenchmark* m : microbenchmarks()) patterns.push_back(m->name);
  return patterns;
}

struct Request {
  CampaignRequest campaign{};
  int device = 0;
  std::string tuning{}, ceilings{};
};

void declare(CLI::App& program, Request& r) {
  r.campaign.roles = {Role::iso, Role::best};
  r.campaign.caches = {CacheMode::cold, CacheMode::hot};
  add_patterns(program, r.campaign.patterns);
  add_sizes(program, r.campaign.sizes, Preset::quick);
  add_modes(program, r.campaign);
  add_roles(program, r.campaign.roles);
  add_seed(program, r.campaign.seed);
  add_device_index(program, r.device);
  add_tuning(program, r.tuning);
  program
      .add_option("--ceilings", r.ceilings,
                  "what the counter floor is a share of: 'measure' the ceilings of this GPU first, "
                  "or take those of a result file of it")
      ->type_name("measure|FILE")
      ->default_str("no such counter");
}

std::unique_ptr<Instrument> opened(int index) {
  try {
    return open_instrument(index);
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw NoDevice(error.what());
  }
}

/// What the counter floor is made of.
std::vector<Ceiling> ceilings_of(const std::string& wanted, Instrument& instrument) {
  if (wanted.empty()) return {};
  const Device& device = instrument.device();
  std::vector<Ceiling> ceilings;
  if (wanted == "measure") {
    print_prose("measuring the ceilings of {}\n", device.name);
    ceilings = measure_ceilings(instrument, ceiling_samples, [](int, const std::string&) {});
  } else {
    const ResultFile file = read_result_file(wanted);
    if (const std::string& name = file.provenance.device.name; name != device.name) {
      throw UsageError(fmt::format("--ceilings {}: of a {}, not {}", wanted, name, device.name));
    }
    ceilings = file.ceilings;
  }
  if (ceilings.empty()) throw UsageError(fmt::format("--ceilings {}: there are none", wanted));
  for (const CeilingDoubt& doubt : ceilings_in_doubt(ceilings, device, "")) {
    print_prose("note: no counter floor: {}\n", in_one_line(to_string(doubt)));
    ceilings.clear();
  }
  return ceilings;
}

void add_context(const Provenance& from) {
  benchmark::AddCustomContext("amasia", std::string(suite_version()));
  for (const auto& [column, cell] : origin_of(from)) {
    benchmark::AddCustomContext(column.key, plain_text(cell));
  }
  for (const auto& [name, value] : from.device_state) {
    benchmark::AddCustomContext("device_state." + name, value);
  }
}

bool is_given(const std::vector<std::string>& flags, const char* name) {
  return std::any_of(flags.begin(), flags.end(),
                     [&](const std::string& flag) { return flag.starts_with(name); });
}

/// Hands its flags to the library. Throws UsageError for those that it does not take.
void initialize(char* program, std::vector<std::string> flags) {
  flags.insert(flags.begin(), own_repetitions);  // of two, the library takes the last
  std::vector<char*> pointers{program};
  for (std::string& flag : flags) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) {
    throw UsageError(fmt::format(
        "Google Benchmark does not take '{}' (amasia-gbench --help lists its flags)", pointers[1]));
  }
}

int run_program(int argc, char** argv) {
  std::vector<std::string> flags, own;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool of_library = argument.starts_with("--benchmark_") || argument.starts_with("--v=");
    (of_library ? flags : own).push_back(argument);
  }
  Request request;
  CLI::App program(gbench().summary, gbench().name);
  declare(program, request);
  give_help(program, gbench());
  try {
    std::reverse(own.begin(), own.end());  // as CLI11 takes them
    program.parse(std::move(own));
  } catch (const CLI::CallForHelp&) {
    write_data(program.help() + "\nFlags of Google Benchmark:\n");
    benchmark::PrintDefaultHelp();
    return exit_ok;
  } catch (const CLI::CallForVersion& version) {
    print_data("{}\n", version.what());
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    throw UsageError(
        fmt::format("{} (amasia-gbench --help)", objection_of(error, program, "amasia-gbench")));
  }
  if (request.campaign.patterns.empty()) request.campaign.patterns = everything();
  const Cases cases = cases_of(request.campaign);
  initialize(argv[0], flags);
  const std::unique_ptr<Instrument> instrument = opened(request.device);
  Provenance from = collect_provenance({argv, argv + argc}, "", {}, false);
  from.device = instrument->device();
  from.device_state = instrument->state();
  add_context(from);
  const Device& device = from.device;
  refuse_too_large(cases.apps, request.campaign, device);
  const Campaign plan =
      plan_campaign(request.campaign, cases, recorded_winners(request.tuning, device), device.name);
  const bool lists = is_given(flags, "--benchmark_list_tests");
  const bool one_run = !is_given(flags, "--benchmark_min_time");
  return run_benchmarks(plan, *instrument, ceilings_of(lists ? "" : request.ceilings, *instrument),
                        one_run);
}

}  // namespace

int gbench_main(int argc, char** argv) {
  secure_standard_streams();
  return exit_status_of("amasia-gbench", [&] { return run_program(argc, argv); });
}

}  // namespace amasia
