#include "harness/results/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/results/agreement.hpp"
#include "harness/text/file.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* journal_schema = "amasia-journal";

std::string path_of(const std::string& out) { return out + ".journal"; }

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// What a journal holds, up to its last whole line.
struct Contents {
  std::optional<Provenance> provenance;
  std::vector<Ceiling> ceilings{};
  std::vector<GroupResult> groups{};
  std::vector<MicrobenchmarkResult> microbenchmarks{};
  std::size_t whole_bytes = 0;  // whatever follows was being written when the run ended
};

void take_line(const Json& json, bool first, Contents& contents) {
  if (first) {
    if (!json.is_object() || json.value("schema", "") != journal_schema ||
        json.value("version", 0) != result_schema_version || !json.contains("provenance")) {
      throw ResultError("expected the first line of a journal of version " +
                        std::to_string(result_schema_version));
    }
    contents.provenance = provenance_from_json(json["provenance"]);
  } else if (json.is_object() && json.contains("group")) {
    contents.groups.push_back(group_from_json(json["group"]));
  } else if (json.is_object() && json.contains("microbenchmark")) {
    contents.microbenchmarks.push_back(microbenchmark_from_json(json["microbenchmark"]));
  } else if (json.is_object() && json.contains("ceilings") && json["ceilings"].is_array()) {
    contents.ceilings.clear();  // a set replaces the one before
    for (const Json& ceiling : json["ceilings"]) {
      contents.ceilings.push_back(ceiling_from_json(ceiling));
    }
  } else {
    throw ResultError("expected a group, a microbenchmark or a set of ceilings");
  }
}

Contents contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ResultError(path + ": cannot be read: " + system_reason());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Contents contents;
  int line = 1;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1, ++line) {
    const std::string place = path + ':' + std::to_string(line);
    try {
      take_line(Json::parse(text.substr(begin, end - begin)), line == 1, contents);
    } catch (const nlohmann::json::exception& error) {
      throw ResultError(place + ": expected JSON: " + error.what());
    } catch (const ResultError& error) {
      throw ResultError(place + ": " + error.what());
    }
    contents.whole_bytes = end + 1;
  }
  return contents;
}

}  // namespace

struct Journal::State {
  std::string out;
  OpenFile file{};
  std::vector<Ceiling> ceilings{};
  std::vector<GroupResult> groups{};
  std::vector<MicrobenchmarkResult> microbenchmarks{};

  void append(const Json& json) {
    const off_t whole = ::lseek(file.get(), 0, SEEK_END);
    if (file.write_durably(line_of(json))) return;
    const std::string reason = system_reason();
    // Take the half-written line back, so that a later one does not continue it.
    const bool repaired = whole >= 0 && ::ftruncate(file.get(), whole) == 0;
    throw ResultError(path_of(out) + ": cannot be written: " + reason +
                      (repaired ? "" : "; its last line is damaged"));
  }

  void append(const std::vector<Ceiling>& set) {
    Json array = Json::array();
    for (const Ceiling& ceiling : set) array.push_back(to_json(ceiling));
    append(Json{{"ceilings", std::move(array)}});
  }
};

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Journal Journal::open(const std::string& out, const Provenance& now, bool resume) {
  const std::string path = path_of(out);
  auto state = std::make_unique<State>();
  state->out = out;
  state->file = OpenFile(path, O_RDWR | O_CREAT | O_APPEND);
  if (!state->file.is_open()) {
    throw UsageError(path + ": cannot be written: " + system_reason());
  }
  if (::flock(state->file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw UsageError(path + ": another run is writing to it; choose another --out");
  }

  Contents contents = contents_of(path);
  std::string source = path;
  if (resume && !contents.provenance && std::filesystem::exists(out)) {
    // The run had finished: its result file is what there is to continue, a repeated array job then
    // measures nothing twice.
    ResultFile finished = read_result_file(out);
    contents.provenance = std::move(finished.provenance);
    contents.ceilings = std::move(finished.ceilings);
    contents.groups = std::move(finished.groups);
    contents.microbenchmarks = std::move(finished.microbenchmarks);
    source = out;
  }
  const bool has_results =
      !contents.groups.empty() || !contents.ceilings.empty() || !contents.microbenchmarks.empty();
  if (!resume && has_results) {
    throw UsageError(
        path + ": holds " +
        std::to_string(contents.groups.size() + contents.microbenchmarks.size()) +
        " finished groups of an interrupted run; continue it with --resume, or remove it");
  }
  if (has_results) {
    if (const auto why = disagreement(*contents.provenance, now,
                                      measured_code(contents.groups, contents.microbenchmarks),
                                      /*same_gpu=*/true)) {
      throw ResultError(source + ": cannot be resumed, it differs from this run in " + *why +
                        "; remove it to start over");
    }
  }
  state->ceilings = std::move(contents.ceilings);
  state->groups = std::move(contents.groups);
  state->microbenchmarks = std::move(contents.microbenchmarks);

  const bool continued = has_results && source == path;
  const std::size_t keep = continued ? contents.whole_bytes : 0;
  if (::ftruncate(state->file.get(), static_cast<off_t>(keep)) != 0) {
    throw UsageError(path + ": cannot be written: " + system_reason());
  }
  if (!continued) {
    state->append(Json{{"schema", journal_schema},
                       {"version", result_schema_version},
                       {"provenance", to_json(now)}});
    if (!state->ceilings.empty()) state->append(state->ceilings);
    for (const MicrobenchmarkResult& m : state->microbenchmarks) {
      state->append(Json{{"microbenchmark", to_json(m)}});
    }
    for (const GroupResult& group : state->groups) state->append(Json{{"group", to_json(group)}});
    sync_parent_directory(path);
  }
  return Journal(std::move(state));
}

const std::vector<Ceiling>& Journal::ceilings() const { return state_->ceilings; }
const std::vector<GroupResult>& Journal::groups() const { return state_->groups; }
const std::vector<MicrobenchmarkResult>& Journal::microbenchmarks() const {
  return state_->microbenchmarks;
}

void Journal::append(const std::vector<Ceiling>& ceilings) { state_->append(ceilings); }
void Journal::append(const GroupResult& group) { state_->append(Json{{"group", to_json(group)}}); }
void Journal::append(const MicrobenchmarkResult& result) {
  state_->append(Json{{"microbenchmark", to_json(result)}});
}

void Journal::finish(const ResultFile& file) {
  write_result_file(state_->out, file);
  ::unlink(path_of(state_->out).c_str());
  state_->file.close();
}

ResultFile read_journal(const std::string& path) {
  Contents contents = contents_of(path);
  if (!contents.provenance || (contents.groups.empty() && contents.microbenchmarks.empty())) {
    throw ResultError(path + ": holds nothing that was finished");
  }
  ResultFile file;
  file.provenance = std::move(*contents.provenance);
  file.ceilings = std::move(contents.ceilings);
  file.groups = std::move(contents.groups);
  file.microbenchmarks = std::move(contents.microbenchmarks);
  return file;
}

void check_writable(const std::string& path, std::uint64_t bytes) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) throw UsageError(path + ": cannot create its folder: " + error.message());
  if (fs::is_directory(path, error)) throw UsageError(path + ": is a directory, not a file");

  const std::string probe = path + ".tmp";
  OpenFile file(probe, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) throw UsageError(path + ": cannot be written: " + system_reason());
  // A quota or a full disk that only shows on writing shows here, in one block.
  const bool written = file.write_durably(std::string(4096, ' ')) && file.close();
  const std::string reason = written ? "" : system_reason();
  struct statvfs disk {};
  const bool known = ::statvfs(probe.c_str(), &disk) == 0;
  ::unlink(probe.c_str());
  if (!written) throw UsageError(path + ": cannot be written: " + reason);
  if (!known) return;
  const std::uint64_t block = disk.f_frsize;
  // Blocks rather than bytes: the product of a large disk's numbers could overflow.
  if (disk.f_bavail < bytes / block + (bytes % block != 0)) {
    throw UsageError(path + ": its disk has " + std::to_string(disk.f_bavail * block) +
                     " bytes left, results may need " + std::to_string(bytes) +
                     "; free some space or choose another --out");
  }
}

}  // namespace amasia
