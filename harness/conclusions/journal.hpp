// Finished work on disk at once: <out>.journal is JSON lines, first the provenance, then one line
// per finished ceiling set, group or microbenchmark, each with a digest of its own, written and
// fsynced. At the end it becomes the result file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/text/file.hpp"

namespace amasia {

/// What to do with what an earlier run of the same name left behind.
enum class Existing { refuse, resume, overwrite };

class Journal {
 public:
  /// Locks and starts `<out>.journal`, or continues it: a torn last line is cut off, and a line
  /// that is not what was written is left out (damaged()). Where there is no journal, `resume`
  /// continues a finished `out`. A device or FIFO has no journal. Throws UsageError where
  /// `existing` refuses what is there, and when the journal is open elsewhere or cannot be written;
  /// ResultError when it is malformed, or its settings, build, GPU or sources differ from now.
  Journal(const std::string& out, Provenance now, Existing existing);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// What an earlier run had finished, as it was measured.
  const ResultFile& finished() const { return finished_; }
  /// What it had finished and is not believed, each with the reason: "hotspot rows=512 cold stream
  /// (run.json.journal:3: ...)". The journal as it was is in `<out>.journal.damaged`.
  const std::vector<std::string>& damaged() const { return damaged_; }

  /// On disk when they return. Throw ResultError (disk full), the journal is then as before.
  void append(const std::vector<Ceiling>& ceilings);
  void append(const GroupResult& group);
  void append(const MicrobenchmarkResult& result);
  /// Writes the result file, where there is anything new for it, and then removes the journal.
  void finish(const ResultFile& file);

 private:
  Journal(Destination out, Provenance now);
  std::string first_lines() const;
  [[noreturn]] void fail(const std::string& reason) const;
  void begin();
  void begin_with_what_is_finished();
  void append(const std::string& line);
  void write(const ResultFile& result) const;

  Destination out_;
  std::string path_;
  Provenance now_;
  OpenFile file_{};
  bool begun_ = false;     // it has its first line
  bool added_ = false;     // something was finished that `out` does not have
  ResultFile finished_{};  // its provenance is now's
  std::vector<std::string> damaged_{};
};

/// What an interrupted run had finished. Throws ResultError as Journal does, and when nothing is in
/// it.
ResultFile read_journal(const std::string& path);

/// Result files and journals in this order, so that the first bad one is the one that is named.
std::vector<ResultFile> read_result_files(const std::vector<std::string>& paths);

/// One clear line (UsageError) when `path` cannot be created or its disk has less than `bytes`
/// left. Creates missing parent folders.
void check_writable(const std::string& path, std::uint64_t bytes);

/// The default place of results: "<stem>.json.gz", "<stem>-2.json.gz" ..., the first that is free.
/// With `resume` the last interrupted one, or else the last.
std::string default_output(const std::string& stem, bool resume);

}  // namespace amasia
