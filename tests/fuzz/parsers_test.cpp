// Every parser of the suite on a corpus and on mutations of it, compiled with sanitizers: it takes
// the text or refuses it in one line, and neither reads beyond it nor overflows on the way. The
// inputs are the same in every run; AMASIA_FUZZ_RUNS=100 tries a hundred times as many.
#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/evidence/cubins.hpp"
#include "harness/evidence/evidence.hpp"
#include "harness/evidence/ptx.hpp"
#include "harness/parameters.hpp"
#include "harness/plan/selection.hpp"
#include "harness/plan/tuning.hpp"
#include "harness/process/profiler.hpp"
#include "harness/results/envelope.hpp"
#include "harness/results/profile.hpp"
#include "harness/results/result.hpp"
#include "harness/text/json_file.hpp"
#include "harness/text/pattern.hpp"
#include "harness/text/table.hpp"
#include "harness/user_kernel/description.hpp"
#include "inputs/formats/grid.hpp"
#include "inputs/formats/keys.hpp"
#include "inputs/formats/matrix.hpp"
#include "inputs/formats/sequences.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

/// Inputs that nobody wrote: mutations of a corpus, the same in every run.
class Mutator {
 public:
  /// `words`: what the format is made of, to be put where it does not belong.
  Mutator(std::vector<std::string> corpus, std::vector<std::string> words, std::uint64_t seed)
      : corpus_(std::move(corpus)), words_(std::move(words)), random_(seed) {}

  /// One of the corpus with up to eight changes. The first calls give the corpus as it is.
  std::string next() {
    if (given_ < corpus_.size()) return corpus_[given_++];
    std::string text = corpus_[below(corpus_.size())];
    for (std::size_t changes = 1 + below(8); changes > 0; --changes) change(text);
    return text;
  }

  /// 0 to n-1; 0 for n = 0.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }

 private:
  static bool in_number(char c) {
    return std::string_view("0123456789+-.eE").find(c) != std::string_view::npos;
  }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(1 + below(64)), text.size() - at);
    switch (below(7)) {
      case 0:  // a bit
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:  // twice, somewhere
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 4: {  // a piece of another
        const std::string& other = corpus_[below(corpus_.size())];
        const std::size_t from = below(other.size() + 1);
        text.replace(at, length, other.substr(from, below(64)));
        break;
      }
      case 5: {  // another number
        std::size_t begin = at, end = at;
        while (begin > 0 && in_number(text[begin - 1])) --begin;
        while (end < text.size() && in_number(text[end])) ++end;
        text.replace(begin, end - begin, numbers[below(std::size(numbers))]);
        break;
      }
      default:
        text.insert(at, words_[below(words_.size())]);
    }
  }

  static constexpr std::string_view numbers[] = {
      "0",     "-0",    "1",   "-1",  "2147483648", "4294967297", "9223372036854775808",
      "1e308", "1e309", "0.1", "nan", "inf",        "5e-324",     "18446744073709551616",
      "+1",    "1e",    ".",   "-",   "0x10",       "007"};

  std::vector<std::string> corpus_;
  std::vector<std::string> words_;
  std::size_t given_ = 0;
  std::mt19937_64 random_;
};

/// The files of tests/fuzz/corpus/<name>/, by name.
std::vector<std::string> corpus_of(const std::string& name) {
  std::vector<std::filesystem::path> paths;
  const std::string folder = std::string(AMASIA_SOURCE_DIR) + "/tests/fuzz/corpus/" + name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(read_text(path.string()));
  return texts;
}

std::string golden(const std::string& name) {
  return read_text(std::string(AMASIA_SOURCE_DIR) + "/tests/golden/" + name);
}

int repetitions() {
  const char* asked = std::getenv("AMASIA_FUZZ_RUNS");
  return asked == nullptr ? 1 : std::max(1, std::atoi(asked));
}

/// Calls parse(text) for `runs` inputs. It returns, or throws one of the two errors that are meant
/// for people, of a length that a person reads. (That it is one line is seen to where it is
/// printed.)
void fuzz(const std::vector<std::string>& texts, const std::vector<std::string>& words, int runs,
          const std::function<void(const std::string&)>& parse) {
  ASSERT_FALSE(texts.empty());
  Mutator mutator(texts, words, 20211);
  int taken = 0, refusals = 0;
  const int all = repetitions() * runs + static_cast<int>(texts.size());
  for (int i = 0; i < all && !testing::Test::HasFailure(); ++i) {
    const std::string text = mutator.next();
    const auto refused = [&](const std::string& message) {
      ++refusals;
      EXPECT_FALSE(message.empty());
      EXPECT_LT(message.size(), 1000u) << message;
    };
    try {
      parse(text);
      ++taken;
    } catch (const ResultError& error) {
      refused(error.what());
    } catch (const UsageError& error) {
      refused(error.what());
    } catch (const std::exception& error) {
      ADD_FAILURE() << "threw " << error.what();
    }
    if (testing::Test::HasFailure()) ADD_FAILURE() << "input " << i << ":\n" << text;
  }
  // A driver whose mutations are all refused, or none, tries nothing.
  EXPECT_GT(taken, static_cast<int>(texts.size()) / 2);
  EXPECT_GT(refusals, runs / 100);
}

const std::vector<std::string> json_words{"{",       "}",    "[",      "]",   ",",  ":",
                                          "\"",      "null", "true",   "[],", "{}", "\\u0000",
                                          "\\ud800", "\xff", "\"a\":", "1e5", " ",  "\n"};

/// As if it had been written like this, so that more than the digest is reached.
ResultFile result_of(const std::string& text) {
  Json json = parse_json(text, "fuzzed.json");
  check_kind(json, result_schema_name, result_schema_version);
  return result_from_json(std::move(json));
}

/// Of apps, and of a microbenchmark.
std::vector<std::string> results() { return {golden("result.json"), corpus_of("result").at(0)}; }

TEST(FuzzedResults, AreReadOrRefusedAndReadAgain) {
  fuzz(results(), json_words, 800, [](const std::string& text) {
    const Json json = to_json(result_of(text));
    EXPECT_EQ(to_json(result_from_json(json)), json);
  });
}

TEST(FuzzedResults, WithAnyChangeAreRefusedOrTheSame) {
  // In the first line there may be another blank; packed, other bytes may have the same text.
  for (const std::string& text : results()) {
    const std::string same = to_text(result_from_text(text, "unchanged"));
    for (const std::string& bytes : {text, gzip(text)}) {
      Mutator mutator({bytes}, json_words, 7);
      mutator.next();
      for (int i = 0; i < 75 * repetitions(); ++i) {
        const std::string changed = mutator.next();
        try {
          const bool packed = is_gzip(changed);
          const ResultFile file =
              result_from_text(packed ? gunzip(changed, std::size_t{1} << 24) : changed, "fuzzed");
          EXPECT_EQ(to_text(file), same);
        } catch (const ResultError&) {
        }
      }
    }
  }
}

/// Parsers of files read one that holds the text.
class FuzzedFiles : public testing::Test {
 protected:
  std::string file(const std::string& text) const {
    const std::string path = folder_ / "fuzzed";
    write_text(path, text);
    return path;
  }

 private:
  TemporaryFolder folder_;
};

/// As if each line that is JSON had been written like this.
std::string resealed(const std::string& text) {
  std::string lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    Json json = Json::parse(line, nullptr, false);
    const bool is_line = json.is_object() && !json.empty();
    if (is_line) json.erase("digest");
    lines += is_line ? sealed_line(json) : line + '\n';
  }
  return lines;
}

TEST_F(FuzzedFiles, Journals) {
  const std::string whole = golden("run.json.journal");
  fuzz({whole, whole.substr(0, whole.size() * 4 / 5)}, json_words, 200,
       [this](const std::string& text) { read_journal(file(resealed(text))); });
}

TEST_F(FuzzedFiles, TuningTables) {
  const TunedCase at{"h200",          "nw/tma",          Parameters::from_values({{"n", "64"}}),
                     CacheMode::cold, LaunchMode::graph, "ab"};
  TuningEntry entry{at, "a"};
  entry.date_utc = "2026-11-21T09:30:00Z";
  entry.table = {{"a", RowStatus::ok, "", 1.5, 1.25, 1.75, 15},
                 {"b", RowStatus::failed, "wrong result"}};
  TuningTable table;
  table.record(entry);
  const std::string written = file("");
  table.write(written);
  fuzz({read_text(written)}, json_words, 800,
       [this](const std::string& text) { TuningTable::read(file(text)); });
}

const std::string long_number(300, '1'), nul(1, '\0');
const std::vector<std::string> number_words{"\n", "\r\n", " ",  "\t", "1",         "-",
                                            "+",  ".",    "e9", "x",  long_number, nul};

TEST_F(FuzzedFiles, Numbers) {
  const std::pair<std::vector<std::string>, std::function<void(const std::string&)>> readers[] = {
      {{"1\r\n+2\r\n3 \r\n4\r\n5\r\n6\r\n\r\n", "1\n2.5\n-3e-4\n0\n5\n324.15\n"},
       [](auto& path) { EXPECT_EQ(formats::read_grid_file(path, 2, 3).size(), 6u); }},
      {{"3 1 0 0 0 1 0 0 0 1", "3\n1 2 3\n4 5.5 6\n7 8 -9e2\n"},
       [](auto& path) { EXPECT_EQ(formats::read_matrix_file(path, 3).size(), 9u); }},
      {{"0\n0\n0\n0\n\n\n", "1\n-2\n2147483647\n-2147483648\n"},
       [](auto& path) { EXPECT_EQ(formats::read_text_keys(path, 4).size(), 4u); }}};
  for (const auto& [texts, read] : readers) {
    fuzz(texts, number_words, 800, [&, &read = read](const auto& text) { read(file(text)); });
  }
}

TEST_F(FuzzedFiles, Sequences) {
  fuzz({"acgt\r\nACGT\r\nacgt\r\n", "ACGTACGTACGT\n"}, {"\n", "\r", ">", "a", "W", " "}, 800,
       [this](const std::string& text) {
         for (const signed char place : formats::read_sequence_file(file(text), "ACGT", 12)) {
           EXPECT_TRUE(place >= 0 && place < 4);
         }
       });
}

TEST(FuzzedArguments, Sizes) {
  using Kind = ParameterSpec::Kind;
  const std::vector<ParameterSpec> specs{
      {"rows", Kind::integer, "", "10"},
      {"mode", Kind::choice, "", "fp32", 1, INT64_MAX, {"fp32", "tf32"}},
      {"file", Kind::file, "", ""}};
  fuzz({"", "file=a b.txt,rows=7", "rows=1000,mode=tf32"},
       {",", "=", "rows", "mode=tf32", "file=", "=="}, 20000, [&](const std::string& text) {
         const Parameters size(specs, parse_size(text));
         EXPECT_EQ(size.values().size(), 3u);
         EXPECT_GE(size.integer("rows"), 1);
         if (size.text("file").find_first_of(",=") == std::string::npos) {
           EXPECT_EQ(Parameters(specs, parse_size(size.to_string())), size);
         }
       });
}

TEST(FuzzedArguments, Shards) {
  fuzz({"1/1", "3/16"}, {"/", "1", "0"}, 20000, [](const std::string& text) {
    const Shard shard = parse_shard(text);
    EXPECT_TRUE(1 <= shard.index && shard.index <= shard.count);
  });
}

/// The definition, without its speed: '*' any run, '?' one character.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         matches(pattern.substr(1), text.substr(1));
}

TEST(FuzzedArguments, PatternsMatchWhatTheyMean) {
  Mutator mutator({"nw/tma", "*/tma", "a*b", "??", "a", ""}, {"*", "?", "a", "/"}, 3);
  int matched = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string pattern = mutator.next().substr(0, 8);
    const std::string text = mutator.next().substr(0, 10);
    // No argument has a NUL, and '[' begins a set, which matches() does not know.
    if ((pattern + text).find_first_of(std::string("\0[", 2)) != std::string::npos) continue;
    const bool expected = matches(pattern, text);
    matched += expected;
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << " on " << text;
    const std::size_t distance = edit_distance(pattern, text);
    ASSERT_EQ(distance, edit_distance(text, pattern));
    ASSERT_EQ(distance == 0, pattern == text);
    ASSERT_LE(distance, std::max(pattern.size(), text.size()));
  }
  EXPECT_GT(matched, 200);
}

TEST(FuzzedPublishedFigures, Tables) {
  fuzz({"a,b\r\n1,\"2\r\n3\"\r\n", "# comment\na,b,c\n1,2,3\n\"x, y\",\"he said \"\"no\"\"\",\n"},
       {",", "\"", "\n", "#", "\r\n", "\"\""}, 10000, [](const std::string& text) {
         const CsvTable table = parse_csv(text, "fuzzed.csv");
         for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
       });
}

TEST(FuzzedProfiler, Output) {
  fuzz({golden("ncu/raw.csv"), golden("ncu/h100.csv")},
       {",", "\"", "\n", "==ERROR== ", "\"ID\"", "n/a", "1,000", "Kbyte", "a__b", "\r"}, 4000,
       [](const std::string& text) {
         for (const CountedResult& counted : parse_ncu_output(text, "fuzzed").results) {
           for (const auto& [metric, value] : counted) EXPECT_TRUE(std::isfinite(value));
         }
       });
}

TEST(FuzzedProfiler, Profiles) {
  fuzz(corpus_of("profile"), json_words, 400, [](const std::string& text) {
    Json json = parse_json(text, "fuzzed.json");
    for (const char* const head : {"schema", "version", "digest"}) {
      if (json.is_object()) json.erase(head);
    }
    const ProfileFile file =
        profile_from_text(sealed(profile_schema_name, profile_schema_version, json), "fuzzed.json");
    const std::string again = to_text(file);
    EXPECT_EQ(to_text(profile_from_text(again, "again")), again);
  });
}

/// Those of the page, and one without a line that it can do without.
std::vector<std::string> descriptions() {
  const std::string page = read_text(AMASIA_SOURCE_DIR "/docs/your-kernel.md");
  constexpr std::string_view fence = "```toml\n";
  std::vector<std::string> texts = corpus_of("description");
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    texts.push_back(page.substr(at, page.find("```", at) - at));
  }
  EXPECT_GE(texts.size(), 4u);
  return texts;
}

TEST(FuzzedDescriptions, AreReadAndComputedOrRefused) {
  const std::vector<std::string> words{"[",       "]",       "{",     "}",
                                       "=",       "\"",      ",",     "\n",
                                       "n",       "(n + 1)", "\"n\"", "[[implementation]]",
                                       "1e9",     "[[a]]",   "'''",   "0x",
                                       "inf",     "name = ", "#",     "\\u",
                                       "grid = ", "-",       "*",     "/ 0"};
  fuzz(descriptions(), words, 2000, [](const std::string& text) {
    const Description d = parse_description(text, "fuzzed.toml");
    EXPECT_GE(d.implementations.size(), 1u);
    EXPECT_LT(d.reference, d.implementations.size());
    for (const Parameters& size : d.sizes()) {
      for (const BufferDescription& b : d.buffers) d.value(b.count, size, 1);
      for (const ImplementationDescription& i : d.implementations) {
        for (const LaunchDescription& launch : i.launches) {
          for (const Quantity& q : launch.grid) d.value(q, size, 1);
          for (const Quantity& q : launch.block) d.value(q, size, 1);
          for (const ArgumentDescription& a : launch.arguments) {
            if (a.buffer) {
              EXPECT_LT(*a.buffer, d.buffers.size());
            }
          }
        }
      }
    }
  });
}

TEST(FuzzedCode, Signatures) {
  const std::vector<std::string> words{"{",      "}",   "(",        ")", "[",         ".entry",
                                       ".param", ".b8", ".maxntid", ",", "\x7f\x45LF"};
  fuzz(corpus_of("code"), words, 4000, [](const std::string& bytes) {
    const CodeFile code = read_code_file(bytes);
    std::string reason;
    code.find("saxpy", reason);
  });
}

TEST(FuzzedCode, Ptx) {
  Mutator mutator({corpus_of("code").at(0), corpus_of("ptx").at(0)},
                  {"{", "}", "(", ")", ".entry", ";", "@", "%p", ":", "//", "\""}, 5);
  std::size_t functions = 0;
  for (int i = 0; i < 2000 * repetitions(); ++i) {
    functions += ptx::parse(mutator.next()).functions.size();
  }
  EXPECT_GT(functions, 500u);
}

TEST(FuzzedCode, Sass) {
  Mutator mutator({golden("evidence/kernels.sm_90.sass"), corpus_of("sass").at(0)},
                  {"/*", "*/", "Function : ", ";", "BRA", "0x", "\n", "@"}, 6);
  std::size_t kernels = 0;
  for (int i = 0; i < 2000 * repetitions(); ++i) {
    kernels += CodeEvidence::from_sass(mutator.next()).kernels().size();
  }
  EXPECT_GT(kernels, 500u);
}

}  // namespace
}  // namespace amasia
