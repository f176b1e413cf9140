#include "harness/results/merge.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/results/agreement.hpp"
#include "harness/results/upgrade.hpp"

namespace amasia {
namespace {

/// Settings in which shards of one campaign differ.
const std::set<std::string> shard_settings{"shard"};

/// Samples of the same ceiling from all files, and their median.
std::vector<Ceiling> pooled(const std::vector<ResultFile>& files) {
  std::vector<Ceiling> pool;
  for (const ResultFile& file : files) {
    for (const Ceiling& ceiling : file.ceilings) {
      const auto same = std::find_if(pool.begin(), pool.end(), [&](const Ceiling& other) {
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

}  // namespace

ResultFile merge_files(const std::vector<ResultFile>& files,
                       const std::vector<std::string>& names) {
  if (files.empty()) throw ResultError("nothing to merge");
  if (files.size() != names.size()) throw std::logic_error("merge_files: one name for each file");
  const ResultFile& first = files.front();
  std::map<std::string, std::size_t> owner;  // group -> file
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (std::size_t earlier = 0; earlier < f; ++earlier) {
      std::set<std::string> variants = measured_code(files[f].groups, files[f].microbenchmarks);
      variants.merge(measured_code(files[earlier].groups, files[earlier].microbenchmarks));
      if (const auto why = disagreement(files[earlier].provenance, files[f].provenance, variants,
                                        /*same_gpu=*/false, shard_settings)) {
        throw ResultError(fmt::format("{} and {} cannot be merged, they differ in {}",
                                      names[earlier], names[f], *why));
      }
    }
    for (const GroupResult& group : files[f].groups) {
      const auto [place, is_new] = owner.emplace(group.key.to_string(), f);
      if (!is_new) {
        throw ResultError(fmt::format("{} and {} cannot be merged, both have the group {}",
                                      names[place->second], names[f], place->first));
      }
    }
    for (const MicrobenchmarkResult& m : files[f].microbenchmarks) {
      const auto [place, is_new] = owner.emplace("microbench/" + m.name, f);
      if (!is_new) {
        throw ResultError(fmt::format("{} and {} cannot be merged, both have {}",
                                      names[place->second], names[f], place->first));
      }
    }
  }

  ResultFile merged;
  merged.provenance = first.provenance;
  merged.ceilings = pooled(files);
  std::set<std::string> commits, shards;
  for (const ResultFile& file : files) {
    const Provenance& provenance = file.provenance;
    merged.provenance.date_utc = std::min(merged.provenance.date_utc, provenance.date_utc);
    merged.provenance.dirty = merged.provenance.dirty || provenance.dirty;
    commits.insert(provenance.commit);
    const auto shard = provenance.settings.find("shard");
    if (shard != provenance.settings.end() && !shard->second.empty()) shards.insert(shard->second);
    for (const auto& [variant, digest] : provenance.sources) {
      merged.provenance.sources.emplace(variant, digest);
    }
  }
  merged.provenance.commit = fmt::format("{}", fmt::join(commits, ","));
  if (!shards.empty()) {
    merged.provenance.settings["shard"] = fmt::format("{}", fmt::join(shards, ","));
  }

  for (const ResultFile& file : files) {
    for (const MicrobenchmarkResult& m : file.microbenchmarks) {
      merged.microbenchmarks.push_back(m);
      if (file.provenance.device.uuid_hash != first.provenance.device.uuid_hash) {
        merged.microbenchmarks.back().warnings.push_back(fmt::format(
            "measured on another {} ({}) than the first file's ({})", file.provenance.device.name,
            file.provenance.device.uuid_hash, first.provenance.device.uuid_hash));
      }
    }
  }
  std::sort(merged.microbenchmarks.begin(), merged.microbenchmarks.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });

  // In turn from each file: given in order, shards give back the order they were dealt from.
  for (std::size_t g = 0, taken = 1; taken > 0; ++g) {
    taken = 0;
    for (const ResultFile& file : files) {
      if (g >= file.groups.size()) continue;
      ++taken;
      merged.groups.push_back(file.groups[g]);
      if (file.provenance.device.uuid_hash != first.provenance.device.uuid_hash) {
        merged.groups.back().warnings.push_back(fmt::format(
            "measured on another {} ({}) than the first file's ({})", file.provenance.device.name,
            file.provenance.device.uuid_hash, first.provenance.device.uuid_hash));
      }
    }
  }
  upgrade(merged, {});  // digests of version 1 have no place in the file that is written
  return merged;
}

}  // namespace amasia
