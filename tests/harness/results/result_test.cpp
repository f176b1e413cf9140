#include "harness/results/result.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/results/content_digest.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

Json sample_json() { return to_json(sample_results()); }

/// As if the document had been written like this.
ResultFile read_edited(const Json& json) { return result_from_json(with_digest(json)); }

ResultFile read_back(const ResultFile& file) {
  return result_from_json(parse_json(dump_json(to_json(file)), "sample"));
}

/// Every member of the document, as paths "/groups/0/rows/1/config".
void collect_paths(const Json& json, const Json::json_pointer& at,
                   std::vector<Json::json_pointer>& paths) {
  if (!at.empty()) paths.push_back(at);
  if (json.is_object()) {
    for (const auto& [name, item] : json.items()) collect_paths(item, at / name, paths);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) collect_paths(json[i], at / i, paths);
  }
}

TEST(ResultJson, IsTheRecordedFile) { expect_golden("result.json", dump_json(sample_json())); }

TEST(ResultJson, RoundTripsToTheSameText) {
  EXPECT_EQ(dump_json(to_json(read_back(sample_results()))), dump_json(sample_json()));
}

TEST(ResultJson, WhatDisturbedAGroupComesBack) {
  ResultFile file = sample_results();
  GroupResult& group = file.groups[0];
  group.probe = {{-1, 6.5, 8560, 11.3}, {14, 2384, 8541, 15}};
  group.device_state = {{"temperature_c", "47"}};
  group.invalid = {{InvalidKind::device_state, "too hot", "let it cool"}};
  group.repeated_because = {{InvalidKind::interference, "somebody", "ask"},
                            {InvalidKind::floor, "too fast", "again"}};
  recompute(group, 0.95);
  const Json json = to_json(file);
  EXPECT_EQ(json["groups"][0]["invalid"][0]["kind"], "device state");
  EXPECT_EQ(json["groups"][0]["probe"]["wait_us"], (Json{6.5, 2384.0}));
  EXPECT_FALSE(json["groups"][1].contains("invalid"));  // and as before where nothing did
  EXPECT_FALSE(json["groups"][1].contains("probe"));
  const GroupResult back = read_back(file).groups[0];
  ASSERT_EQ(back.probe.size(), 2u);
  EXPECT_EQ(back.probe[0].round, -1);
  EXPECT_EQ(back.probe[1].memory_us, 15);
  EXPECT_EQ(back.device_state, group.device_state);
  ASSERT_EQ(back.repeated_because.size(), 2u);
  EXPECT_EQ(back.repeated_because[1].kind, InvalidKind::floor);
  EXPECT_EQ(back.invalid[0].remedy, "let it cool");
  EXPECT_EQ(back.comparisons[1].claim, SpeedClaim::invalid);
}

TEST(ResultJson, RoundTripKeepsValuesInTheirMembers) {
  // The text could agree with two members swapped in both directions: look at the structs.
  const ResultFile before = sample_results(), after = read_back(before);
  EXPECT_EQ(after.provenance.sources, before.provenance.sources);
  EXPECT_EQ(after.provenance.cuda_compiler, "NVIDIA 13.0.48");
  EXPECT_EQ(after.provenance.device.memory_bytes, 150121545728u);
  EXPECT_EQ(after.provenance.device.shared_per_block, 232448u);
  EXPECT_TRUE(after.provenance.device.ecc);
  ASSERT_EQ(after.groups.size(), 2u);
  const GroupResult& group = after.groups[0];
  EXPECT_EQ(group.key, before.groups[0].key);
  EXPECT_EQ(group.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(group.work.bytes_read, 2097152);
  EXPECT_EQ(group.work.bytes_written, 1048576);
  EXPECT_EQ(after.groups[1].work.kind, Work::Kind::int32);
  EXPECT_EQ(group.floor->bytes_ms, before.groups[0].floor->bytes_ms);
  const Row& row = group.rows[0];
  EXPECT_EQ(row.samples[10].time_ms, 0.030000000000000002);
  EXPECT_FALSE(row.samples[10].sm_clock_mhz.has_value());
  EXPECT_TRUE(row.samples[10].throttled);
  EXPECT_EQ(row.samples[3].round, 3);
  EXPECT_EQ(group.rows[1].samples[3].position, 1);
  EXPECT_EQ(row.samples[3].sm_clock_mhz, 1977.0);
  EXPECT_EQ(row.geometry, before.groups[0].rows[0].geometry);
  EXPECT_EQ(row.evidence[0].instructions.at("LDG"), 4);
  EXPECT_EQ(row.evidence[0].dynamic_shared_bytes, 8192u);
  EXPECT_EQ(row.time_ms->low, before.groups[0].rows[0].time_ms->low);
  EXPECT_EQ(row.energy_mj, 6.5);
  EXPECT_EQ(group.comparisons[1].speedup.high, before.groups[0].comparisons[1].speedup.high);
  EXPECT_TRUE(group.comparisons[0].control);
  EXPECT_FALSE(after.groups[1].launch_blocked);
  EXPECT_EQ(after.groups[1].rows[2].status, RowStatus::crashed);
}

TEST(ResultJson, DoublesRoundTripExactly) {
  ResultFile file;
  for (const double value :
       {0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 1e15 + 0.3}) {
    file.ceilings.push_back({"c", "u", "m", {value}, value});
  }
  const ResultFile after = read_back(file);
  for (std::size_t i = 0; i < file.ceilings.size(); ++i) {
    EXPECT_EQ(after.ceilings[i].value, file.ceilings[i].value);
    EXPECT_EQ(std::signbit(after.ceilings[i].value), std::signbit(file.ceilings[i].value));
  }
}

TEST(ResultJson, ParametersAreNumbersOnlyWhenNothingIsLost) {
  const Parameters size = Parameters::from_values({{"n", "9223372036854775807"},
                                                   {"minus", "-5"},
                                                   {"zeros", "007"},
                                                   {"minus_zero", "-0"},
                                                   {"huge", "9223372036854775808"},
                                                   {"file", "12.txt"},
                                                   {"none", ""}});
  const Json json = to_json(size);
  EXPECT_EQ(json.dump(), R"({"n":9223372036854775807,"minus":-5,"zeros":"007","minus_zero":"-0",)"
                         R"("huge":"9223372036854775808","file":"12.txt","none":""})");
  EXPECT_EQ(parameters_from_json(json), size);
}

TEST(ResultJson, AVerdictOnNanIsWrittenAndStaysFailed) {
  ResultFile file = sample_results();
  file.groups[1].rows[0].verdict->error = std::nan("");
  const Json json = to_json(file);
  EXPECT_TRUE(json["groups"][1]["rows"][0]["verdict"]["error"].is_null());
  const ResultFile after = result_from_json(json);
  EXPECT_TRUE(std::isinf(after.groups[1].rows[0].verdict->error));
  EXPECT_FALSE(after.groups[1].rows[0].verdict->passed);
}

TEST(ResultJson, OtherNumbersMustBeFiniteAndTimesPositive) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  ResultFile file = sample_results();
  file.groups[0].rows[0].samples[2].time_ms = nan;
  EXPECT_TRUE(contains(message_of<ResultError>([&] { to_json(file); }), "time_ms"));
  file = sample_results();
  file.groups[0].rows[0].samples[2].time_ms = 0;
  EXPECT_THROW(to_json(file), ResultError);
  file = sample_results();
  file.ceilings[0].value = infinity;
  EXPECT_THROW(to_json(file), ResultError);
  file = sample_results();
  file.groups[0].comparisons[0].speedup.high = infinity;
  EXPECT_THROW(to_json(file), ResultError);
  file = sample_results();
  file.groups[0].work.operations = nan;
  EXPECT_THROW(to_json(file), ResultError);
}

TEST(ResultJson, TheHostNameIsThereOnlyWhenRecorded) {
  ResultFile file = sample_results();
  EXPECT_TRUE(to_json(file)["provenance"]["host_name"].is_null());
  file.provenance.host_name = "node7";
  EXPECT_EQ(read_back(file).provenance.host_name, "node7");
}

TEST(ResultJson, NeitherBusNorOtherPrivateFactsOfTheDeviceAreWritten) {
  ResultFile file = sample_results();
  file.provenance.device.pci_bus_id = "0000:1b:00.0";
  EXPECT_EQ(dump_json(to_json(file)).find("0000:1b:00.0"), std::string::npos);
}

TEST(ResultJson, EveryColumnOfTheSamplesHasTheSameLength) {
  const Json whole = sample_json();
  const Json& samples = whole["groups"][0]["rows"][0]["samples"];
  ASSERT_EQ(samples.size(), 5u);
  for (const auto& column : samples.items()) {
    for (const bool longer : {false, true}) {
      Json json = whole;
      Json& values = json["groups"][0]["rows"][0]["samples"][column.key()];
      if (longer) {
        values.push_back(values.back());
      } else {
        values.erase(values.size() - 1);
      }
      EXPECT_TRUE(contains(message_of<ResultError>([&] { result_from_json(json); }),
                           "expected columns of equal length"))
          << column.key() << longer;
    }
  }
}

TEST(ResultJson, ErrorsNameTheMember) {
  const auto error = [](const char* pointer, const Json& value) {
    Json json = sample_json();
    json[Json::json_pointer(pointer)] = value;
    return message_of<ResultError>([&] { read_edited(json); });
  };
  EXPECT_EQ(error("/groups/0/rows/1/samples/time_ms/3", "x"),
            "groups[0].rows[1].samples.time_ms[3]: expected a number, found \"x\"");
  EXPECT_TRUE(contains(error("/groups/0/rows/1/samples/time_ms/3", -1.0),
                       "groups[0].rows[1].samples.time_ms[3]: expected a positive number"));
  EXPECT_TRUE(contains(error("/groups/0/rows/0/samples/throttled/0", 1), "expected true or false"));
  EXPECT_TRUE(contains(error("/groups/0/rows/0/samples/round", Json::array({1})),
                       "groups[0].rows[0].samples: expected columns of equal length"));
  EXPECT_TRUE(contains(error("/groups/0/rows/0/status", "fine"),
                       "groups[0].rows[0].status: expected ok, failed, skipped or crashed"));
  EXPECT_TRUE(contains(error("/groups/0/work/kind", "fp64"), "groups[0].work.kind"));
  EXPECT_TRUE(contains(error("/groups/0/seed", -1), "groups[0].seed"));
  EXPECT_TRUE(contains(error("/groups/0/seed", 1.5), "expected an integer"));
  EXPECT_TRUE(contains(error("/groups/0/rounds", 4294967296), "groups[0].rounds"));
  EXPECT_TRUE(contains(error("/groups/0/key/size/rows", 1.5), "groups[0].key.size.rows"));
  EXPECT_TRUE(contains(error("/provenance/sources/hotspot~1tma", 7), "provenance.sources"));
  EXPECT_EQ(error("/version", 5),
            "version: 5 is newer than this program, which reads 1 to 4: read the file with the "
            "version of Amasia that wrote it, or a later one");
  EXPECT_EQ(error("/version", 0), "version: expected 1 to 4, found 0");
  EXPECT_EQ(error("/version", 2.5), "version: expected an integer, found 2.5");
  EXPECT_TRUE(contains(error("/schema", "other"), "schema: expected \"amasia-result\""));
  EXPECT_TRUE(contains(error("/groups", Json::object()), "groups: expected an array"));
}

TEST(ResultJson, ValuesOfAnotherTypeNeverPass) {
  // Replace each member in turn: the reader may accept what means the same (null for an optional
  // member, another text for a text) but must not crash or let a wrong type through as itself.
  const Json whole = sample_json();
  std::vector<Json::json_pointer> paths;
  collect_paths(whole, Json::json_pointer(), paths);
  ASSERT_GT(paths.size(), 500u);
  for (const Json::json_pointer& path : paths) {
    for (const Json& wrong : {Json("text"), Json(Json::array({Json::array()})), Json(-1.5),
                              Json(true), Json(Json::object({{"a", Json::object()}}))}) {
      if (whole[path].type() == wrong.type()) continue;
      if (whole[path].is_number() && wrong.is_number()) continue;
      // Text or integer are both good for an app's parameter.
      const std::string at = path.to_string();
      if (at.find("/size/") != std::string::npos && wrong.is_string()) continue;
      if (whole[path].is_null() || at == "/digest") continue;  // see content_digest_test.cpp
      Json json = whole;
      json[path] = wrong;
      EXPECT_THROW(read_edited(json), ResultError) << at << " = " << wrong;
    }
  }
}

TEST(ResultJson, MissingMembersAreRefusedOrOptional) {
  const Json whole = sample_json();
  std::vector<Json::json_pointer> paths;
  collect_paths(whole, Json::json_pointer(), paths);
  const std::vector<std::string> optional{
      "host_name",  "floor_ms",        "bound_by",           "reason",        "fallback",
      "verdict",    "evidence",        "energy_mj",          "source_digest", "first_mismatches",
      "free_bytes", "shared_reserved", "cooperative_launch", "interval_rule"};
  // These may be absent, too, where nothing is measured that they follow from.
  const std::vector<std::string> summaries{"floor", "time_ms", "floor_fraction", "gflops",
                                           "gbytes_per_s"};
  for (const Json::json_pointer& path : paths) {
    const Json& parent = whole[path.parent_pointer()];
    const std::string name = path.back();
    if (!parent.is_object()) continue;
    // Objects whose members are data, not structure.
    const Json::json_pointer above = path.parent_pointer();
    const std::string holder = above.empty() ? "" : above.back();
    if (holder == "settings" || holder == "sources" || holder == "device_state" ||
        holder == "size" || holder == "geometry" || holder == "instructions") {
      continue;
    }
    Json json = whole;
    json[path.parent_pointer()].erase(name);
    if (name == "digest") continue;                      // see upgrade_test.cpp
    if (name == "repeat_samples" || name == "itself") {  // each follows from the other
      EXPECT_TRUE(
          contains(message_of<ResultError>([&] { read_edited(json); }), ".itself: expected"))
          << path;
      continue;
    }
    if (name == "interval_rule") {  // without it the intervals are to be exact, and are not
      EXPECT_TRUE(contains(message_of<ResultError>([&] { read_edited(json); }), "samples have it"));
      continue;
    }
    const bool of_sample = holder == "samples" || holder == "repeat_samples";
    if (!of_sample && !whole[path].is_null() &&
        std::find(summaries.begin(), summaries.end(), name) != summaries.end()) {
      EXPECT_TRUE(contains(message_of<ResultError>([&] { read_edited(json); }), "found nothing") ||
                  name == "floor")
          << path;
      EXPECT_THROW(read_edited(json), ResultError) << path;
      continue;
    }
    const bool may_lack =
        (std::find(optional.begin(), optional.end(), name) != optional.end() ||
         std::find(summaries.begin(), summaries.end(), name) != summaries.end()) &&
        !of_sample && !parent.contains("against");
    if (may_lack) {
      EXPECT_NO_THROW(read_edited(json)) << path;
    } else {
      EXPECT_TRUE(
          contains(message_of<ResultError>([&] { read_edited(json); }), name + ": is missing"))
          << path;
    }
  }
}

TEST(ResultFileText, TruncatedAtEveryByteIsRefused) {
  TemporaryFolder folder;
  ResultFile small = sample_results();
  small.groups.resize(1);
  small.groups[0].rows.resize(1);
  small.ceilings.resize(1);
  small.groups[0].floor.reset();
  recompute(small.groups[0], 0.95);
  const std::string text = dump_json(to_json(small));
  const std::string path = folder / "result.json";
  // Without its last line break the file is still whole.
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    const std::string torn = text.substr(0, length);
    const std::string error =
        message_of<ResultError>([&] { result_from_json(parse_json(torn, "torn.json")); });
    ASSERT_TRUE(contains(error, "torn.json:")) << length;
    ASSERT_TRUE(is_one_line(error)) << length;
  }
  write_text(path, text.substr(0, text.size() / 2));
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_result_file(path); }), path + ":"));
  write_text(path, text);
  EXPECT_EQ(dump_json(to_json(read_result_file(path))), text);
}

TEST(ResultFileText, EveryByteFlippedIsReadOrRefused) {
  ResultFile small = sample_results();
  small.groups.resize(1);
  small.groups[0].rows.resize(1);
  recompute(small.groups[0], 0.95);
  const std::string text = dump_json(to_json(small));
  int refused = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '"', '}', '9'}) {
      std::string damaged = text;
      damaged[i] = flip;
      try {
        const ResultFile read = result_from_json(parse_json(damaged, "damaged"));
        // Nothing but the layout of the text was hit, or a member that this program does not know.
        EXPECT_EQ(dump_json(to_json(read)), text) << "byte " << i << " as " << flip;
      } catch (const ResultError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, static_cast<int>(4 * text.size()));
}

TEST(ResultFileText, SyntaxErrorsNameFileLineAndColumn) {
  const auto error = [](const std::string& text) {
    return message_of<ResultError>([&] { parse_json(text, "a.json"); });
  };
  EXPECT_TRUE(contains(error("{\n \"a\": 1,\n \"b\" 2}"), "a.json:3:6: "));
  EXPECT_TRUE(contains(error(""), "a.json:1:1: "));
  EXPECT_TRUE(contains(error("nul"), "a.json:1:"));
  EXPECT_TRUE(contains(error("[1e999]"), "a.json: number overflow"));
  EXPECT_TRUE(contains(error("[\"\xff\"]"), "a.json:1:3: "));
  EXPECT_TRUE(contains(error(std::string("[1]\0", 4)), "a.json:1:"));
}

TEST(ResultFileText, DeepNestingIsNoStackOverflow) {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  EXPECT_THROW(result_from_json(parse_json(deep, "deep")), ResultError);
}

TEST(ResultFileText, FilesThatAreNone) {
  TemporaryFolder folder;
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_result_file(folder / "none.json"); }),
                       "none.json: cannot be read: No such file"));
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_result_file(folder.path().string()); }),
                       "is a directory"));
  write_text(folder / "other.json", "{\"benchmarks\": []}");
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_result_file(folder / "other.json"); }),
                       "other.json: schema: is missing"));
}

TEST(ResultFileText, SamplesAreOneLinePerColumn) {
  const std::string text = dump_json(sample_json());
  EXPECT_TRUE(contains(text,
                       "\"throttled\": [false,false,false,false,false,false,false,false,false,"
                       "true,true]\n"));
  EXPECT_EQ(text.back(), '\n');
}

TEST(ResultFileText, BytesThatAreNoUtf8AreReplaced) {
  ResultFile file = sample_results();
  file.provenance.argv.push_back("caf\xe9");
  EXPECT_EQ(read_back(file).provenance.argv.back(), "caf\xef\xbf\xbd");
}

TEST(WriteTextFile, ReplacesAndLeavesNothingElse) {
  TemporaryFolder folder;
  write_text_file(folder / "a", "one");
  write_text_file(folder / "a", "two");
  EXPECT_EQ(read_text(folder / "a"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteTextFile, KeepsTheOldFileWhenItCannotWrite) {
  TemporaryFolder folder;
  write_text_file(folder / "a", "one");
  {
    const FileSizeLimit disk_full(3);
    EXPECT_TRUE(contains(message_of<ResultError>([&] { write_text_file(folder / "a", "two two"); }),
                         "a: cannot be written: File too large"));
  }
  EXPECT_EQ(read_text(folder / "a"), "one");
  EXPECT_THROW(write_text_file(folder / "no/such/folder", "x"), ResultError);
  std::filesystem::create_directory(folder / "d");
  write_text(folder / "d/inside", "");
  EXPECT_TRUE(contains(message_of<ResultError>([&] { write_text_file(folder / "d", "x"); }),
                       "cannot be replaced"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

}  // namespace
}  // namespace amasia
