#include "harness/cli/repeated.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/conclusions/merge.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/process/isolation.hpp"
#include "harness/text/output.hpp"
#include "harness/text/shell.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

/// "out/run.json.gz", 2 -> "out/run.session-2.json.gz".
std::string file_of_session(const std::string& out, int session) {
  const std::string suffix =
      out.ends_with(".json.gz") ? ".json.gz" : fs::path(out).extension().string();
  return fmt::format("{}.session-{}{}", out.substr(0, out.size() - suffix.size()), session, suffix);
}

bool is_finished(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) > 0 && !error;
}

/// False when it was interrupted.
bool rest(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    if (interrupted()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return !interrupted();
}

/// A session that an earlier run finished. Another GPU is no obstacle; other cases would be.
ResultFile finished_session(const std::string& path, const ResultFile* first) {
  ResultFile file = read_result_file(path);
  if (first == nullptr) return file;
  if (const auto why = session_disagreement(first->provenance, file.provenance)) {
    throw ResultError(path + ": cannot be resumed, it differs from this run in " + *why +
                      "; remove it to start over");
  }
  return file;
}

}  // namespace

SessionOutcome run_sessions(int count, double pause, const SessionOptions& options,
                            const Pass& pass) {
  const bool resumes = options.existing == Existing::resume;
  std::vector<ResultFile> files;
  std::vector<std::string> names, parts;
  int done = 0;
  if (is_finished(options.out) && options.existing != Existing::overwrite) {
    if (!resumes) {
      throw UsageError(options.out +
                       ": holds the results of another run; continue it with --resume, replace it "
                       "with --overwrite, or choose another --out");
    }
    files.push_back(read_result_file(options.out));
    names.push_back(options.out);
    done = std::max<int>(1, static_cast<int>(files.front().provenance.sessions.size()));
    if (done >= count) return {.file = std::move(files.front())};
  }
  int skipped = 0;
  bool measured = false;
  for (int session = done + 1; session <= count; ++session) {
    SessionOptions one = options;
    one.out = file_of_session(options.out, session);
    parts.push_back(one.out);
    names.push_back(one.out);
    if (resumes && is_finished(one.out) && !fs::exists(one.out + ".journal")) {
      files.push_back(finished_session(one.out, files.empty() ? nullptr : &files.front()));
      continue;
    }
    // Its GPU and the second in which it began tell a session from another.
    if (!files.empty() && !rest(measured ? std::max(pause, 1.0) : 1.0))
      return {.file = std::move(files.back()), .interrupted = true, .skipped_groups = skipped};
    print_prose("session {} of {}\n", session, count);
    SessionOutcome outcome = pass(query_in_child(one), one);
    skipped = outcome.skipped_groups;
    if (outcome.interrupted || !outcome.device_lost.empty()) return outcome;
    files.push_back(std::move(outcome.file));
    measured = true;
  }
  Merged merged = merge(files, names);
  for (const std::string& note : merged.notes) print_prose("note: {}\n", note);
  try {
    write_result_file(options.out, merged.file);
  } catch (const ResultError& error) {
    std::vector<std::string> words{"amasia", "merge"};
    words.insert(words.end(), names.begin(), names.end());
    words.insert(words.end(), {"--out", "FILE"});
    throw ResultError(fmt::format("{}; each session is in a file of its own: {} joins them",
                                  error.what(), in_shell(words)));
  }
  for (const std::string& part : parts) {
    std::error_code error;  // one that cannot be removed is no harm
    fs::remove(part, error);
  }
  return {.file = std::move(merged.file), .skipped_groups = skipped};
}

}  // namespace amasia
