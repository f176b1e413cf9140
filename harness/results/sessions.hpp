// Several sessions of the same rows, from one file or many: what stands behind a number, and where
// the next session falls (statistics/between.hpp).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/statistics/between.hpp"

namespace amasia {

/// Of the intervals that predict a session.
inline constexpr double prediction_confidence = 0.9;

/// The session of a group or microbenchmark: its record, or what the provenance says.
SessionRecord session_of(const Provenance& provenance, const std::optional<int>& session);

/// The hash of the UUID of the GPU that a group, or a microbenchmark, was measured on.
std::string gpu_of(const Provenance& provenance, const GroupResult& group);
std::string gpu_of(const Provenance& provenance, const MicrobenchmarkResult& result);

/// The digest of the code of a row: what was recorded with it, or else of its variant.
std::string code_of(const Provenance& provenance, const Row& row);

/// One group for each case, the first session in which it is valid, if no other has more variants
/// or the rounds that it lacks: what a table shows.
std::vector<const GroupResult*> shown_groups(const ResultFile& file);
/// The same of microbenchmarks.
std::vector<const MicrobenchmarkResult*> shown_microbenchmarks(const ResultFile& file);

/// Whose rows tell how far a row of this group may move: those of its app, and where tensor cores
/// compute, those of the same inputs, "gemm bf16". There it is often the power limit that moves a
/// row, by times what the others of the app move. A pool with too few rows on two GPUs has those of
/// all apps on such cores in its place.
std::string pool_of(const GroupResult& group);

/// The sessions of every row, comparison and point in some files. Rows are the same when the GPU
/// model, the case, variant, role, repeat, config, schedule and the digest of the code are; points,
/// when the GPU model, the microbenchmark with its digest, the coordinates and the quantity are.
class Sessions {
 public:
  explicit Sessions(const std::vector<const ResultFile*>& files) { add(files); }

  /// Takes over what others know of how far rows move, without taking their sessions for sessions
  /// of the rows that are here: of a row whose change is to be judged, the two sides are two rows.
  void learn_from(const Sessions& others);

  /// Takes a file in as further sessions of the rows that are here, after what it differs by as a
  /// whole is taken out: from every time the median of its app's differences. Of an app with few
  /// rows that are here nothing is taken in. So the difference between two files tells how far rows
  /// move apart, and not how far all of them moved, which is to be judged.
  void learn_levelled(const ResultFile& file);
  /// Takes files in as they are; a session that is here already stays as it is.
  void add(const std::vector<const ResultFile*>& files);

  using Values = std::vector<SessionValue>;

  /// Of a time in ms, a row of the GPU model of `file`; empty for a row without one.
  const Values& of(const ResultFile& file, const GroupResult& group, const Row& row) const;
  /// Of a speed-up.
  const Values& of(const ResultFile& file, const GroupResult& group,
                   const Comparison& comparison) const;

  /// Of a point of a microbenchmark; empty for one without a positive value.
  const Values& of(const ResultFile& file, const MicrobenchmarkResult& result,
                   const MicrobenchmarkRow& row) const;

  /// Where a session on another GPU of the model falls; nothing where no GPU was compared with
  /// another, or the row is not among the sessions.
  std::optional<Prediction> predicted(const ResultFile& file, const GroupResult& group,
                                      const Row& row) const;
  std::optional<Prediction> predicted(const ResultFile& file, const GroupResult& group,
                                      const Comparison& comparison) const;

  /// What is known of the other rows of a pool (pool_of()): of times, and of speed-ups. `but` is
  /// the row, as it is among these sessions, that a prediction is made for.
  Components times_of(const std::string& gpu_model, const std::string& pool,
                      const Values& but) const;
  Components ratios_of(const std::string& gpu_model, const std::string& pool,
                       const Values& but) const;
  /// The same of the points of a microbenchmark.
  Components points_of(const std::string& gpu_model, const std::string& microbenchmark,
                       const Values& but) const;

 private:
  struct Repeated {
    std::string gpu_model, pool;  // of an app (pool_of()), or the microbenchmark
    Values values{};
  };
  struct Quantity {
    std::map<std::string, Repeated> rows{};  // by identity
    std::set<std::string> known{};           // identity, GPU and date
    std::map<std::string, Pool>
        by_name{};  // of the pool, or of what takes its place, and GPU model
    void add(const std::string& identity, const ResultFile& file, const std::string& pool_name,
             const std::optional<int>& session, const SessionValue& value);
    void learn_from(const Quantity& others);
    void pool();
    Components components(const std::string& gpu_model, const std::string& pool_name,
                          const Values& but) const;
    std::optional<Prediction> predicted(const std::string& identity) const;
    const Values& of(const std::string& identity) const;
  };
  Quantity times_{}, ratios_{}, points_{};
};

}  // namespace amasia
