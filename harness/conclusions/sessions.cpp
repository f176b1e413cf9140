#include "harness/conclusions/sessions.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/conclusions/recomputed.hpp"
#include "harness/results/provenance.hpp"
#include "harness/statistics/schedule.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

/// Of all variants in the group, each with its code.
std::set<std::string> variants_in(const GroupResult& group) {
  std::set<std::string> variants;
  for (const Row& row : group.rows) variants.insert(row.variant + ' ' + row.source_digest);
  return variants;
}

/// Whether a session of a case has some of the variants of another, and no others.
bool is_part_of(const GroupResult& group, const GroupResult& other) {
  const std::set<std::string> mine = variants_in(group), theirs = variants_in(other);
  return mine.size() < theirs.size() && std::ranges::includes(theirs, mine);
}
bool is_part_of(const MicrobenchmarkResult&, const MicrobenchmarkResult&) { return false; }

/// Whether a session of the same code has more rounds than another that ended before the least.
bool can_say_more(const GroupResult& group, const GroupResult& other) {
  return other.rounds < least_rounds && group.rounds > other.rounds &&
         variants_in(group) == variants_in(other);
}
bool can_say_more(const MicrobenchmarkResult&, const MicrobenchmarkResult&) { return false; }

/// The earliest valid session of each, or the earliest where none is valid; a later one if it has
/// more variants, or the rounds that the earlier lacks.
template <class Results, class Name>
auto first_of_each(const Results& results, const Name& name) {
  std::vector<const typename Results::value_type*> first;
  std::map<std::string, std::size_t> place;
  const auto rank = [](const auto& result) {
    return std::pair(!result.invalid.empty(), result.session.value_or(0));
  };
  for (const auto& result : results) {
    const auto [at, is_new] = place.emplace(name(result), first.size());
    if (is_new) {
      first.push_back(&result);
      continue;
    }
    const auto*& shown = first[at->second];
    const bool is_valid_alike = result.invalid.empty() == shown->invalid.empty();
    if (is_valid_alike && (is_part_of(result, *shown) || can_say_more(*shown, result))) continue;
    if (rank(result) < rank(*shown) ||
        (is_valid_alike && (is_part_of(*shown, result) || can_say_more(result, *shown)))) {
      shown = &result;
    }
  }
  return first;
}

std::string code_of(const Provenance& provenance, const std::string& name, const std::string& own) {
  return own.empty() ? value_in(provenance.sources, name) : own;
}

std::string phrase(const std::string& what, const std::string& a, const std::string& b) {
  const auto shown = [](const std::string& value) { return value.empty() ? "(none)" : value; };
  return what + ": " + shown(a) + " against " + shown(b);
}

/// GPU model, driver and build; what compiles the host's code, and the options that every row's
/// digest has as far as they reach its kernel, only with `host_code`.
std::optional<std::string> difference_of_machine(const Provenance& a, const Provenance& b,
                                                 bool host_code) {
  struct Fact {
    const char* what;
    std::string left, right;
  };
  const Fact facts[] = {
      {"GPU", a.device.name, b.device.name},
      {"CUDA driver", std::to_string(a.device.driver_version),
       std::to_string(b.device.driver_version)},
      {"CUDA runtime", std::to_string(a.device.runtime_version),
       std::to_string(b.device.runtime_version)},
      {"C++ compiler", host_code ? a.compiler : "", host_code ? b.compiler : ""},
      {"CUDA compiler", a.cuda_compiler, b.cuda_compiler},
      {"compiler flags", host_code ? a.flags : "", host_code ? b.flags : ""},
      {"architectures", a.architectures, b.architectures},
  };
  for (const Fact& fact : facts) {
    if (fact.left != fact.right) return phrase(fact.what, fact.left, fact.right);
  }
  return std::nullopt;
}

/// Samples of the same ceiling from all files, and their median.
std::vector<Ceiling> pooled(const std::vector<ResultFile>& files) {
  std::vector<Ceiling> pool;
  for (const ResultFile& file : files) {
    for (const Ceiling& ceiling : file.ceilings) {
      const auto same = std::ranges::find_if(pool, [&](const Ceiling& other) {
        return other.name == ceiling.name && other.unit == ceiling.unit;
      });
      if (same == pool.end()) {
        pool.push_back(ceiling);
      } else {
        same->samples.insert(same->samples.end(), ceiling.samples.begin(), ceiling.samples.end());
        if (!same->samples.empty()) same->value = median_interval(same->samples, 0.95).median;
      }
    }
  }
  return pool;
}

std::string name_of(const GroupResult& group) { return "the group " + group.key.to_string(); }
std::string name_of(const MicrobenchmarkResult& m) { return "microbench/" + m.name; }

/// What a file measured, by name: each as often as it is there.
std::vector<std::string> cases_of(const ResultFile& file) {
  std::vector<std::string> cases;
  each_result(file, [&](const auto& result) { cases.push_back(name_of(result)); });
  return cases;
}

std::string shard_of(const Provenance& provenance) {
  return value_in(provenance.settings, "shard");
}

/// The provenance of all of them.
Provenance joined_provenance(const std::vector<ResultFile>& files) {
  Provenance joined = files.front().provenance;
  std::set<std::string> commits, shards;
  for (const ResultFile& file : files) {
    const Provenance& provenance = file.provenance;
    joined.date_utc = std::min(joined.date_utc, provenance.date_utc);
    joined.dirty = joined.dirty || provenance.dirty;
    commits.insert(provenance.commit);
    if (const std::string shard = shard_of(provenance); !shard.empty()) shards.insert(shard);
    for (const auto& [variant, digest] : provenance.sources) {
      joined.sources.emplace(variant, digest);
    }
  }
  joined.commit = fmt::format("{}", fmt::join(commits, ","));
  if (!shards.empty()) joined.settings["shard"] = fmt::format("{}", fmt::join(shards, ","));
  return joined;
}

/// Parts of one campaign.
ResultFile joined_parts(const std::vector<ResultFile>& files,
                        const std::vector<std::string>& names) {
  const ResultFile& first = files.front();
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (std::size_t earlier = 0; earlier < f; ++earlier) {
      std::set<std::string> variants = measured_code(files[f]);
      variants.merge(measured_code(files[earlier]));
      if (const auto why = disagreement(files[earlier].provenance, files[f].provenance, variants,
                                        /*same_gpu=*/false, shard_settings)) {
        throw ResultError(fmt::format("{} and {} cannot be merged, they differ in {}",
                                      names[earlier], names[f], *why));
      }
    }
  }

  ResultFile merged;
  merged.provenance = joined_provenance(files);
  merged.ceilings = pooled(files);
  const auto part_of = [&first](const Provenance& provenance, auto result) {
    const Device &device = provenance.device, &of_first = first.provenance.device;
    if (device.uuid_hash != of_first.uuid_hash) {
      result.uuid_hash = device.uuid_hash;
      result.warnings.push_back(
          fmt::format("measured on another {} ({}) than the first file's ({})", device.name,
                      device.uuid_hash, of_first.uuid_hash));
    }
    return result;
  };
  for (const ResultFile& file : files) {
    for (const MicrobenchmarkResult& m : file.microbenchmarks) {
      merged.add(part_of(file.provenance, m));
    }
  }
  std::ranges::sort(merged.microbenchmarks, {}, &MicrobenchmarkResult::name);

  // In turn from each file: given in order, shards give back the order they were dealt from.
  for (std::size_t g = 0, taken = 1; taken > 0; ++g) {
    taken = 0;
    for (const ResultFile& file : files) {
      if (g >= file.groups.size()) continue;
      ++taken;
      merged.groups.push_back(part_of(file.provenance, file.groups[g]));
    }
  }
  return merged;
}

/// One session, from one file or from the shards of one campaign.
struct Session {
  SessionRecord record;
  std::string name;  // of its files
  ResultFile file{};

  std::set<std::string> cases() const {
    const std::vector<std::string> all = cases_of(file);
    return {all.begin(), all.end()};
  }
};

/// The sessions of a campaign whose parts were measured at the same time: one on each GPU.
std::vector<Session> sessions_of_parts(const ResultFile& file, const std::string& name) {
  std::vector<Session> sessions;
  const auto on = [&](const std::string& gpu) -> Session& {
    for (Session& session : sessions) {
      if (session.record.uuid_hash == gpu) return session;
    }
    Session& session = sessions.emplace_back();
    session.record = session_of(file.provenance, std::nullopt);
    session.name = name;
    session.file.provenance = file.provenance;
    if (session.record.uuid_hash == gpu) return session;
    session.record.uuid_hash = gpu;
    session.record.device_state.clear();  // the file has that of the first part alone
    session.name += fmt::format(" (on {})", gpu);
    session.file.provenance.device.uuid_hash = gpu;
    return session;
  };
  each_result(file, [&](const auto& r) { on(gpu_of(file.provenance, r)).file.add(r); });
  if (sessions.empty()) on(file.provenance.device.uuid_hash);
  return sessions;
}

/// The sessions of a file: itself, or those that were merged into it.
std::vector<Session> sessions_in(const ResultFile& file, const std::string& name) {
  if (file.provenance.sessions.empty()) return sessions_of_parts(file, name);
  const std::size_t count = file.provenance.sessions.size();
  std::vector<Session> sessions(count);
  for (std::size_t s = 0; s < count; ++s) {
    sessions[s].record = session_of(file.provenance, static_cast<int>(s));
    sessions[s].name = fmt::format("{} (session {})", name, s + 1);
    sessions[s].file.provenance = file.provenance;
  }
  each_result(file, [&](const auto& result) {
    sessions[static_cast<std::size_t>(result.session.value_or(0))].file.add(result);
  });
  return sessions;
}

/// Whether two files are shards of one pass: of one division, on one GPU, with nothing in common.
bool complete_each_other(const Session& a, const Session& b) {
  const std::string left = shard_of(a.file.provenance), right = shard_of(b.file.provenance);
  const auto parts = [](const std::string& shard) { return shard.substr(shard.find('/') + 1); };
  if (left.empty() || right.empty() || parts(left) != parts(right)) return false;
  if (a.record.uuid_hash != b.record.uuid_hash) return false;
  std::set<std::string> of_a = a.cases(), of_b = b.cases();
  of_a.merge(of_b);
  return of_b.empty();  // what both have stays there
}

/// Takes rows out of groups, and groups that have no more.
void erase_rows(std::vector<GroupResult>& groups, double confidence,
                const std::function<bool(const Row&)>& goes) {
  for (GroupResult& group : groups) {
    if (std::erase_if(group.rows, goes) == 0) continue;
    group.rounds = 0;
    for (const Row& row : group.rows) {
      if (!row.samples.empty()) group.rounds = std::max(group.rounds, row.samples.back().round + 1);
    }
    recompute(group, confidence);
  }
  std::erase_if(groups, [](const GroupResult& group) { return group.rows.empty(); });
}

/// Takes out of a session what is of other code than in the newest session, and says so.
class SameCode {
 public:
  /// The newest session is the last.
  explicit SameCode(const std::vector<Session>& sessions) {
    for (const Session& session : sessions) {
      const Provenance& provenance = session.file.provenance;
      for (const GroupResult& group : session.file.groups) {
        for (const Row& row : group.rows) {
          newest_[row.variant] = {code_of(provenance, row), session.name};
        }
      }
      for (const MicrobenchmarkResult& m : session.file.microbenchmarks) {
        newest_[m.name] = {code_of(provenance, m), session.name};
      }
    }
  }

  void keep(Session& session, std::vector<std::string>& notes) const {
    std::map<std::string, std::string> out;  // variant -> whose code it differs from
    const Provenance& provenance = session.file.provenance;
    erase_rows(session.file.groups, asked_confidence(provenance),
               [&](const Row& row) { return !same(row.variant, code_of(provenance, row), out); });
    std::erase_if(session.file.microbenchmarks, [&](const MicrobenchmarkResult& m) {
      return !same(m.name, code_of(provenance, m), out);
    });
    for (const auto& [variant, newer] : out) {
      notes.push_back(fmt::format("{} (commit {}): {} stays out, its code is not that of {}",
                                  session.name, session.record.commit, variant, newer));
    }
  }

 private:
  struct Code {
    std::string digest, file;
  };

  bool same(const std::string& name, const std::string& digest,
            std::map<std::string, std::string>& out) const {
    const Code& newest = newest_.at(name);
    if (newest.digest == digest) return true;
    out.emplace(name, newest.file);
    return false;
  }

  std::map<std::string, Code> newest_{};
};

/// Throws ResultError where two sessions are one, and both have a case of it.
void refuse_cases_twice(const std::vector<Session>& sessions) {
  std::map<std::string, std::string> seen;  // GPU, date and case -> session
  for (const Session& session : sessions) {
    for (const std::string& name : cases_of(session.file)) {
      const std::string when = session.record.uuid_hash + session.record.date_utc;
      const auto [place, is_new] = seen.emplace(when + name, session.name);
      if (is_new) continue;
      throw ResultError(fmt::format("{} and {} cannot be merged, both have {} of the same session",
                                    place->second, session.name, name));
    }
  }
}

Merged joined_sessions(const std::vector<ResultFile>& files,
                       const std::vector<std::string>& names) {
  std::vector<Session> parts;
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (const auto why = session_disagreement(files.front().provenance, files[f].provenance)) {
      throw ResultError(fmt::format("{} and {} cannot be sessions of one file, they differ in {}",
                                    names.front(), names[f], *why));
    }
    for (Session& session : sessions_in(files[f], names[f])) parts.push_back(std::move(session));
  }
  // In the order of their dates also before shards are joined: those of one pass follow each other,
  // and a shard belongs to the last pass that lacks it.
  std::ranges::stable_sort(parts, {}, [](const Session& s) { return s.record.date_utc; });
  std::vector<Session> sessions;
  for (Session& session : parts) {
    const auto rest = std::find_if(sessions.rbegin(), sessions.rend(), [&](const Session& other) {
      return complete_each_other(other, session);
    });
    if (rest == sessions.rend()) {
      sessions.push_back(std::move(session));
    } else {
      rest->name += " with " + session.name;
      each_result(session.file, [&](auto& result) { rest->file.add(std::move(result)); });
    }
  }
  refuse_cases_twice(sessions);

  Merged merged;
  merged.file.provenance = joined_provenance(files);
  merged.file.provenance.device = sessions.front().file.provenance.device;
  merged.file.provenance.device_state = sessions.front().record.device_state;
  merged.file.provenance.compiler = sessions.front().record.compiler;
  merged.file.provenance.flags = sessions.front().record.flags;
  merged.file.provenance.sessions.clear();
  for (const Session& session : sessions) {
    for (const auto& [name, digest] : session.file.provenance.sources) {
      merged.file.provenance.sources[name] = digest;
    }
  }
  merged.file.ceilings = pooled(files);
  std::set<std::string> all;
  for (const Session& session : sessions) all.merge(session.cases());
  const SameCode code(sessions);
  for (Session& session : sessions) {
    const int index = static_cast<int>(merged.file.provenance.sessions.size());
    const std::size_t has = session.cases().size();
    if (has < all.size()) {
      merged.notes.push_back(fmt::format("{}: has {} of {} cases, the session is partial",
                                         session.name, has, all.size()));
    }
    code.keep(session, merged.notes);
    session.record.wall_s = 0;
    each_result(session.file, [&](auto& result) {
      result.session = index;
      session.record.wall_s += result.wall_s;
      merged.file.add(std::move(result));
    });
    merged.file.provenance.sessions.push_back(std::move(session.record));
  }
  return merged;
}

/// Whether any two have a case in common, or one is of sessions already.
bool are_sessions(const std::vector<ResultFile>& files) {
  std::set<std::string> seen;
  for (const ResultFile& file : files) {
    if (files.size() > 1 && !file.provenance.sessions.empty()) return true;
    for (const std::string& name : cases_of(file)) {
      if (!seen.insert(name).second) return true;
    }
  }
  return false;
}

}  // namespace

std::string code_of(const Provenance& provenance, const Row& row) {
  return code_of(provenance, row.variant, row.source_digest);
}
std::string code_of(const Provenance& provenance, const MicrobenchmarkResult& result) {
  return code_of(provenance, result.name, result.source_digest);
}

SessionRecord session_of(const Provenance& provenance, const std::optional<int>& session) {
  if (session && *session < static_cast<int>(provenance.sessions.size())) {
    SessionRecord record = provenance.sessions[static_cast<std::size_t>(*session)];
    if (record.compiler.empty()) record.compiler = provenance.compiler;
    if (record.flags.empty()) record.flags = provenance.flags;
    return record;
  }
  return {provenance.date_utc,
          provenance.commit,
          provenance.dirty,
          provenance.compiler,
          provenance.flags,
          provenance.device.uuid_hash,
          0,
          provenance.device_state};
}

std::vector<const GroupResult*> shown_groups(const ResultFile& file) {
  return first_of_each(file.groups, [](const GroupResult& g) { return g.key.to_string(); });
}

std::vector<const MicrobenchmarkResult*> shown_microbenchmarks(const ResultFile& file) {
  return first_of_each(file.microbenchmarks, [](const MicrobenchmarkResult& m) { return m.name; });
}

std::optional<std::string> session_disagreement(const Provenance& a, const Provenance& b) {
  const std::string left = value_in(a.settings, "confidence"),
                    right = value_in(b.settings, "confidence");
  if (left != right) return phrase("setting confidence", left, right);
  return difference_of_machine(a, b, /*host_code=*/false);
}

std::optional<std::string> disagreement(const Provenance& a, const Provenance& b,
                                        const std::set<std::string>& variants, bool same_gpu,
                                        const std::set<std::string>& ignored) {
  std::set<std::string> settings;
  for (const auto& entry : a.settings) settings.insert(entry.first);
  for (const auto& entry : b.settings) settings.insert(entry.first);
  for (const std::string& name : settings) {
    const std::string left = value_in(a.settings, name), right = value_in(b.settings, name);
    if (left != right && !ignored.contains(name)) return phrase("setting " + name, left, right);
  }
  if (a.study != b.study) return phrase("study", a.study, b.study);
  if (same_gpu && a.device.uuid_hash != b.device.uuid_hash) {
    return phrase("GPU (hash of its UUID)", a.device.uuid_hash, b.device.uuid_hash);
  }
  if (auto why = difference_of_machine(a, b, /*host_code=*/true)) return why;
  if (a.harness_digest != b.harness_digest) {
    return phrase("sources of the harness", a.harness_digest, b.harness_digest);
  }
  for (const std::string& variant : variants) {
    const std::string left = value_in(a.sources, variant), right = value_in(b.sources, variant);
    if (left != right) return phrase("sources of " + variant, left, right);
  }
  return std::nullopt;
}

std::set<std::string> measured_code(const ResultFile& file) {
  std::set<std::string> names;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) names.insert(row.variant);
  }
  for (const MicrobenchmarkResult& m : file.microbenchmarks) names.insert(m.name);
  return names;
}

Merged merge(const std::vector<ResultFile>& files, const std::vector<std::string>& names) {
  if (files.empty()) throw ResultError("nothing to merge");
  if (files.size() != names.size()) throw std::logic_error("merge: one name for each file");
  if (are_sessions(files)) return joined_sessions(files, names);
  return {joined_parts(files, names), {}};
}

}  // namespace amasia
