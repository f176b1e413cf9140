#include "harness/results/field.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/results/codec.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/profile.hpp"
#include "harness/results/schema.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

struct Probe {
  double voltage = 0;
  std::optional<CacheMode> mode{};
  int count = 0;
};

}  // namespace

/// What adding a field costs: a member above, a line here. Everything below follows.
template <>
struct Fields<Probe> {
  static constexpr std::string_view name = "probe";
  static constexpr auto list =
      fields(field("voltage", &Probe::voltage, {.meaning = "in V", .least = 0, .above = true}),
             field("mode", &Probe::mode, {.optional = true}), field("count", &Probe::count));
};

namespace {

TEST(Field, OneDeclarationIsWritten) {
  const Probe probe{1.5, CacheMode::hot, 3};
  EXPECT_EQ(written(probe, any_value, Place()).dump(), R"({"voltage":1.5,"mode":"hot","count":3})");
  EXPECT_EQ(written(Probe{1, {}, 0}, any_value, Place()).dump(), R"({"voltage":1.0,"count":0})");
  EXPECT_EQ(message_of<ResultError>([] { written(Probe{}, any_value, Place()); }),
            "voltage: is not positive");
}

TEST(Field, TheSameDeclarationIsRead) {
  const auto probe_from = [](const std::string& text) {
    const Json json = Json::parse(text);
    Probe probe;
    read(At(json), any_value, probe);
    return probe;
  };
  EXPECT_EQ(probe_from(R"({"voltage":1.5,"mode":"hot","count":3})").mode, CacheMode::hot);
  EXPECT_FALSE(probe_from(R"({"voltage":1.5,"count":3})").mode.has_value());
  EXPECT_EQ(message_of<ResultError>([&] { probe_from(R"({"voltage":-1,"count":3})"); }),
            "voltage: expected a positive number, found -1");
  EXPECT_EQ(
      message_of<ResultError>([&] { probe_from(R"({"voltage":1,"mode":"warm","count":3})"); }),
      "mode: expected cold or hot, found \"warm\"");
  EXPECT_EQ(message_of<ResultError>([&] { probe_from(R"({"voltage":1})"); }), "count: is missing");
}

TEST(Field, TheSameDeclarationIsInTheSchema) {
  Json definitions = Json::object();
  EXPECT_EQ(schema_of<Probe>(any_value, definitions).dump(), R"({"$ref":"#/$defs/probe"})");
  EXPECT_EQ(definitions["probe"]["required"].dump(), R"(["voltage","count"])");
  EXPECT_EQ(definitions["probe"]["properties"].dump(),
            R"({"voltage":{"type":"number","exclusiveMinimum":0,"description":"in V"},)"
            R"("mode":{"enum":["cold","hot"]},"count":{"type":"integer","minimum":0}})");
}

/// Every object of a document beside the definition that describes it.
void expect_described(const Json& value, const Json& schema, const Json& definitions,
                      const std::string& place, std::set<std::string>& seen) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>().substr(8);
    seen.insert(name);
    return expect_described(value, definitions[name], definitions, place, seen);
  }
  if (value.is_array() && schema.contains("items")) {
    for (const Json& item : value) {
      expect_described(item, schema["items"], definitions, place + "[]", seen);
    }
  }
  if (!value.is_object() || !schema.contains("properties")) return;
  std::vector<std::string> names, described;
  for (const auto& [name, member] : value.items()) names.push_back(name);
  for (const auto& [name, member] : schema["properties"].items()) {
    if (value.contains(name)) {
      described.push_back(name);
    } else {
      const Json& required = schema["required"];
      EXPECT_EQ(std::count(required.begin(), required.end(), name), 0) << place << '.' << name;
    }
  }
  EXPECT_EQ(names, described) << place;
  for (const auto& [name, member] : value.items()) {
    expect_described(member, schema["properties"][name], definitions, place + '.' + name, seen);
  }
}

TEST(Schema, DescribesEveryMemberThatIsWrittenInItsOrder) {
  const Json schema = result_schema();
  std::set<std::string> seen;
  ResultFile file = sample_results();
  file.groups[0].rows[0].schedule = "wide";
  file.groups[0].rows[0].movement = {{"stages", 3}};
  file.groups[0].comparisons[0].schedule = file.groups[0].comparisons[0].against_schedule = "wide";
  file.provenance.sessions = {
      {"2026-11-20T10:00:00Z", "abcd", false, "GNU 12.2.0", "-O3", "one", 2.5, {{"mig", "off"}}}};
  GroupResult& group = file.groups[0];
  group.session = 0;
  group.probe = {{-1, 3.5, 20000, 9.5}};
  group.device_state = {{"power_limit_w", "700"}};
  group.invalid = {{InvalidKind::interference, "another process computed", "end it"}};
  group.repeated_because = group.invalid;
  MicrobenchmarkRow row;
  row.at = {{"level", "l1"}};
  row.evidence = file.groups[0].rows[0].evidence;
  row.proof.push_back({"_Z6kernelv", "LDG", 4, true, 4, "sass"});
  row.samples = {{30, 30, 16, 1900}};
  row.value = median_interval({30}, 0.95);
  file.microbenchmarks.push_back({"memory/latency",
                                  "How long?",
                                  "Walks.",
                                  Scope::quick,
                                  {row},
                                  {{{{"level", "l1"}}, "capacity", "B", 1, 1, 1, "how"}}});
  expect_described(Json::parse(to_text(file)), schema, schema["$defs"], "", seen);
  ProfileFile profile;
  profile.profiler = "Nsight Compute 2025.3.1.0";
  profile.groups = {{group.key, Preset::quick, 1, {{"hotspot/tma"}}, {}}};
  profile.groups[0].rows[0].counters = Counters{.time_ms = 1.5};
  const Json profile_schema = {{"$ref", "#/$defs/profile_file"}};
  expect_described(Json::parse(to_text(profile)), profile_schema, schema["$defs"], "", seen);
  for (const auto& [name, definition] : schema["$defs"].items()) {
    EXPECT_TRUE(seen.contains(name)) << name << " is in no file";
  }
}

TEST(Schema, IsTheCommittedFile) {
  const std::string path = std::string(AMASIA_SOURCE_DIR) + "/schema/result.schema.json";
  const std::string text = result_schema_text();
  if (std::getenv("AMASIA_UPDATE_GOLDEN") != nullptr) write_text(path, text);
  EXPECT_EQ(read_text(path), text) << "run: amasia schema > schema/result.schema.json";
}

}  // namespace
}  // namespace amasia
