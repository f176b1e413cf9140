// Whether results of two runs may stand in one file: a resumed run, shards of one campaign.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// Settings in which the shards of one campaign differ.
inline const std::set<std::string> shard_settings{"shard"};

/// The first reason why not, as a phrase ("setting precision: 0.01 against 0.005"); nullopt when
/// the two agree in settings (but those in `ignored`), build, GPU type, driver, harness code and
/// the code of `variants`. With `same_gpu` it must be the very GPU, not only its type.
std::optional<std::string> disagreement(const Provenance& a, const Provenance& b,
                                        const std::set<std::string>& variants, bool same_gpu,
                                        const std::set<std::string>& ignored = {});

/// The same of two sessions of the same cases: type of GPU, driver, CUDA compiler and the
/// confidence that was asked for must agree; not the other settings, the harness, the commit or
/// what compiled the host's code, in which the next run may differ as well. Whether the code of a
/// row is the same, options that reach its kernel included, is asked row by row.
std::optional<std::string> session_disagreement(const Provenance& a, const Provenance& b);

/// Every variant with a row and every microbenchmark: names whose sources must agree.
std::set<std::string> measured_code(const std::vector<GroupResult>& groups,
                                    const std::vector<MicrobenchmarkResult>& microbenchmarks);

}  // namespace amasia
