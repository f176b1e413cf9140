// Finished work on disk at once: <out>.journal is JSON lines, first the provenance, then one line per
// finished ceiling set or group, each written and fsynced. At the end it becomes the result file.
#pragma once

#include <string>
#include <vector>

#include "harness/result.hpp"

namespace amasia {

class Journal {
 public:
  /// Starts `<out>.journal`, or with `resume` continues it: a torn last line is cut off. Throws
  /// UsageError when there is a journal and `resume` is not given (it would be overwritten), and
  /// ResultError when the journal's settings, device or the sources of a variant differ from now.
  static Journal open(const std::string& out, const Provenance& now, bool resume);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  /// What an earlier run had finished.
  const std::vector<Ceiling>& ceilings() const;
  const std::vector<GroupResult>& groups() const;

  void append(const std::vector<Ceiling>& ceilings);
  void append(const GroupResult& group);
  /// Writes the result file and removes the journal.
  void finish(const ResultFile& file);

 private:
  struct State;
  explicit Journal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// One clear line (UsageError) when `path` cannot be created or its disk has less than `bytes` left.
/// Creates missing parent folders.
void check_writable(const std::string& path, std::uint64_t bytes);

}  // namespace amasia
