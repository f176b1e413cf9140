#include "harness/results/result.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/results/codec.hpp"
#include "harness/results/envelope.hpp"
#include "harness/results/field.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/profile.hpp"
#include "harness/results/schema.hpp"
#include "tests/sample_results.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

Json sample_json() { return to_json(sample_results()); }

ResultFile read_back(const ResultFile& file) { return result_from_text(to_text(file), "sample"); }

/// One group with one row: short enough to damage every byte of it.
ResultFile small_results() {
  ResultFile small = sample_results();
  small.groups.resize(1);
  small.groups[0].rows.resize(1);
  small.ceilings.resize(1);
  small.groups[0].floor.reset();
  recompute(small.groups[0], 0.95);
  return small;
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

TEST(ResultText, IsTheRecordedFileAndReadsBackToTheSame) {
  const std::string text = to_text(sample_results());
  expect_golden("result.json", text);
  EXPECT_EQ(to_text(result_from_text(text, "sample")), text);
}

TEST(ResultJson, PositionsThatTheScheduleSaysAreNotWritten) {
  const ResultFile before = sample_results(), after = read_back(before);
  const Json rows = sample_json()["groups"][0]["rows"];
  for (std::size_t r = 0; r < rows.size(); ++r) {
    EXPECT_EQ(rows[r]["samples"].contains("position"), r + 1 == rows.size()) << r;
    for (std::size_t i = 0; i < before.groups[0].rows[r].samples.size(); ++i) {
      EXPECT_EQ(after.groups[0].rows[r].samples[i].position,
                before.groups[0].rows[r].samples[i].position);
    }
  }
  // Of two runs in a round the first in the order is the sample, whichever entry it is of.
  const Row& twice = after.groups[0].rows[2];
  for (const Sample& second : twice.repeat_samples) {
    EXPECT_GT(second.position, twice.samples[static_cast<std::size_t>(second.round)].position);
  }
}

TEST(ResultJson, NumbersAreExact) {
  ResultFile file;
  for (const double value :
       {0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 1e15 + 0.3}) {
    file.ceilings.push_back({"c", "u", "m", {value}, value});
  }
  const ResultFile after = read_back(file);
  for (std::size_t i = 0; i < file.ceilings.size(); ++i) {
    EXPECT_EQ(after.ceilings[i].value, file.ceilings[i].value);
    EXPECT_EQ(std::signbit(after.ceilings[i].samples[0]), std::signbit(file.ceilings[i].value));
  }
  GroupResult group = sample_group(512);
  std::vector<Sample>& samples = group.rows[6].samples;
  const float floats[] = {0.1F, 1.0F / 3, 1e-45F, 3.4028235e38F, 16777216, 0.0101F, 1e-7F};
  for (std::size_t i = 0; i < std::size(floats); ++i) samples[i].time_ms = floats[i];
  const Json json = to_json(group);
  EXPECT_EQ(json["rows"][6]["samples"]["time_ms"][5].dump(), "0.0101");
  const GroupResult back = group_from_json(Json::parse(json.dump()));
  for (std::size_t i = 0; i < std::size(floats); ++i) {
    EXPECT_EQ(back.rows[6].samples[i].time_ms, floats[i]);
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
  Parameters after;
  read(At(json), any_value, after);
  EXPECT_EQ(after, size);
}

TEST(ResultJson, AVerdictOnNanIsWrittenAndStaysFailed) {
  ResultFile file = sample_results();
  file.groups[1].rows[0].verdict->error = std::nan("");
  EXPECT_TRUE(to_json(file)["groups"][1]["rows"][0]["verdict"]["error"].is_null());
  const ResultFile after = read_back(file);
  EXPECT_TRUE(std::isinf(after.groups[1].rows[0].verdict->error));
  EXPECT_FALSE(after.groups[1].rows[0].verdict->passed);
}

TEST(ResultJson, OtherNumbersMustBeFiniteAndTimesPositive) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  void (*const changes[])(ResultFile&) = {
      [](ResultFile& f) { f.groups[0].rows[0].samples[2].time_ms = std::nanf(""); },
      [](ResultFile& f) { f.groups[0].rows[0].samples[2].time_ms = 0; },
      [](ResultFile& f) { f.ceilings[0].value = infinity; },
      [](ResultFile& f) { f.groups[0].comparisons[0].speedup.high = infinity; },
      [](ResultFile& f) { f.groups[0].work.operations = nan; }};
  for (const auto& change : changes) {
    ResultFile file = sample_results();
    change(file);
    EXPECT_THROW(to_json(file), ResultError) << &change - changes;
  }
}

TEST(ResultText, HasNoPrivateFactsOfTheDevice) {
  ResultFile file = sample_results();
  file.provenance.device.pci_bus_id = "0000:1b:00.0";
  EXPECT_EQ(to_text(file).find("0000:1b:00.0"), std::string::npos);
}

TEST(ResultText, BytesThatAreNoUtf8AreReplaced) {
  ResultFile file = sample_results();
  file.provenance.argv.push_back("caf\xe9");
  EXPECT_EQ(read_back(file).provenance.argv.back(), "caf\xef\xbf\xbd");
}

TEST(ResultJson, ErrorsNameTheMember) {
  struct Case {
    const char* pointer;
    Json value;
    const char* error;
  };
  const Case cases[] = {
      {"/groups/0/rows/1/samples/time_ms/3", "x",
       "groups[0].rows[1].samples.time_ms[3]: expected a number, found \"x\""},
      {"/groups/0/rows/1/samples/time_ms/3", -1.0,
       "groups[0].rows[1].samples.time_ms[3]: expected a positive number"},
      {"/groups/0/rows/1/samples/time_ms/3", 1e-60,
       "groups[0].rows[1].samples.time_ms[3]: expected a positive number"},
      {"/groups/0/rows/1/samples/time_ms/3", 1e60, "time_ms[3]: expected a finite number in range"},
      {"/groups/0/rows/1/samples/time_ms", Json::array({1}), "expected columns of equal length"},
      {"/groups/0/rows/1/samples/sm_clock_mhz", Json::array({1}), "columns of equal length"},
      {"/groups/0/rows/0/samples/throttled/0", true, "expected an integer, found true"},
      {"/groups/0/rows/0/samples/throttled/0", 11, "throttled[0]: expected one in range, found 11"},
      {"/groups/0/rows/0/samples/round", Json::array({1}),
       "groups[0].rows[0].samples: expected columns of equal length"},
      {"/groups/0/rows/0/evidence/0", 1, "groups[0].rows[0].evidence[0]: expected an object"},
      {"/groups/0/rows/0/evidence", 1, "groups[0].rows[0].evidence: expected an array"},
      {"/groups/0/rows/0/reason", nullptr, "groups[0].rows[0].reason: expected text, found null"},
      {"/groups/0/rows/0/status", "fine",
       "groups[0].rows[0].status: expected ok, failed, skipped or crashed"},
      {"/groups/0/work/kind", "fp64", "groups[0].work.kind"},
      {"/groups/0/seed", -1, "groups[0].seed"},
      {"/groups/0/seed", 1.5, "expected an integer"},
      {"/groups/0/rounds", 4294967296, "groups[0].rounds"},
      {"/groups/0/key/size/rows", 1.5, "groups[0].key.size.rows"},
      {"/provenance/sources/hotspot~1tma", 7, "provenance.sources"},
      {"/groups", Json::object(), "groups: expected an array"}};
  for (const Case& c : cases) {
    Json json = sample_json();
    json[Json::json_pointer(c.pointer)] = c.value;
    EXPECT_TRUE(contains(message_of<ResultError>([&] { result_from_json(json); }), c.error))
        << c.pointer;
  }
}

TEST(ResultJson, ValuesOfAnotherTypeNeverPass) {
  const Json whole = sample_json();
  std::vector<Json::json_pointer> paths;
  collect_paths(whole, Json::json_pointer(), paths);
  ASSERT_GT(paths.size(), 400u);
  for (const Json::json_pointer& path : paths) {
    const std::string at = path.to_string();
    if (at.starts_with("/kernels")) continue;  // read where rows refer to them
    for (const Json& wrong : {Json("text"), Json(Json::array({Json::array()})), Json(-1.5),
                              Json(true), Json(Json::object({{"a", Json::object()}}))}) {
      if (whole[path].type() == wrong.type() || whole[path].is_null()) continue;
      if (whole[path].is_number() && wrong.is_number()) continue;
      // Text or integer are both good for an app's parameter.
      if (at.find("/size/") != std::string::npos && wrong.is_string()) continue;
      Json json = whole;
      json[path] = wrong;
      EXPECT_THROW(result_from_json(json), ResultError) << at << " = " << wrong;
    }
  }
}

TEST(ResultJson, OnlyOptionalMembersMayBeMissing) {
  const std::string optional =
      " reason fallback verdict evidence energy_mj free_bytes source_digest sm_clock_mhz position "
      "first_mismatches shared_reserved cooperative_launch repeat repeat_samples throttled round "
      "interval_rule floor time_ms floor_fraction gflops gbytes_per_s itself ";
  const std::set<std::string> data{"settings", "sources",  "device_state",
                                   "size",     "geometry", "instructions"};
  const Json whole = sample_json();
  std::vector<Json::json_pointer> paths;
  collect_paths(whole, Json::json_pointer(), paths);
  for (const Json::json_pointer& path : paths) {
    const Json::json_pointer above = path.parent_pointer();
    const std::string name = path.back(), holder = above.empty() ? "" : above.back();
    if (!whole[above].is_object() || data.contains(holder)) continue;
    if (path.to_string().starts_with("/kernels/")) continue;
    Json json = whole;
    json[above].erase(name);
    const bool is_column = holder == "samples" || holder == "repeat_samples";
    const bool is_needed =
        whole[above].contains("against") ? name != "itself" : is_column && name == "time_ms";
    if (contains(optional, " " + name + " ") && !is_needed) {
      EXPECT_NO_THROW(result_from_json(json)) << path;
      continue;
    }
    const std::string error = message_of<ResultError>([&] { result_from_json(json); });
    EXPECT_TRUE(name == "kernels" || contains(error, name + ": is missing"))
        << path << ": " << error;
  }
}

TEST(ResultText, TruncatedAtEveryByteIsRefused) {
  const std::string text = to_text(small_results());
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string error =
        message_of<ResultError>([&] { result_from_text(text.substr(0, length), "torn.json"); });
    ASSERT_TRUE(contains(error, "torn.json:")) << length;
    ASSERT_TRUE(is_one_line(error)) << length;
  }
}

TEST(ResultFileOnDisk, IsPackedWhereItsNameSaysSo) {
  const TemporaryFolder folder;
  for (const char* name : {"a.json", "a.json.gz"}) {
    write_result_file(folder / name, sample_results());
    EXPECT_EQ(to_text(read_result_file(folder / name)), to_text(sample_results())) << name;
  }
  EXPECT_EQ(read_text(folder / "a.json"), to_text(sample_results()));
  const std::string packed = read_text(folder / "a.json.gz");
  EXPECT_LT(packed.size(), read_text(folder / "a.json").size() / 4);
  // By its bytes, whatever its name.
  write_text(folder / "b.json", packed);
  EXPECT_EQ(to_text(read_result_file(folder / "b.json")), to_text(sample_results()));
}

const Json document = {
    {"ceilings", Json::array()},
    {"groups", {{{"key", 1}, {"rows", {{{"a", "x\n"}}, {{"a", 2}}}}, {"w", 0}}}}};

TEST(Sealed, IsALineForEachRow) {
  EXPECT_EQ(sealed("amasia-test", 3, document),
            "{\"schema\":\"amasia-test\",\"version\":3,\"digest\":\"" +
                digest_of("\"ceilings\":[],\n\"groups\":[\n{\"key\":1,\"rows\":[\n{\"a\":\"x\\n\"},"
                          "\n{\"a\":2}],\"w\":0}]\n}\n") +
                "\",\n\"ceilings\":[],\n\"groups\":[\n{\"key\":1,\"rows\":[\n{\"a\":\"x\\n\"},\n"
                "{\"a\":2}],\"w\":0}]\n}\n");
  EXPECT_EQ(digest_of(""),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sealed, LinesOfAJournalShowAnyChange) {
  const std::string line = sealed_line({{"group", {{"a", 1.5}}}});
  const std::string whole = line.substr(0, line.size() - 1);
  EXPECT_TRUE(is_whole_line(whole));
  EXPECT_EQ(Json::parse(whole)["group"]["a"], 1.5);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = changed[i] == '7' ? '8' : '7';
    EXPECT_FALSE(is_whole_line(changed)) << i;
    EXPECT_FALSE(is_whole_line(whole.substr(0, i))) << i;
  }
}

TEST(BadFiles, AreRefusedInOneLine) {
  const std::string text = to_text(sample_results());
  const std::string packed = gzip(text);
  std::string flipped = packed;
  flipped[packed.size() / 2] = static_cast<char>(flipped[packed.size() / 2] ^ 1);
  const struct Case {
    std::string bytes, error;
  } cases[] = {
      {replaced(text, "\"version\":5", "\"version\":4"),
       "is a result file of format 4, which Amasia 0.1.0 reads (commit 8a85fa0f); this program "
       "reads 5"},
      {"{\"schema\": \"amasia-result\", \"version\": 1}", "is a result file of format 1, which"},
      {replaced(text, "\"version\":5", "\"version\":6"),
       "version: 6 is newer than this program, which reads 5: read the file with the version of "
       "Amasia that wrote it, or a later one"},
      {replaced(text, "\"version\":5", "\"version\":0"), "version: expected 5, found 0"},
      {replaced(text, "\"version\":5", "\"version\":2.5"),
       "version: expected an integer, found 2.5"},
      {replaced(text, "amasia-result", "other"),
       "schema: expected \"amasia-result\", found \"other\""},
      {"{\"benchmarks\": []}", "schema: is missing"},
      {"[1]", "the document: expected an object, found an array"},
      {replaced(text, "NVIDIA H200", "NVIDIA H100"), "digest: expected sha256:"},
      {replaced(text, ",\n\"provenance\"", ", \"provenance\""),
       "the file was changed or damaged after"},
      {text.substr(0, text.size() / 2), "found.json:"},
      {packed.substr(0, packed.size() / 2), "ends in the middle of its gzip data"},
      {packed.substr(0, packed.size() - 1), "ends in the middle of its gzip data"},
      {packed + packed, "has more data after its gzip stream"},
      {packed + "x", "has more data after its gzip stream"},
      {"\x1f\x8b more", "is no whole gzip file"},
      {flipped, "is no whole gzip file"},
      {gzip("{}"), "schema: is missing"},
      {"\xff\xfe{", "found.json:1:1: "},
      {std::string(1000000, '[') + std::string(1000000, ']'), "at most 64 levels"},
      {"", "found.json: expected JSON, found nothing"}};
  const TemporaryFolder folder;
  const std::string path = folder / "found.json";
  for (const Case& c : cases) {
    write_text(path, c.bytes);
    const std::string error = message_of<ResultError>([&] { read_result_file(path); });
    EXPECT_TRUE(is_one_line(error)) << error;
    EXPECT_TRUE(contains(error, path + ":"));
    EXPECT_TRUE(contains(error, c.error));
  }
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_result_file(folder / "none.json"); }),
                       "none.json: cannot be read: No such file"));
  EXPECT_TRUE(contains(message_of<ResultError>([&] { read_result_file(folder.path().string()); }),
                       "is a directory"));
}

TEST(Gzip, StopsAtItsBoundAndAtTheLinesAskedFor) {
  const std::string zeros(std::size_t{1} << 22, '0');  // a bomb: 4 KiB that unpack to 4 MiB
  const std::string packed = gzip(zeros);
  EXPECT_LT(packed.size(), zeros.size() / 500);
  EXPECT_EQ(gunzip(packed, zeros.size()), zeros);
  EXPECT_TRUE(contains(message_of<ResultError>([&] { gunzip(packed, std::size_t{1} << 21); }),
                       "unpacks to more than 2 MiB"));
  const std::string text = "one\ntwo\n" + zeros;
  EXPECT_TRUE(gunzip(gzip(text), 1 << 20, 2).starts_with("one\ntwo\n"));
  EXPECT_EQ(gzip(text), gzip(text));
  EXPECT_EQ(gzip(text).substr(4, 4), std::string(4, '\0'));  // no time stamp
}

TEST(Counters, ComeFromTheFirstMetricThatWasCounted) {
  const std::string newer = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                    older = "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active";
  EXPECT_DOUBLE_EQ(*counters_of({{newer, 50}, {older, 70}}).tensor_use, 0.5);
  EXPECT_DOUBLE_EQ(*counters_of({{older, 70}}).tensor_use, 0.7);
  EXPECT_EQ(counters_of({}).tensor_use, std::nullopt);
}

TEST(Counters, AreInTheUnitsOfTheFields) {
  const Counters c =
      counters_of({{"gpu__time_duration.sum", 2.5e6},
                   {"dram__bytes_read.sum", 1e9},
                   {"smsp__issue_active.avg.per_cycle_active", 0.4},
                   {"l1tex__m_xbar2l1tex_read_sectors.sum", 2},
                   {"sm__pipe_tma_cycles_active.avg.pct_of_peak_sustained_active", -0.05}});
  EXPECT_DOUBLE_EQ(*c.time_ms, 2.5);
  EXPECT_DOUBLE_EQ(*c.dram_read_bytes, 1e9);
  EXPECT_DOUBLE_EQ(*c.issue_slots, 0.4);
  EXPECT_DOUBLE_EQ(*c.sm_read_bytes, 64);
  EXPECT_DOUBLE_EQ(*c.tma_use, 0);  // a difference of counts, by its noise below nothing
}

TEST(Schema, IsTheCommittedFile) {
  const std::string path = std::string(AMASIA_SOURCE_DIR) + "/schema/result.schema.json";
  const std::string text = result_schema_text();
  if (std::getenv("AMASIA_UPDATE_GOLDEN") != nullptr) write_text(path, text);
  EXPECT_EQ(read_text(path), text) << "run: amasia schema > schema/result.schema.json";
}

}  // namespace
}  // namespace amasia
