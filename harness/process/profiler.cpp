#include "harness/process/profiler.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/errors.hpp"
#include "harness/text/file.hpp"
#include "harness/text/pattern.hpp"
#include "harness/text/table.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

void take_table(const std::string& text, const std::string& name,
                std::vector<CountedResult>& results) {
  if (text.empty()) return;
  const CsvTable table = parse_csv(text, name);
  const std::size_t id = table.column("ID");
  for (const std::vector<std::string>& row : table.rows) {
    if (row[id].empty()) continue;  // the units
    CountedResult& result = results.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      // Every metric has two underscores after the unit of the hardware that counts it.
      if (table.columns[c].find("__") == std::string::npos) continue;
      std::string digits = row[c];
      std::erase(digits, ',');  // of thousands
      const auto number = number_from<double>(digits);
      if (number && std::isfinite(*number)) result[table.columns[c]] = *number;
    }
  }
}

}  // namespace

NcuOutput parse_ncu_output(std::string_view text, const std::string& name) {
  constexpr std::string_view mark = "==ERROR==";
  NcuOutput output;
  std::string table;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(mark)) {
      line.remove_prefix(std::min(line.find_first_not_of(' ', mark.size()), line.size()));
      output.errors.emplace_back(line);
    } else if (line.starts_with("\"ID\"")) {  // a header: of this table, or of the next one
      take_table(table, name, output.results);
      table = std::string(line) + '\n';
    } else if (line.starts_with('"') && !table.empty()) {
      table.append(line).push_back('\n');
    }
  }
  take_table(table, name, output.results);
  return output;
}

std::string find_ncu() {
  // Its installer puts each version into a folder of its own: the newest by name.
  std::vector<fs::path> folders;
  for (const char* home : {"/opt/nvidia/nsight-compute", "/usr/local/NVIDIA-Nsight-Compute"}) {
    std::error_code none;
    folders.emplace_back(home);
    for (const auto& entry : fs::directory_iterator(home, none)) folders.push_back(entry.path());
  }
  std::sort(folders.rbegin(), folders.rend());
  return find_tool("ncu", "NCU", folders);
}

std::string ncu_version(const std::string& ncu) {
  std::string version = "unknown";
  constexpr double seconds = 60;
  run_program({ncu, "--version"}, "", seconds, [&version](const std::string& line) {
    // "Version 2025.3.1.0 (build 36398880) (public-release)"
    constexpr std::string_view word = "Version ";
    if (line.rfind(word, 0) == 0) version = line.substr(word.size(), line.find(' ', 8) - 8);
    return false;
  });
  return version;
}

std::string why_forbidden(const NcuOutput& output) {
  for (const std::string& error : output.errors) {
    const auto says = [&error](std::string_view what) {
      return error.find(what) != std::string::npos;
    };
    if (says("ERR_NVGPUCTRPERM")) {
      return "this user may not read the GPU's counters (ERR_NVGPUCTRPERM): run it as root, or "
             "have the driver loaded with NVreg_RestrictProfilingToAdminUsers=0, and start a "
             "container with --cap-add=SYS_ADMIN";
    }
    if (says("LibraryNotLoaded") || says("Failed to initialize the profiler")) {
      return fmt::format(
          "Nsight Compute cannot reach the GPU's counters here ({}): a virtual "
          "machine or a sandbox has to pass them through",
          error);
    }
  }
  return "";
}

ProfiledTask run_in_profiler(const std::string& ncu, const Json& task,
                             const std::vector<std::string>& metrics, double seconds,
                             const LineSink& on_line) {
  const ScratchFolder folder;
  if (folder.path().empty()) {
    throw std::runtime_error("no temporary folder can be made: " + system_reason());
  }
  const fs::path asked = folder.path() / "task.json", answer = folder.path() / "answer",
                 log = folder.path() / "ncu.csv";
  std::ofstream(asked, std::ios::binary) << one_line(task);
  // Numbers of another locale could not be told from those with thousands set apart.
  std::vector<std::string> command{"/usr/bin/env", "LC_ALL=C", ncu};
  for (const char* const option :
       {"--replay-mode", "app-range", "--clock-control", "none", "--cache-control", "none", "--csv",
        "--page", "raw", "--print-units", "base"}) {
    command.emplace_back(option);
  }
  command.insert(command.end(), {"--log-file", log.string(), "--metrics",
                                 fmt::format("{}", fmt::join(metrics, ",")), executable_path(),
                                 child_flag, asked.string(), answer.string()});
  std::string said;
  const Ended ended = run_program(command, "", seconds, [&said](const std::string& line) {
    said += line + '\n';
    return false;
  });
  ProfiledTask profiled;
  std::ifstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    take_line(line, profiled.outcome, on_line);
    profiled.answered = true;
  }
  conclude(profiled.outcome, ended, seconds);
  try {
    profiled.counted = parse_ncu_output(said + bytes_of_file(log.string()), "the output of " + ncu);
  } catch (const ResultError& damage) {
    profiled.counted.errors.emplace_back(damage.what());
  }
  return profiled;
}

}  // namespace amasia
