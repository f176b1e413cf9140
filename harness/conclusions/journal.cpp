#include "harness/conclusions/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/conclusions/recomputed.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/results/codec.hpp"
#include "harness/results/envelope.hpp"
#include "harness/text/file.hpp"
#include "harness/text/json_file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

constexpr const char* journal_schema = "amasia-journal";

/// What a journal holds, up to its last whole line.
struct Contents {
  ResultFile file{};
  bool has_provenance = false;
  std::vector<std::string> damaged{};  // lines that are not what was written: whose, and why
  std::size_t whole_bytes = 0;         // whatever follows was being written when the run ended
};

/// "hotspot rows=512 cold stream": what a line has, as far as it can be told.
std::string name_of_line(const Json& json) {
  try {
    if (json.contains("ceilings")) return "the ceilings";
    if (json.contains("microbenchmark")) return json["microbenchmark"]["name"].get<std::string>();
    return group_key_from_json(json["group"]["key"]).to_string();
  } catch (const std::exception&) {
    return "a case";
  }
}

void take_line(const Json& json, bool first, Contents& contents) {
  if (first) {
    const bool is_journal = json.is_object() && json.contains("schema") &&
                            json["schema"] == journal_schema && json.contains("provenance");
    if (!is_journal) throw ResultError("expected the first line of a journal");
    check_kind(json, journal_schema, result_schema_version);
    contents.file.provenance = provenance_from_json(json["provenance"]);
    contents.has_provenance = true;
  } else if (json.is_object() && json.contains("group")) {
    contents.file.groups.push_back(group_from_json(json["group"]));
  } else if (json.is_object() && json.contains("microbenchmark")) {
    contents.file.microbenchmarks.push_back(microbenchmark_from_json(json["microbenchmark"]));
  } else if (json.is_object() && json.contains("ceilings") && json["ceilings"].is_array()) {
    contents.file.ceilings.clear();  // a set replaces the one before
    for (const Json& ceiling : json["ceilings"]) {
      contents.file.ceilings.push_back(ceiling_from_json(ceiling));
    }
  } else {
    throw ResultError("expected a group, a microbenchmark or a set of ceilings");
  }
}

Contents contents_of(const std::string& path) {
  const std::string text = read_text_file(path);
  Contents contents;
  int line = 1;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1, ++line) {
    const std::string place = path + ':' + std::to_string(line);
    try {
      const std::string written = text.substr(begin, end - begin);
      check_nesting(written);
      const Json json = Json::parse(written);
      const bool whole = is_whole_line(written);
      if (whole || line == 1) take_line(json, line == 1, contents);
      if (!whole && line == 1) {
        throw ResultError("the line was changed or damaged after it was written");
      }
      if (!whole) {
        if (json.contains("ceilings")) contents.file.ceilings.clear();
        contents.damaged.push_back(
            fmt::format("{} ({}: the line was changed or damaged after it was written)",
                        name_of_line(json), place));
      }
    } catch (const nlohmann::json::exception& error) {
      throw ResultError(place + ": expected JSON: " + error.what());
    } catch (const ResultError& error) {
      throw ResultError(place + ": " + error.what());
    }
    contents.whole_bytes = end + 1;
  }
  return contents;
}

/// Opens and locks the file that has this name.
OpenFile locked(const std::string& path) {
  for (;;) {
    OpenFile file(path, O_RDWR | O_CREAT | O_APPEND);
    if (!file.is_open()) throw UsageError(path + ": cannot be written: " + system_reason());
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw UsageError(path + ": another run is writing to it; choose another --out");
    }
    // A run that ended in between has removed or replaced the file that was opened here.
    struct stat opened {};
    struct stat named {};
    if (::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
        opened.st_dev == named.st_dev && opened.st_ino == named.st_ino) {
      return file;
    }
  }
}

std::string line_of(const std::vector<Ceiling>& set) {
  Json array = Json::array();
  for (const Ceiling& ceiling : set) array.push_back(to_json(ceiling));
  return sealed_line(Json{{"ceilings", std::move(array)}});
}
std::string line_of(const GroupResult& group) {
  return sealed_line(Json{{"group", to_json(group)}});
}
std::string line_of(const MicrobenchmarkResult& result) {
  return sealed_line(Json{{"microbenchmark", to_json(result)}});
}
}  // namespace

std::string Journal::first_lines() const {
  std::string text = sealed_line(Json{{"schema", journal_schema},
                                      {"version", result_schema_version},
                                      {"provenance", to_json(now_)}});
  if (!finished_.ceilings.empty()) text += line_of(finished_.ceilings);
  for (const MicrobenchmarkResult& m : finished_.microbenchmarks) text += line_of(m);
  for (const GroupResult& group : finished_.groups) text += line_of(group);
  return text;
}

void Journal::fail(const std::string& reason) const {
  throw ResultError(path_ + ": cannot be written: " + reason);
}

/// The journal of a new run: its first line.
void Journal::begin() {
  if (!file_.write_durably(first_lines())) fail(system_reason());
  begun_ = true;
  sync_parent_directory(path_);
}

/// The journal of a run that continues a finished file, in one step: a part of it, left by a
/// kill, would outrank the file that has it all.
void Journal::begin_with_what_is_finished() {
  FileBeside whole = create_beside(path_);
  OpenFile next;
  if (whole.file.is_open() && whole.file.write_durably(first_lines()) && whole.file.close()) {
    next = OpenFile(whole.name, O_RDWR | O_APPEND);
  }
  if (!next.is_open() || ::flock(next.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::rename(whole.name.c_str(), path_.c_str()) != 0) {
    const std::string reason = system_reason();
    ::unlink(whole.name.c_str());
    fail(reason);
  }
  file_ = std::move(next);  // the lock on the old one ends here, the new one has its own
  begun_ = true;
  sync_parent_directory(path_);
}

void Journal::append(const std::string& line) {
  added_ = true;
  if (out_.special) return;
  if (!begun_) begin_with_what_is_finished();
  const off_t whole = ::lseek(file_.get(), 0, SEEK_END);
  if (file_.write_durably(line)) return;
  const std::string reason = system_reason();
  // Take the half-written line back, so that a later one does not continue it.
  const bool repaired = whole >= 0 && ::ftruncate(file_.get(), whole) == 0;
  fail(reason + (repaired ? "" : "; its last line is damaged") +
       "; what was finished before is in it: free some space, then continue with the same command "
       "and --resume");
}

/// The result file. Where it cannot be written, the error says what holds everything.
void Journal::write(const ResultFile& result) const {
  try {
    write_result_file(out_.path, result);
  } catch (const ResultError& error) {
    if (!out_.special) {
      throw ResultError(
          fmt::format("{}; all that was measured is in {}: {} makes a result file of it",
                      error.what(), path_, in_shell({"amasia", "merge", path_, "--out", "FILE"})));
    }
    std::error_code none;
    const std::string kept =
        (std::filesystem::temp_directory_path(none) / fmt::format("amasia-{}.json.gz", ::getpid()))
            .string();
    write_result_file(kept, result);
    throw ResultError(fmt::format("{}; the results are in {}", error.what(), kept));
  }
}

Journal::Journal(Destination out, Provenance now)
    : out_(std::move(out)), path_(out_.path + ".journal"), now_(std::move(now)) {}

Journal::~Journal() {
  if (file_.is_open() && !begun_) ::unlink(path_.c_str());  // empty
}

// The destructor of what the other constructor made cleans up after an exception.
Journal::Journal(const std::string& out, Provenance now, Existing existing)
    : Journal(destination_of(out), std::move(now)) {
  if (out_.special) return;
  // The lock first: nothing of another run may be read half-written, and none of it touched.
  file_ = locked(path_);

  struct stat found {};
  begun_ = ::fstat(file_.get(), &found) != 0 || found.st_size > 0;

  Contents contents = contents_of(path_);
  ResultFile& file = contents.file;
  const std::size_t results = file.groups.size() + file.microbenchmarks.size();
  const bool interrupted = results > 0 || !file.ceilings.empty() || !contents.damaged.empty();
  std::error_code error;
  const auto bytes = std::filesystem::file_size(out_.path, error);
  const bool finished = !error && bytes > 0;
  if (existing == Existing::refuse && interrupted) {
    throw UsageError(
        path_ + ": holds " + std::to_string(results) +
        " finished groups of an interrupted run; continue it with --resume, or start over with "
        "--overwrite");
  }
  if (existing == Existing::refuse && finished) {
    throw UsageError(out +
                     ": holds the results of another run; continue it with --resume, replace "
                     "it with --overwrite, or choose another --out");
  }
  const bool continues_journal = existing == Existing::resume && interrupted;
  const bool continues_file = existing == Existing::resume && !contents.has_provenance && finished;
  if (continues_file) {
    // The run had finished: its result file is what there is to continue, a repeated array job then
    // measures nothing twice.
    file = read_result_file(out_.path);
  }
  if (file.ceilings.empty()) {  // floors go with the ceilings that they are from
    for (GroupResult& group : file.groups) {
      group.floor.reset();
      for (Row& row : group.rows) row.floor_fraction.reset();
    }
  }
  if (continues_journal || continues_file) {
    if (const auto why = disagreement(file.provenance, now_, measured_code(file),
                                      /*same_gpu=*/true)) {
      throw ResultError((continues_file ? out : path_) +
                        ": cannot be resumed, it differs from this run in " + *why +
                        "; remove it to start over");
    }
    finished_ = std::move(file);
  }
  if (!contents.damaged.empty() && continues_journal) {
    // A copy for a person to look at; the journal itself goes on with what is whole.
    const std::string kept = path_ + ".damaged";
    std::filesystem::copy_file(path_, kept, std::filesystem::copy_options::overwrite_existing,
                               error);
    if (error) throw UsageError(kept + ": cannot be written: " + error.message());
    begin_with_what_is_finished();
    damaged_ = std::move(contents.damaged);
    added_ = true;
    return;
  }
  const std::size_t keep = continues_journal ? contents.whole_bytes : 0;
  if (::ftruncate(file_.get(), static_cast<off_t>(keep)) != 0) {
    throw UsageError(path_ + ": cannot be written: " + system_reason());
  }
  begun_ = continues_journal;
  // Behind a finished file it stays empty until there is something to add.
  added_ = !continues_file;
  if (!continues_journal && !continues_file) begin();
}

void Journal::append(const std::vector<Ceiling>& ceilings) { append(line_of(ceilings)); }
void Journal::append(const GroupResult& group) { append(line_of(group)); }
void Journal::append(const MicrobenchmarkResult& result) { append(line_of(result)); }

void Journal::finish(const ResultFile& file) {
  if (added_) write(file);
  // Only now: until the result is on the disk, the journal is all there is of it.
  if (file_.is_open()) ::unlink(path_.c_str());
  begun_ = true;  // nothing is left to be removed
  file_.close();
}

ResultFile read_journal(const std::string& path) {
  Contents contents = contents_of(path);
  if (!contents.damaged.empty()) {
    throw ResultError(contents.damaged.front() +
                      "; continue the run with --resume, which measures it again");
  }
  ResultFile& file = contents.file;
  if (file.groups.empty() && file.microbenchmarks.empty()) {
    throw ResultError(path + ": holds nothing that was finished");
  }
  naming(path, [&] { recompute(file); });
  return std::move(file);
}

std::vector<ResultFile> read_result_files(const std::vector<std::string>& paths) {
  std::vector<ResultFile> files;
  for (const std::string& path : paths) {
    files.push_back(path.ends_with(".journal") ? read_journal(path) : read_result_file(path));
  }
  return files;
}

void check_writable(const std::string& path, std::uint64_t bytes) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) { throw UsageError(path + ": " + why); };
  const Destination destination = destination_of(path);
  if (path == "-") refuse("a result file is kept, so name one; amasia export FILE --csv - prints");
  if ((destination.special || destination.mounted) &&
      ::access(destination.path.c_str(), W_OK) != 0) {
    refuse("cannot be written: " + system_reason());
  }
  if (destination.special) return;
  const fs::path folder = fs::path(destination.path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) refuse("cannot create its folder: " + error.message());
  if (fs::is_directory(destination.path, error)) refuse("is a directory, not a file");

  struct statvfs disk {};
  bool known = false;
  if (destination.mounted) {
    known = ::statvfs(destination.path.c_str(), &disk) == 0;
  } else {
    FileBeside probe = create_beside(destination.path);
    if (!probe.file.is_open()) refuse("cannot be written: " + system_reason());
    // A quota or a full disk that only shows on writing shows here, in one block.
    const bool written = probe.file.write_durably(std::string(4096, ' ')) && probe.file.close();
    const std::string reason = written ? "" : system_reason();
    known = ::statvfs(probe.name.c_str(), &disk) == 0;
    ::unlink(probe.name.c_str());
    if (!written) refuse("cannot be written: " + reason);
  }
  if (!known) return;
  const std::uint64_t block = disk.f_frsize;
  // Blocks rather than bytes: the product of a large disk's numbers could overflow.
  if (disk.f_bavail < bytes / block + (bytes % block != 0)) {
    refuse("its disk has " + std::to_string(disk.f_bavail * block) +
           " bytes left, results may need " + std::to_string(bytes) +
           "; free some space or choose another --out");
  }
}

std::string default_output(const std::string& stem, bool resume) {
  namespace fs = std::filesystem;
  std::string last, last_interrupted;
  for (int run = 1;; ++run) {
    std::string path = stem + (run == 1 ? "" : '-' + std::to_string(run)) + ".json.gz";
    const bool interrupted = fs::exists(path + ".journal");
    if (!interrupted && !fs::exists(path)) {
      if (!resume || last.empty()) return path;
      return last_interrupted.empty() ? last : last_interrupted;
    }
    last = path;
    if (interrupted) last_interrupted = path;
  }
}

}  // namespace amasia
