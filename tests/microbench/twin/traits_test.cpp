#include "microbench/twin/traits.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harness/text/json_file.hpp"

namespace amasia::twin {
namespace {

std::string complaint(const Coordinates& asked) {
  try {
    traits_from(asked);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Traits, HaveDefaultsThatAKernelCanHave) {
  const Traits t = traits_from({});
  EXPECT_EQ(contradiction(t), "");
  EXPECT_EQ(t.out_bytes, 16 * t.interior_chunks());
  EXPECT_EQ(coordinates_of(t), coordinates_of(Traits{}));
}

TEST(Traits, OfAnyNameAreInTheTableOnce) {
  std::set<std::string_view> names;
  for (const Trait& t : traits_of_a_kernel) {
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_GE(Traits{}.*t.value, t.least) << t.name;
    EXPECT_LE(Traits{}.*t.value, t.most) << t.name;
  }
}

TEST(Traits, AreReadBackAsTheyAreWritten) {
  Traits t;
  t.rows = 32;
  t.layout = static_cast<std::int64_t>(Layout::box);
  t.halo = 4;
  t.reads = 9;
  t.chain = 1;
  t.out_bytes = 1024;
  const Coordinates at = coordinates_of(t);
  EXPECT_EQ(value_of(at, "layout"), "box");
  EXPECT_EQ(value_of(at, "chain"), "dependent");
  EXPECT_EQ(coordinates_of(traits_from(at)), at);
}

TEST(Traits, ThatAreNotNamedFollowFromTheTile) {
  EXPECT_EQ(traits_from({{"rows", "64"}}).out_bytes, 64 * 512);
  EXPECT_EQ(traits_from({{"rows", "64"}, {"out_bytes", "16"}}).out_bytes, 16);
  EXPECT_EQ(traits_from({{"layout", "box"}}).reads, 1);
  EXPECT_EQ(traits_from({{"layout", "box"}, {"halo", "2"}}).reads, 5);
  EXPECT_EQ(traits_from({{"layout", "box"}, {"halo", "2"}, {"reads", "3"}}).reads, 3);
}

TEST(Traits, AreRefusedInOneLineThatNamesThem) {
  EXPECT_NE(complaint({{"size", "3"}}).find("no trait 'size'; known: rows, row_bytes"),
            std::string::npos);
  for (const char* bad : {"", "0", "257", "3.5", "12x", "-1", "99999999999999999999"}) {
    const std::string why = complaint({{"rows", bad}});
    EXPECT_NE(why.find("rows (rows of a tile) is an integer from 1 to 256"), std::string::npos)
        << bad;
    EXPECT_EQ(why.find('\n'), std::string::npos);
  }
  EXPECT_EQ(complaint({{"layout", "tree"}}), "trait layout is one of run, box, gather, not 'tree'");
  EXPECT_EQ(complaint({{"chain", ""}}), "trait chain is one of independent, dependent, not ''");
}

// The cases that the Python package is held to as well, which judges traits without this program.
TEST(Traits, ThatContradictEachOtherAreRefusedWithTheReason) {
  const auto cases = read_json_file(AMASIA_SOURCE_DIR "/tests/plots/contradicting_traits.json");
  ASSERT_GT(cases.size(), 10u);
  for (const auto& one : cases) {
    Coordinates asked;
    for (const auto& [name, value] : one.at("traits").items()) {
      asked.emplace_back(name, value.get<std::string>());
    }
    const std::string why = one.at("why").get<std::string>();
    EXPECT_EQ(complaint(asked), why.empty() ? "" : "no kernel has these traits: " + why)
        << one.dump();
  }
}

TEST(Traits, MayLeaveATileLessChunksThanThreads) { EXPECT_EQ(complaint({{"rows", "1"}}), ""); }

}  // namespace
}  // namespace amasia::twin
