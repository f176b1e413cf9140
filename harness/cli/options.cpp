#include "harness/cli/options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/conclusions/journal.hpp"
#include "harness/errors.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/plan/study.hpp"
#include "harness/registry.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

constexpr double shortest = 0.001;           // seconds
constexpr double longest = 7 * 24 * 3600.0;  // a week: beyond, it is a slip

/// What is no pattern, although it stands where one is expected: a study, a part of a size, or the
/// second value of a list.
std::string objection_to_pattern(const std::string& text) {
  if (is_study(text)) return fmt::format("'{0}' is a study: amasia study {0}", text);
  if (text.find('=') != std::string::npos) {
    return fmt::format("'{}' is part of a size: --size name=value,name=value is one word", text);
  }
  if (find_word<CacheMode>(text) || find_word<LaunchMode>(text)) {
    return fmt::format("'{}' belongs to a list: --cache cold,hot is one word", text);
  }
  return {};
}

// What the value of an option may be. Each check says in one line what was expected, and CLI11 puts
// the option's name before it.

/// Overlong input must not make an overlong message.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 40;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// A finite number between the two, inclusive: double, std::int64_t or std::uint64_t, whole ones in
/// decimal digits. `unit` is for the message: "seconds".
template <class Number>
CLI::Validator number_between(Number low, Number high, const std::string& unit = "") {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = number_from<Number>(text);
        if (!value || !(*value >= low && *value <= high)) {  // a NaN is not
          return fmt::format("'{}' is no {}number{} from {} to {}", shortened(text),
                             std::is_integral_v<Number> ? "whole " : "",
                             unit.empty() ? "" : " of " + unit, low, high);
        }
        // CLI11 would read a leading zero as octal.
        if (std::is_integral_v<Number>) text = fmt::format("{}", *value);
        return {};
      },
      "");
}

/// One of `choices`; anything else is answered with the nearest of them.
CLI::Validator one_of(std::vector<std::string> choices) {
  const std::string list = fmt::format("{}", fmt::join(choices, ", "));
  return CLI::Validator(
      [choices = std::move(choices)](std::string& text) -> std::string {
        if (std::ranges::find(choices, text) != choices.end()) return {};
        return fmt::format("no '{}': {}", shortened(text), suggestion(text, choices));
      },
      list);
}

template <class Enum>
std::vector<std::string> words_of(const std::vector<Enum>& values) {
  std::vector<std::string> words;
  for (const Enum value : values) words.emplace_back(word_of(value));
  return words;
}

template <class Enum>
std::string list_of(const std::vector<Enum>& values) {
  return fmt::format("{}", fmt::join(words_of(values), ","));
}

template <class Enum>
void add_choice_list(CLI::App& command, const std::string& flag, std::vector<Enum>& target,
                     const std::string& help,
                     const std::vector<Enum>& choices = all_values<Enum>()) {
  const auto take = [&target](const std::vector<std::string>& given) {
    target.clear();
    for (const std::string& word : given) target.push_back(from_word<Enum>(word));
  };
  command.add_option_function<std::vector<std::string>>(flag, take, help)
      ->allow_extra_args(false)  // the next word is a pattern, not one more value
      ->delimiter(',')
      ->check(one_of(words_of(choices)))
      ->type_name("LIST")
      ->default_str(target.empty() ? "the study's" : list_of(target));
}

template <class Number>
void add_number(CLI::App& command, const std::string& flag, Number& target,
                const CLI::Validator& check, const std::string& value, const std::string& otherwise,
                const std::string& help) {
  command.add_option(flag, target, help)
      ->transform(check)
      ->type_name(value)
      ->default_str(otherwise);
}

}  // namespace

std::map<std::string, std::string> settings_of(const CampaignRequest& c) {
  return {{"patterns", c.patterns.empty() ? "*" : fmt::format("{}", fmt::join(c.patterns, ","))},
          {"sizes", fmt::format("{}", fmt::join(c.sizes.given, ","))},
          {"preset", std::string(word_of(c.sizes.preset))},
          {"cache", list_of(c.caches)},
          {"launch", list_of(c.launches)},
          {"roles", list_of(c.roles)},
          {"seed", std::to_string(c.seed)}};
}

bool is_study(const std::string& name) {
  const auto& list = studies();
  return std::ranges::any_of(list, [&](const Study& s) { return s.name == name; }) ||
         !inventory_rows(name).empty();
}

void add_patterns(CLI::App& command, std::vector<std::string>& patterns, bool documents) {
  const auto objection = [documents](std::string& text) {
    const bool document = documents && !inventory_rows(text).empty();
    return document ? std::string() : objection_to_pattern(text);
  };
  command
      .add_option("patterns", patterns,
                  "variants by glob: pathfinder, '*/tma', hotspot/dsm; else "
                  "microbenchmarks: memory/latency, 'memory/*'")
      ->check(CLI::Validator(objection, ""))
      ->type_name("PATTERN")
      ->default_str("all variants");
}

void add_given_sizes(CLI::App& command, SizeRequest& sizes, const std::string& otherwise) {
  command.add_option("--size", sizes.given, "one size of one app (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE,...")
      ->default_str(otherwise);
}

void add_sizes(CLI::App& command, SizeRequest& sizes, Preset own) {
  sizes.otherwise = own;
  add_given_sizes(command, sizes, "the preset's");
  command
      .add_option_function<std::string>(
          "--preset", [&sizes](const std::string& name) { sizes.preset = from_word<Preset>(name); },
          "the sizes of a preset")
      ->check(one_of(words_of(all_values<Preset>())))
      ->type_name("NAME")
      ->default_str(std::string(word_of(own)));
}

void add_modes(CLI::App& command, CampaignRequest& campaign) {
  add_choice_list(command, "--cache", campaign.caches, "cache modes");
  add_choice_list(command, "--launch", campaign.launches, "launch modes");
}

void add_cases(CLI::App& command, CampaignRequest& campaign, Preset own) {
  add_patterns(command, campaign.patterns);
  add_sizes(command, campaign.sizes, own);
  add_modes(command, campaign);
}

void add_roles(CLI::App& command, std::vector<Role>& roles) {
  add_choice_list(command, "--roles", roles,
                  "iso, the original geometry; best, the recorded winner; matched, at the schedule "
                  "that another is best with; cross, every schedule",
                  {Role::iso, Role::best, Role::matched, Role::cross});
}

void add_device_index(CLI::App& command, int& index) {
  add_number(command, "--device", index, number_between<std::int64_t>(0, 1023), "N", "0",
             "index of the GPU");
}

void add_device_of_child(CLI::App& command, SessionOptions& session) {
  add_device_index(command, session.device_index);
  add_number(command, "--group-timeout", session.step_seconds,
             number_between(shortest, longest, "seconds"), "SECONDS",
             fmt::format("{}", session.step_seconds),
             "what a group may take for a step, such as a verification or a sample, before it "
             "counts as hanging");
}

void add_device(CLI::App& command, SessionOptions& session) {
  add_device_of_child(command, session);
  command.add_flag("--in-process", session.in_process,
                   "no child processes (for debuggers and compute-sanitizer)");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  add_number(command, "--seed", seed, number_between<std::uint64_t>(0, UINT64_MAX), "N",
             fmt::format("{}", seed), "seed of the inputs");
}

void add_effort(CLI::App& command, EffortAsked& asked, const std::string& own) {
  const Effort effort;
  const auto otherwise = [&](const auto& value) {
    return own.empty() ? fmt::format("{}", value) : own;
  };
  const CLI::Validator rounds = number_between<std::int64_t>(1, 100000);
  add_number(command, "--max-rounds", asked.max_rounds, rounds, "N", otherwise(effort.max_rounds),
             "rounds of the schedule at most");
  add_number(command, "--min-rounds", asked.min_rounds, rounds, "N",
             fmt::format("{}, or --max-rounds if that is less", effort.min_rounds),
             "rounds of the schedule at least");
  add_number(command, "--seconds", asked.seconds, number_between(shortest, longest, "seconds"),
             "SECONDS", otherwise(effort.seconds), "cap on the timed part of a group");
  add_number(command, "--precision", asked.precision, number_between(1e-6, 1.0), "SHARE",
             fmt::format("{}", effort.precision),
             "stop when every interval's half width is below this share");
  add_number(command, "--confidence", asked.confidence, number_between(0.5, 0.999999), "SHARE",
             fmt::format("{}", effort.confidence), "joint confidence of a group's claims");
}

void add_dry_run(CLI::App& command, bool& dry_run) {
  command.add_flag(
      "--dry-run", dry_run,
      "show what would run, for how long and with how much device memory; run nothing");
}

void add_output(CLI::App& command, const std::string& flag, std::string& path,
                const std::string& help, const std::string& otherwise) {
  command.add_option(flag, path, help)->type_name("FILE")->default_str(otherwise);
}

void add_keeping(CLI::App& command, SessionOptions& session) {
  add_output(command, "--out", session.out, "result file",
             "out/<gpu>-<study or command>.json.gz, numbered where there is one");
  CLI::Option* resume = command.add_flag_callback(
      "--resume", [&session] { session.existing = Existing::resume; },
      "continue an interrupted run of the same --out");
  command
      .add_flag_callback(
          "--overwrite", [&session] { session.existing = Existing::overwrite; },
          "replace what an earlier run left at --out")
      ->excludes(resume);
}

void add_tuning(CLI::App& command, std::string& tuning) {
  add_output(command, "--tuning", tuning, "recorded winners, for the role best",
             "results/<gpu>/tuning.json");
}

void add_measuring(CLI::App& command, MeasureRequest& r) {
  command.add_flag("--energy", r.effort.energy, "measure energy per run in a hot batch");
  add_number(command, "--point-seconds", r.campaign.point_seconds,
             number_between(shortest, longest, "seconds"), "SECONDS",
             fmt::format("{}", r.campaign.point_seconds),
             "cap on the samples of one point of a microbenchmark");
  add_seed(command, r.campaign.seed);
  add_device(command, r.session);
  add_tuning(command, r.tuning);
  command
      .add_option("--records", r.session.records,
                  "earlier results of this GPU model to compare the ceilings with, or none")
      ->type_name("FOLDER")
      ->default_str("results/<gpu>");
  add_keeping(command, r.session);
  add_number(command, "--sessions", r.sessions, number_between<std::int64_t>(1, 1000), "N", "1",
             "do all of it so many times: what differs between runs shows in no single one");
  command.add_option("--shard", r.shard, "only this part of it, for array jobs")
      ->type_name("I/N")
      ->default_str("all of it");
  add_dry_run(command, r.dry_run);
  command.add_flag("--strict", r.strict, "exit 4 when a measurement is not valid");
  command.add_flag("--record-host", r.record_host, "write the host name into the result file");
}

bool is_stdout(const std::string& path) {
  struct stat itself {};
  struct stat found {};
  return path == "-" ||
         (::fstat(STDOUT_FILENO, &itself) == 0 && ::stat(path.c_str(), &found) == 0 &&
          itself.st_dev == found.st_dev && itself.st_ino == found.st_ino);
}

void keep_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  std::set<std::filesystem::path> files;
  for (const std::string& output : outputs) {
    if (output.empty() || is_stdout(output) || destination_of(output).special) continue;
    std::error_code error;  // what cannot be looked at is refused when it is opened
    // Absolute first: where nothing is there yet, a relative name would stay as it is.
    const auto name = weakly_canonical(std::filesystem::absolute(output), error);
    if (!error && !files.insert(name).second) {
      throw UsageError(output + ": would be written twice; name a file for each");
    }
    for (const std::string& input : inputs) {
      if (!std::filesystem::equivalent(output, input, error)) continue;
      throw UsageError(output +
                       ": is read by this command and would be replaced; write to another file");
    }
  }
}

void say_next(const std::string& command, const std::string& what_it_does) {
  print_prose("next: {} {}\n", command, what_it_does);
}

std::string plots_command(const std::vector<std::string>& words) {
  std::error_code error;
  const bool clone = std::filesystem::exists("plots.sh", error);
  return (clone ? "./plots.sh " : "python -m plots ") + in_shell(words);
}

std::string with_patterns(const std::string& command, const std::vector<std::string>& patterns) {
  std::string text = command;
  for (const std::string& pattern : patterns) text += ' ' + in_shell({pattern});
  return text;
}

}  // namespace amasia
