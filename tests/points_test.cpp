// The points of every microbenchmark in the build, on GPUs that are not here: complete, the same
// when asked twice, and where the comparisons with published figures look for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/microbenchmark.hpp"
#include "harness/published.hpp"

namespace amasia {
namespace {

Device gpu(const char* name, int capability, int sms, std::size_t memory_gib, std::size_t l2_mib,
           std::size_t shared_kib) {
  Device d;
  d.name = name;
  d.compute_capability = capability;
  d.sm_count = sms;
  d.memory_bytes = memory_gib << 30;
  d.free_bytes = d.memory_bytes;
  d.l2_bytes = l2_mib << 20;
  d.shared_per_sm = shared_kib << 10;
  d.shared_per_block = (shared_kib - 1) << 10;
  d.registers_per_sm = 65536;
  d.max_threads_per_sm = capability == 75 ? 1024 : capability == 89 ? 1536 : 2048;
  d.max_clock_mhz = 1800;
  d.cooperative_launch = true;
  return d;
}

const std::vector<Device>& gpus() {
  static const std::vector<Device> all{gpu("H200", 90, 132, 140, 60, 228),
                                       gpu("A100", 80, 108, 40, 40, 164),
                                       gpu("V100", 70, 80, 16, 6, 96), gpu("T4", 75, 40, 16, 4, 64),
                                       gpu("RTX 4090", 89, 128, 24, 72, 100)};
  return all;
}

TEST(Points, AreCompleteOnEveryGpuAndTheSameWhenAskedTwice) {
  for (const Microbenchmark* m : microbenchmarks()) {
    for (const Device& d : gpus()) {
      for (const Scope scope : {Scope::quick, Scope::full}) {
        const auto points = m->points(d, scope);
        EXPECT_FALSE(points.empty()) << m->name << " on " << d.name;
        EXPECT_NO_THROW(check_points(*m, points)) << d.name;
        const auto again = m->points(d, scope);
        ASSERT_EQ(points.size(), again.size()) << m->name;
        for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].at, again[i].at);
      }
    }
  }
}

TEST(Points, OfTheQuickFormAreNotMore) {
  for (const Microbenchmark* m : microbenchmarks()) {
    EXPECT_LE(m->points(gpus()[0], Scope::quick).size(), m->points(gpus()[0], Scope::full).size());
  }
}

TEST(Points, AreWhereTheComparisonsLook) {
  for (const PublishedComparison& c : published_comparisons()) {
    for (const Selector& s : parse_selectors(c.own)) {
      if (s.kind != Selector::Kind::point) continue;
      const Microbenchmark* m = find_microbenchmark(s.name);
      if (m == nullptr) continue;  // not built yet, or not in this build
      const auto points = m->points(gpus()[0], Scope::full);
      const auto matching = std::count_if(points.begin(), points.end(), [&](const Point& p) {
        return p.quantity == s.quantity &&
               std::all_of(s.at.begin(), s.at.end(),
                           [&](const auto& w) { return value_of(p.at, w.first) == w.second; });
      });
      EXPECT_EQ(matching, 1) << c.id << ": " << c.own;
    }
  }
}

TEST(Points, WhatTheInventoryNamesAndTheTreeHasIsRegistered) {
  if (microbenchmarks().empty()) GTEST_SKIP() << "a build without CUDA";
  for (const InventoryRow& row : inventory()) {
    for (const std::string& by : row.by) {
      if (by == "ceilings" || by.starts_with("app ")) continue;
      const bool in_tree = std::filesystem::exists(AMASIA_SOURCE_DIR "/microbench/" + by + ".cu");
      EXPECT_EQ(find_microbenchmark(by) != nullptr, in_tree) << row.id << ": " << by;
    }
  }
}

}  // namespace
}  // namespace amasia
