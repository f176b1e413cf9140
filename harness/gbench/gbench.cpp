#include "harness/gbench/gbench.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/cli/command_line.hpp"
#include "harness/cli/description.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/errors.hpp"
#include "harness/gbench/bench.hpp"
#include "harness/gbench/flags.hpp"
#include "harness/gbench/reporter.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/report/google_benchmark.hpp"
#include "harness/results/claim.hpp"
#include "harness/results/journal.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/ceiling_records.hpp"
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
          "Selects as amasia run does and takes Google Benchmark's own flags, --benchmark_..., "
          "which are listed at the end. A repetition is one run, and there are 15, unless "
          "--benchmark_min_time or --benchmark_repetitions say otherwise. Every result is verified "
          "before and after it is timed. docs/google-benchmark.md explains names and counters.",
      .examples = {{{"amasia-gbench '*/tma' --cache cold,hot --benchmark_out=tma.json",
                     "every tma variant at its quick sizes, for compare.py"},
                    {"amasia-gbench 'memory/*' --benchmark_display_aggregates_only=true",
                     "the points of some microbenchmarks, without their single repetitions"}}},
      .exits = {exit_ok, exit_wrong_result, exit_usage, exit_no_device, exit_output},
      .declare = {}};
  return command;
}

struct Request {
  CampaignRequest campaign{};
  int device = 0;
  std::string tuning{}, ceilings{};
};

void declare(CLI::App& program, Request& r) {
  r.campaign.roles = {Role::iso, Role::best};
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

/// What the counter floor is made of, and in the context where it is from.
struct KnownCeilings {
  std::vector<Ceiling> ceilings{};
  std::string from = "none";
};

KnownCeilings ceilings_of(const std::string& wanted, Instrument& instrument) {
  if (wanted.empty()) return {};
  const Device& device = instrument.device();
  KnownCeilings known;
  if (wanted == "measure") {
    print_prose("measuring the ceilings of {}\n", device.name);
    known.ceilings = measure_ceilings(instrument, ceiling_samples, [](int, const std::string&) {});
    known.from = "measured";
  } else {
    const ResultFile file = read_result_file(wanted);
    const std::string& name = file.provenance.device.name;
    if (name != device.name) {
      throw UsageError(
          fmt::format("--ceilings {}: they are of a {}, this is a {}", wanted, name, device.name));
    }
    known.ceilings = file.ceilings;
    known.from = "recorded " + file.provenance.date_utc;
  }
  if (known.ceilings.empty()) {
    throw UsageError(fmt::format("--ceilings {}: there are none", wanted));
  }
  const std::vector<CeilingDoubt> doubts = ceilings_in_doubt(known.ceilings, device, "");
  for (const CeilingDoubt& doubt : doubts) {
    print_prose("note: no counter floor: {}\n", in_one_line(to_string(doubt)));
  }
  if (!doubts.empty()) known = {{}, "in doubt"};
  return known;
}

void add_context(const Provenance& from, const KnownCeilings& known) {
  benchmark::AddCustomContext("amasia", std::string(suite_version()));
  for (const auto& [name, value] : benchmark_context(from)) {
    benchmark::AddCustomContext(name, value);
  }
  benchmark::AddCustomContext("ceilings", known.from);
  for (const Ceiling& c : known.ceilings) {
    benchmark::AddCustomContext("ceiling." + c.name, fmt::format("{} {}", c.value, c.unit));
  }
}

/// Hands its flags to the library. Throws UsageError for those that it does not take.
void initialize(const std::string& program, std::vector<std::string> flags) {
  check_library_flags(flags);
  if (!library_flag(flags, "benchmark_repetitions")) flags.emplace_back(own_repetitions);
  flags.insert(flags.begin(), program);
  // The library keeps the name of the program.
  static std::vector<std::string> kept;
  kept = std::move(flags);
  std::vector<char*> pointers;
  for (std::string& flag : kept) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) {
    throw UsageError(fmt::format(
        "Google Benchmark does not take '{}' (amasia-gbench --help lists its flags)", pointers[1]));
  }
}

/// How many cases the library's filter lets through, after it ran or listed them.
std::size_t run_cases(const std::vector<std::string>& flags) {
  const std::unique_ptr<ExportedForm> display =
      display_reporter(library_flag(flags, "benchmark_format").value_or("console"));
  if (library_switch(flags, "benchmark_list_tests")) {
    std::ostringstream listed;
    display->SetOutputStream(&listed);
    const std::size_t count = benchmark::RunSpecifiedBenchmarks(display.get());
    std::istringstream lines(listed.str());
    for (std::string line; std::getline(lines, line);) print_data("{}\n", exported_name(line));
    return count;
  }
  const std::string path = library_flag(flags, "benchmark_out").value_or("");
  std::unique_ptr<ExportedForm> file;
  if (!path.empty()) {
    constexpr std::uint64_t room = 1 << 20;
    check_writable(path, room);
    file = file_reporter(library_flag(flags, "benchmark_out_format").value_or("json"));
  }
  const std::size_t count = benchmark::RunSpecifiedBenchmarks(display.get(), file.get());
  if (display->failed()) throw OutputError("standard output cannot be written");
  if (file && file->failed()) throw OutputError(path + ": cannot be written");
  return count;
}

int run_program(const std::vector<std::string>& argv) {
  std::vector<std::string> flags, own;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    (is_library_flag(argv[i]) ? flags : own).push_back(argv[i]);
  }
  Request request;
  CLI::App program(gbench().summary, gbench().name);
  declare(program, request);
  describe_alone(program, gbench());
  try {
    std::reverse(own.begin(), own.end());  // as CLI11 takes them
    program.parse(std::move(own));
  } catch (const CLI::CallForHelp&) {
    write_data(program.help());
    write_data("\nFlags of Google Benchmark:\n");
    benchmark::PrintDefaultHelp();
    return exit_ok;
  } catch (const CLI::CallForVersion& version) {
    print_data("{}\n", version.what());
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (amasia-gbench --help)", error.what()));
  }
  const Cases cases = cases_of(request.campaign);
  initialize(argv.front(), flags);

  const std::unique_ptr<Instrument> instrument = opened(request.device);
  const Device& device = instrument->device();
  refuse_too_large(cases.apps, request.campaign, device);
  const Campaign plan =
      plan_campaign(request.campaign, cases, recorded_winners(request.tuning, device), device.name);
  Provenance from = collect_provenance(argv, "", {}, false);
  from.device = device;
  from.device_state = instrument->state();
  const KnownCeilings known = ceilings_of(
      library_switch(flags, "benchmark_list_tests") ? "" : request.ceilings, *instrument);
  add_context(from, known);

  Bench bench(*instrument, known.ceilings, !library_flag(flags, "benchmark_min_time"));
  for (const PlannedMicrobenchmark& m : plan.microbenchmarks) bench.add(m);
  for (const PlannedGroup& group : plan.groups) {
    const auto mine = std::find_if(cases.apps.begin(), cases.apps.end(), [&](const AppCases& c) {
      return c.app->name() == group.key.app;
    });
    bench.add(group, mine->variants);
  }
  if (bench.registered() == 0) throw UsageError("none of what was selected can run on this GPU");
  const std::size_t count = run_cases(flags);
  benchmark::Shutdown();
  if (count == 0) return exit_usage;  // the library has said that its filter matches nothing
  return bench.all_right() ? exit_ok : exit_wrong_result;
}

}  // namespace

int gbench_main(int argc, char** argv) {
  secure_standard_streams();
  return exit_status_of("amasia-gbench", [&] { return run_program({argv, argv + argc}); });
}

}  // namespace amasia
