#include "harness/results/sessions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "harness/results/merge.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

/// A run on a GPU, of which tma takes `longer` times as long.
ResultFile run_on(const std::string& gpu, const std::string& date, double longer = 1) {
  ResultFile file{sample_provenance(), sample_ceilings(), {sample_group(512)}};
  file.provenance.device.uuid_hash = gpu;
  file.provenance.date_utc = date;
  for (Row& row : file.groups[0].rows) {
    if (row.variant != "hotspot/tma") continue;
    for (Sample& s : row.samples) s.time_ms *= static_cast<float>(longer);
  }
  recompute(file.groups[0], 0.95);
  return file;
}

const Row& tma_of(const ResultFile& file) { return file.groups[0].rows[2]; }

const Comparison& gain_of(const ResultFile& file) {
  for (const Comparison& c : file.groups[0].comparisons) {
    if (c.variant == "hotspot/tma" && c.role == Role::iso) return c;
  }
  throw std::runtime_error("no comparison of tma at iso");
}

const ResultFile a = run_on("one", "2026-11-20T10:00:00Z"),
                 b = run_on("two", "2026-11-20T11:00:00Z", 1.01),
                 c = run_on("one", "2026-11-20T12:00:00Z", 1.002);

TEST(Sessions, RowsOfTheSameCodeAreSessionsOfOneRow) {
  const Sessions sessions({&a, &b, &c});
  EXPECT_EQ(sessions.of(a, a.groups[0], tma_of(a)).size(), 3u);
  const auto next = sessions.predicted(a, a.groups[0], tma_of(a));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->sessions, 3);
  EXPECT_EQ(next->gpus, 2);
  const double mean = (std::log(1.002) / 2 + std::log(1.01)) / 2;
  EXPECT_NEAR(next->value, tma_of(a).time_ms->median * std::exp(mean), 1e-9);
  const auto gain = sessions.predicted(a, a.groups[0], gain_of(a));
  ASSERT_TRUE(gain);
  EXPECT_LT(gain->low, gain_of(b).speedup.ratio);
  EXPECT_GT(gain->high, gain_of(a).speedup.ratio);
}

TEST(Sessions, OneFileOfSessionsSaysTheSame) {
  const ResultFile merged = merge_files({a, b, c}, {"a", "b", "c"});
  const auto apart = Sessions({&a, &b, &c}).predicted(a, a.groups[0], tma_of(a));
  const auto together =
      Sessions({&merged}).predicted(merged, merged.groups[0], merged.groups[0].rows[2]);
  ASSERT_TRUE(apart && together);
  EXPECT_EQ(apart->low, together->low);
  EXPECT_EQ(apart->high, together->high);
}

TEST(Sessions, ASessionInTwoFilesIsOne) {
  const ResultFile merged = merge_files({a, b}, {"a", "b"});
  EXPECT_EQ(Sessions({&merged, &b}).of(b, b.groups[0], tma_of(b)).size(), 2u);
}

TEST(Sessions, OtherCodeConfigOrModelIsNoSession) {
  ResultFile code = b, config = b, model = b;
  code.groups[0].rows[2].source_digest = "another";
  config.groups[0].rows[2].config = "another";
  model.provenance.device.name = "NVIDIA H100";
  for (const ResultFile* other : {&code, &config, &model}) {
    EXPECT_EQ(Sessions({&a, other}).of(a, a.groups[0], tma_of(a)).size(), 1u);
  }
}

TEST(Sessions, AShardNamesItsGpu) {
  ResultFile shard = c;
  shard.groups[0].uuid_hash = "two";
  const auto next = Sessions({&a, &shard}).predicted(a, a.groups[0], tma_of(a));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->gpus, 2);
}

TEST(Sessions, WhatIsLearntFromOthersAddsNoSessions) {
  Sessions own({&a});
  EXPECT_FALSE(own.predicted(a, a.groups[0], tma_of(a)));
  own.learn_from(Sessions({&b, &c}));
  EXPECT_EQ(own.of(a, a.groups[0], tma_of(a)).size(), 1u);
  const auto next = own.predicted(a, a.groups[0], tma_of(a));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->sessions, 1);
}

TEST(Sessions, WhatTensorCoresComputeHasAPoolOfItsOwn) {
  // tma moves by 1 % in every group of fp32, and by 10 % in every one of bf16.
  const auto with_sizes = [](const ResultFile& file, Work::Kind kind, double longer) {
    ResultFile sizes = file;
    sizes.groups.clear();
    for (int rows : {512, 1024, 2048, 4096, 8192}) {
      GroupResult group = file.groups[0];
      group.key = sample_group(rows).key;
      group.work.kind = kind;
      for (Sample& s : group.rows[2].samples) s.time_ms *= static_cast<float>(longer);
      recompute(group, 0.95);
      sizes.groups.push_back(group);
    }
    return sizes;
  };
  const ResultFile plain[] = {with_sizes(a, Work::Kind::fp32, 1),
                              with_sizes(b, Work::Kind::fp32, 1)};
  const ResultFile tensor[] = {with_sizes(a, Work::Kind::bf16, 1),
                               with_sizes(b, Work::Kind::bf16, 1.09)};
  EXPECT_EQ(pool_of(plain[0].groups[0]), "hotspot");
  EXPECT_EQ(pool_of(tensor[0].groups[0]), "hotspot bf16");

  ResultFile both[] = {plain[0], plain[1]};
  for (int i : {0, 1}) {
    for (const GroupResult& group : tensor[i].groups) {
      both[i].groups.push_back(group);
      both[i].groups.back().key.cache = CacheMode::hot;  // another case
    }
  }
  const std::string model = a.provenance.device.name;
  const Sessions all({&both[0], &both[1]});
  const double alone = Sessions({&plain[0], &plain[1]}).times_of(model, "hotspot", {}).gpu_variance;
  EXPECT_GT(alone, 0);
  EXPECT_DOUBLE_EQ(all.times_of(model, "hotspot", {}).gpu_variance, alone);
  EXPECT_GT(all.times_of(model, "hotspot bf16", {}).gpu_variance, 10 * alone);
  // So have those of an app that nothing is known of: by which cores they compute.
  EXPECT_DOUBLE_EQ(all.times_of(model, "nw", {}).gpu_variance, alone);
  EXPECT_GT(all.times_of(model, "gemm tf32", {}).gpu_variance, 10 * alone);
}

TEST(Sessions, TablesShowTheFirstThatHasTheCase) {
  ResultFile two = run_on("two", "2026-11-20T11:00:00Z");
  two.groups.push_back(sample_group(1024));
  const ResultFile merged = merge_files({a, two}, {"a", "two"});
  const auto shown = shown_groups(merged);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0]->session, 0);
  EXPECT_EQ(shown[1]->session, 1);
}

TEST(Sessions, TablesShowTheFirstWithTheLeastRounds) {
  ResultFile few = a, more = run_on("two", "2026-11-20T11:00:00Z"),
             three = run_on("three", "2026-11-21T11:00:00Z");
  few.groups[0].rounds = 8;
  more.groups[0].rounds = 15;
  three.groups[0].rounds = 51;
  ResultFile merged = merge_files({few, more, three}, {"a", "two", "three"});
  const auto shown = [&merged] { return shown_groups(merged).at(0)->session; };
  EXPECT_EQ(shown(), 1);
  std::swap(merged.groups[0], merged.groups[1]);  // in whatever order they stand
  EXPECT_EQ(shown(), 1);
  std::swap(merged.groups[0], merged.groups[1]);
  merged.groups[0].rounds = 15;
  EXPECT_EQ(shown(), 0);
  // Of other code it does not stand for the first.
  merged.groups[0].rounds = 8;
  for (GroupResult& group : merged.groups) {
    if (group.session == 0) continue;
    for (Row& row : group.rows) row.source_digest = "another";
  }
  EXPECT_EQ(shown(), 0);
}

TEST(Sessions, TablesShowTheOneWithMoreVariants) {
  ResultFile two = run_on("two", "2026-11-20T11:00:00Z");
  Row more = two.groups[0].rows[2];
  more.variant = "hotspot/cuda_barrier";
  two.groups[0].rows.push_back(more);
  ResultFile three = run_on("three", "2026-11-21T11:00:00Z");
  const ResultFile merged = merge_files({a, two, three}, {"a", "two", "three"});
  ASSERT_EQ(shown_groups(merged).size(), 1u);
  EXPECT_EQ(shown_groups(merged)[0]->session, 1);
  ResultFile disturbed = merged;
  for (GroupResult& group : disturbed.groups) {
    if (group.session == 1) group.invalid = {{InvalidKind::interference, "somebody", "wait"}};
  }
  EXPECT_EQ(shown_groups(disturbed)[0]->session, 0);
  // Of other code it does not stand for the first.
  ResultFile other = merged;
  for (GroupResult& group : other.groups) {
    if (group.session != 1) continue;
    for (Row& row : group.rows) row.source_digest = "another";
  }
  EXPECT_EQ(shown_groups(other)[0]->session, 0);
}

}  // namespace
}  // namespace amasia
