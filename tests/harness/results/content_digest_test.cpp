#include "harness/results/content_digest.hpp"

#include <gtest/gtest.h>

#include "harness/text/json_file.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

std::string digest_of(const std::string& text) { return content_digest(parse_json(text, "text")); }

// What goes into the hash, written out: SHA-256 of these bytes by another program (sha256sum).
TEST(ContentDigest, IsSha256OfWhatItSaysItHashes) {
  // o0:
  EXPECT_EQ(digest_of("{}"),
            "sha256:6ca6486412ffd97e14bd93d83faa44cc5b39ddf8a945875c3dc9192193db2bad");
  // o2:s1:aa6:i1;i-2;i18446744073709551615;d3fb999999999999a;s3:€ns1:bo1:s0:t
  EXPECT_EQ(digest_of(R"({"a": [1, -2, 18446744073709551615, 0.1, "€", null], "b": {"": true}})"),
            "sha256:aef5684940a73fcd409938b14f6a0893c9fbd62d374f3c953ccad46922f50d20");
}

TEST(ContentDigest, IsOverValuesAndTheirOrder) {
  const std::string digest = digest_of(R"({"a": [1, -2, "x", null, true], "b": {"c": 0.1}})");
  EXPECT_EQ(digest_of("{ \"a\":[1,\n-2,\"\\u0078\",null,true],\"b\":{\"c\":1e-1}}"), digest)
      << "the same content, spelt differently";
  for (const char* other : {R"({"a": [1, -2, "x", null, true], "b": {"c": 0.10000000000000002}})",
                            R"({"a": [1, 2, "x", null, true], "b": {"c": 0.1}})",
                            R"({"a": [1, -2, "y", null, true], "b": {"c": 0.1}})",
                            R"({"a": [1, -2, "x", false, true], "b": {"c": 0.1}})",
                            R"({"a": [1, -2, "x", null, true], "b": {"d": 0.1}})",
                            R"({"b": {"c": 0.1}, "a": [1, -2, "x", null, true]})",
                            R"({"a": [-2, 1, "x", null, true], "b": {"c": 0.1}})",
                            R"({"a": [1, -2, "x", null, true], "b": {}, "c": 0.1})",
                            R"({"a": [1, -2, "x", null, true, {}], "b": {"c": 0.1}})"}) {
    EXPECT_NE(digest_of(other), digest) << other;
  }
}

TEST(ContentDigest, NumbersCountAsWhatTheyAre) {
  const auto digest = [](const std::string& number) { return digest_of("{\"x\":" + number + "}"); };
  EXPECT_EQ(digest("1"), digest("1.0"));
  EXPECT_EQ(digest("100"), digest("1e2"));
  EXPECT_EQ(digest("0"), digest("-0.0"));
  EXPECT_NE(digest("1"), digest("\"1\""));
  EXPECT_NE(digest("18446744073709551615"), digest("18446744073709551614"));
  EXPECT_NE(digest("9007199254740993"), digest("9007199254740992"));
  EXPECT_NE(digest("1"), digest("-1"));
}

TEST(ContentDigest, OfAFileDoesNotCoverItself) {
  const Json json = to_json(sample_results());
  ASSERT_TRUE(json.contains("digest"));
  EXPECT_EQ(json["digest"], content_digest(json));
  EXPECT_EQ(json.items().begin().key(), "schema");
  EXPECT_EQ(std::prev(json.end()).key(), "digest") << "it stands at the end";
  EXPECT_EQ(with_digest(json), json);
}

TEST(ContentDigest, AChangeThatTheSamplesDoNotShowIsRefused) {
  Json json = to_json(sample_results());
  const std::string written = json["digest"];
  json["groups"][0]["rows"][2]["evidence"][0]["registers"] = 39;
  const std::string now = content_digest(json);
  EXPECT_EQ(message_of<ResultError>([&] { result_from_json(json); }),
            "digest: expected " + now + ", as the content has it, found " + written +
                ": the file was changed or damaged after it was written; get it from where it came "
                "from again, or measure again");
  EXPECT_NO_THROW(result_from_json(with_digest(json)));
}

TEST(ContentDigest, WhatIsNoDigestIsRefused) {
  Json json = to_json(sample_results());
  for (const Json& wrong : {Json(nullptr), Json(7), Json(Json::array()), Json(Json::object())}) {
    json["digest"] = wrong;
    EXPECT_TRUE(contains(message_of<ResultError>([&] { result_from_json(json); }),
                         "digest: expected text"));
  }
  json["digest"] = "";
  EXPECT_TRUE(contains(message_of<ResultError>([&] { result_from_json(json); }), ", found : the"));
}

TEST(ContentDigest, AMemberThatNobodyKnowsCounts) {
  Json json = to_json(sample_results());
  json["groups"][0]["remark"] = "added by hand";
  EXPECT_TRUE(
      contains(message_of<ResultError>([&] { result_from_json(json); }), "digest: expected"));
}

TEST(ContentDigest, AFileIndentedAnewIsTheSame) {
  TemporaryFolder folder;
  write_result_file(folder / "a.json", sample_results());
  const Json json = read_json_file(folder / "a.json");
  write_text(folder / "b.json", json.dump(4));
  EXPECT_NO_THROW(read_result_file(folder / "b.json"));
}

TEST(ContentDigest, TextThatIsNoUtf8IsWrittenAndReadAgain) {
  TemporaryFolder folder;
  ResultFile file = sample_results();
  file.provenance.argv.push_back("--out=\xff.json");
  write_result_file(folder / "a.json", file);
  EXPECT_EQ(read_result_file(folder / "a.json").provenance.argv.back(), "--out=\xEF\xBF\xBD.json");
}

}  // namespace
}  // namespace amasia
