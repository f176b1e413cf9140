#include "harness/plan/tuning.hpp"

#include "harness/registry.hpp"
#include "harness/results/result.hpp"
#include "tests/fake_apps.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

const std::vector<ParameterSpec> specs{
    {"rows", ParameterSpec::Kind::integer, "", "1"},
    {"cols", ParameterSpec::Kind::integer, "", "1"},
    {"chip", ParameterSpec::Kind::choice, "", "scaled", 1, INT64_MAX, {"scaled", "rodinia"}}};

Parameters size(const char* rows, const char* cols, const char* chip = "scaled") {
  return Parameters(specs, {{"rows", rows}, {"cols", cols}, {"chip", chip}});
}

TunedCase case_at(Parameters at) {
  return {"GPU A", "app/tma", std::move(at), CacheMode::cold, LaunchMode::graph, "d1"};
}

TuningEntry entry(Parameters at, std::string winner) {
  TuningEntry e{case_at(std::move(at)), std::move(winner)};
  e.date_utc = "2026-01-01T00:00:00Z";
  return e;
}

TuningChoice choice_of(const TuningTable& t, const TunedCase& wanted) {
  return t.choose(wanted).value_or(TuningChoice{"nothing", ""});
}

TEST(Tuning, TakesTheExactSizeAndModeBeforeTheNearest) {
  TuningTable t;
  t.record(entry(size("1000", "1000"), "replaced"));
  t.record(entry(size("1000", "1000"), "small"));
  t.record(entry(size("10000", "10000"), "large"));
  auto stream = entry(size("1000", "1000"), "stream");
  stream.launch = LaunchMode::stream;
  t.record(stream);
  EXPECT_EQ(t.entries().size(), 3u);
  const Parameters small = size("1000", "1000");
  EXPECT_EQ(choice_of(t, case_at(small)).source.find("nearest"), std::string::npos);
  EXPECT_NE(choice_of(t, case_at(size("9000", "9000"))).source.find("nearest"), std::string::npos);
  const std::pair<TunedCase, const char*> cases[] = {
      {case_at(small), "small"},
      {case_at(size("1500", "1500")), "small"},
      {case_at(size("9000", "9000")), "large"},
      {{"GPU A", "app/tma", small, CacheMode::cold, LaunchMode::stream, "d1"}, "stream"},
      {{"GPU A", "app/tma", small, CacheMode::hot, LaunchMode::graph, "d1"}, "small"},
      // Another problem, device, variant or code is no match.
      {case_at(size("1000", "1000", "rodinia")), "nothing"},
      {{"GPU B", "app/tma", small, CacheMode::cold, LaunchMode::graph, "d1"}, "nothing"},
      {{"GPU A", "app/dsm", small, CacheMode::cold, LaunchMode::graph, "d1"}, "nothing"},
      {{"GPU A", "app/tma", small, CacheMode::cold, LaunchMode::graph, "d2"}, "nothing"}};
  for (const auto& [wanted, config] : cases) EXPECT_EQ(choice_of(t, wanted).config, config);
}

TEST(Tuning, AMissingFileIsEmptyAMalformedOneIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder / "tuning.json";
  EXPECT_TRUE(TuningTable::read(path).entries().empty());
  for (const char* text :
       {"", "{", "[]", "{\"schema\": \"other\", \"version\": 2, \"entries\": []}",
        "{\"schema\": \"amasia-tuning\", \"version\": 2}",
        "{\"schema\": \"amasia-tuning\", \"version\": 2, \"entries\": [{}]}"}) {
    write_text(path, text);
    EXPECT_THROW(TuningTable::read(path), ResultError) << text;
  }
  const std::string whole =
      R"({"schema": "amasia-tuning", "version": 2, "entries": [{"device": "d",)"
      R"("variant": "nw/tma", "size": {"n": "64"}, "cache": "cold", "launch": "stream",)"
      R"("config": "a", "source_digest": "", "date_utc": "", "table": [{"config": "a",)"
      R"("status": "ok", "reason": "", "median_ms": 1.0, "low_ms": 1.0, "high_ms": 1.0,)"
      R"("n": 5}]}]})";
  write_text(path, whole);
  EXPECT_NO_THROW(TuningTable::read(path));
  const struct {
    const char *part, *wrong, *says;
  } cases[] = {{"\"n\": 5", "\"n\": 1e308",
                "entries[0].table[0].n: expected an integer of 64 bits at most, found 1e+308"},
               {"\"n\": 5", "\"n\": 4294967296",
                "entries[0].table[0].n: expected one in range, found 4294967296"},
               {"\"median_ms\": 1.0", "\"median_ms\": -1.0",
                "entries[0].table[0].median_ms: expected a positive number, found -1.0"},
               {"\"cold\"", "\"warm\"", "entries[0].cache: expected cold or hot, found \"warm\""},
               {"\"version\": 2", "\"version\": 3",
                "version: 3 is newer than this program, which reads 2: read "}};
  for (const auto& c : cases) {
    write_text(path, replaced(whole, c.part, c.wrong));
    EXPECT_TRUE(
        contains(message_of<ResultError>([&] { TuningTable::read(path); }), path + ": " + c.says));
  }
}

Row candidate(const std::string& variant, const std::string& config, double ms) {
  Row row;
  row.variant = variant;
  row.role = Role::candidate;
  row.config = config;
  if (ms > 0) {
    row.time_ms = MedianInterval{};
    row.time_ms->median = ms;
  } else {
    row.status = RowStatus::failed;
    row.reason = "wrong result";
  }
  return row;
}

TEST(TuningEntry, TheFastestThatMayBeChosenWins) {
  const Variant v = fake_variant("pathfinder", "dsm",
                                 {{"iso"},
                                  {"wide"},
                                  {"narrow"},
                                  {.name = "cluster of one", .reference_only = true},
                                  {"broken"}});
  GroupResult search;
  search.key = {"pathfinder", Parameters{}, CacheMode::cold, LaunchMode::graph};
  search.rows = {
      candidate("pathfinder/dsm", "iso", 3),      candidate("pathfinder/dsm", "wide", 2),
      candidate("pathfinder/dsm", "narrow", 2.5), candidate("pathfinder/dsm", "cluster of one", 1),
      candidate("pathfinder/dsm", "broken", 0),   candidate("pathfinder/baseline", "iso", 0.5)};
  TuningEntry entry = tuning_entry(search, v, "GPU A");
  EXPECT_EQ(entry.config, "wide");
  EXPECT_EQ(entry.device, "GPU A");
  EXPECT_EQ(entry.cache, CacheMode::cold);
  EXPECT_EQ(entry.launch, LaunchMode::graph);
  ASSERT_EQ(entry.table.size(), 5u) << "the whole search, and no other variant's rows";
  EXPECT_EQ(entry.table[4].status, RowStatus::failed);
  EXPECT_EQ(entry.table[4].reason, "wrong result");

  search.rows = {candidate("pathfinder/dsm", "cluster of one", 1),
                 candidate("pathfinder/dsm", "broken", 0)};
  EXPECT_EQ(tuning_entry(search, v, "GPU A").config, "");
}

Device model(const std::string& name, int compute_capability, int sm_count) {
  Device device;
  device.name = name;
  device.compute_capability = compute_capability;
  device.sm_count = sm_count;
  return device;
}

TEST(Tuning, AGpuWithoutWinnersTakesThoseOfTheNearestOfItsComputeCapability) {
  ASSERT_TRUE(register_source_digests({{"lent/tma", "now"}, {"lent/dsm", "now"}}));
  const auto winner = [](const char* device, const char* variant, const char* digest = "now") {
    TuningEntry e = entry(size("1000", "1000"), device);
    e.device = device;
    e.variant = variant;
    e.source_digest = digest;
    return e;
  };
  TuningTable others;
  for (const auto& [name, capability, sms] :
       {std::tuple{"far", 90, 78}, {"near", 90, 132}, {"other", 100, 114}}) {
    others.record(model(name, capability, sms));
    others.record(winner(name, "lent/tma"));
  }
  others.record(winner("near", "lent/dsm"));
  const Device mine = model("mine", 90, 120);
  TuningTable table;
  table.record(winner("mine", "lent/dsm"));
  table.fill_in(others, mine);
  const auto chosen = [](const TuningTable& of, const char* variant, const char* digest = "now") {
    TunedCase wanted = case_at(size("1000", "1000"));
    wanted.device = "mine";
    wanted.variant = variant;
    wanted.source_digest = digest;
    return choice_of(of, wanted);
  };
  EXPECT_EQ(chosen(table, "lent/tma").config, "near");
  EXPECT_NE(chosen(table, "lent/tma").source.find(" on near"), std::string::npos);
  EXPECT_EQ(chosen(table, "lent/dsm").config, "mine");
  EXPECT_EQ(chosen(table, "lent/dsm").source.find(" on "), std::string::npos);
  EXPECT_EQ(chosen(table, "lent/tma", "before").config, "nothing");
  TuningTable of_older_code;  // whose own winner is of no use any more
  of_older_code.record(winner("mine", "lent/tma", "before"));
  of_older_code.fill_in(others, mine);
  EXPECT_EQ(chosen(of_older_code, "lent/tma").config, "near");
  TuningTable of_another_capability;
  of_another_capability.fill_in(others, model("mine", 80, 108));
  EXPECT_TRUE(of_another_capability.entries().empty());
}

TEST(Tuning, TheTableOfASearchHasTheBestOfEachSchedule) {
  const Variant v =
      fake_variant("app", "tma",
                   {{.name = "iso", .schedule = "iso"},
                    {.name = "wide/2", .schedule = "wide"},
                    {.name = "wide/5", .schedule = "wide"},
                    {.name = "wide/alone", .reference_only = true, .schedule = "wide"},
                    {.name = "tall", .schedule = "tall"},
                    {"undivided"}});
  TuningEntry e = entry(size("1000", "1000"), "wide/5");
  const auto timed = [](const char* name, double ms) {
    TuningCandidate c{name};
    c.median_ms = ms;
    return c;
  };
  e.table = {timed("iso", 9),       timed("wide/2", 3),
             timed("wide/5", 2),    timed("wide/alone", 1),
             timed("undivided", 1), {"tall", RowStatus::skipped, "too few"}};
  TuningTable t;
  t.record(e);
  const auto choose = [&](const Parameters& at, const char* digest) {
    TunedCase wanted = case_at(at);
    wanted.source_digest = digest;
    return t.choose_by_schedule(wanted, v);
  };
  const auto winners = choose(size("1100", "1000"), "d1");
  ASSERT_EQ(winners.size(), 2u);
  EXPECT_EQ(winners[0].schedule, "iso");
  EXPECT_EQ(winners[0].config, "iso");
  EXPECT_EQ(winners[1].schedule, "wide");
  EXPECT_EQ(winners[1].config, "wide/5");
  EXPECT_NE(winners[1].source.find("nearest"), std::string::npos);
  EXPECT_TRUE(choose(size("1000", "1000"), "d2").empty());
}

}  // namespace
}  // namespace amasia
