// Options that several commands share, each declared once: name, value, default and help.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/plan/campaign.hpp"
#include "harness/session/session.hpp"

namespace amasia {

/// Whether what is written there comes out of stdout: "-", "/dev/stdout", the file it goes to.
bool is_stdout(const std::string& path);
/// UsageError when one of `outputs` would replace one of the files that are read, or another of
/// them.
void keep_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

// The last line a person reads: what to try next.

/// "next: amasia study quick times every variant (...)": `command` and what it does, on stderr, so
/// that nothing is added to what a program reads from stdout.
void say_next(const std::string& command, const std::string& what_it_does);

/// "python -m plots report run.json", or with ./plots.sh where that is: in a clone.
std::string plots_command(const std::vector<std::string>& words);

/// "amasia tune pathfinder '*/tma'": a command with these patterns, as a shell takes them.
std::string with_patterns(const std::string& command, const std::vector<std::string>& patterns);

/// What commands that run anything are asked for; each has options for some of it.
struct MeasureRequest {
  std::string title = "run";  // in file names and messages, where there is no study
  /// What finds the cause of a wrong result, and a word on it; "" for amasia verify.
  std::string finder{}, finder_does{};
  CampaignRequest campaign{};
  EffortAsked effort{};
  SessionOptions session{};
  std::string shard{};
  std::string tuning{};  // file of recorded winners, "" for that of the GPU
  int sessions = 1;      // all of it so many times
  bool strict = false, record_host = false, dry_run = false;
};

/// Which cases, as the provenance of a result has it.
std::map<std::string, std::string> settings_of(const CampaignRequest& campaign);

/// Whether a study or a part of a source document has this name.
bool is_study(const std::string& name);

/// `documents`: whether a pattern may also be the name of a source document or of a part of one.
void add_patterns(CLI::App& command, std::vector<std::string>& patterns, bool documents = false);
/// --size.
void add_given_sizes(CLI::App& command, SizeRequest& sizes, const std::string& otherwise);
/// --size and --preset; without either, `own` says which.
void add_sizes(CLI::App& command, SizeRequest& sizes, Preset own);
/// --cache and --launch. `caches` and `launches` hold the defaults; empty ones are a study's.
void add_modes(CLI::App& command, CampaignRequest& campaign);
/// The three together.
void add_cases(CLI::App& command, CampaignRequest& campaign, Preset own);
void add_roles(CLI::App& command, std::vector<Role>& roles);
/// --device.
void add_device_index(CLI::App& command, int& index);
/// --device, --group-timeout, --in-process.
void add_device(CLI::App& command, SessionOptions& session);
/// The same without --in-process.
void add_device_of_child(CLI::App& command, SessionOptions& session);
void add_seed(CLI::App& command, std::uint64_t& seed);
/// Rounds, seconds, precision, confidence. `own` names whose the defaults are: "the study's", or
/// "" for those of Effort.
void add_effort(CLI::App& command, EffortAsked& asked, const std::string& own);
void add_dry_run(CLI::App& command, bool& dry_run);
/// The file of recorded winners.
void add_tuning(CLI::App& command, std::string& tuning);
/// --out, --resume, --overwrite.
void add_keeping(CLI::App& command, SessionOptions& session);
/// What `run` and `study` share beyond the above.
void add_measuring(CLI::App& command, MeasureRequest& request);
/// A file that must be named.
template <class Path>
void add_file(CLI::App& command, const std::string& name, Path& path, const std::string& help) {
  command.add_option(name, path, help)->required()->type_name("FILE");
}
/// An output file, "-" for stdout.
void add_output(CLI::App& command, const std::string& flag, std::string& path,
                const std::string& help, const std::string& otherwise = "not written");

}  // namespace amasia
