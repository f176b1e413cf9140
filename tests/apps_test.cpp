// What holds for all apps: their two references agree, work and memory are counted, sizes that
// cannot run are refused, and what one strategy was given of schedules and movements, the others
// were offered.
#include "apps/histogram/geometry.hpp"
#include "harness/registry.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

Parameters size_of(std::string_view app, const std::string& size) {
  return {find_app(app)->parameters(), parse_size(size)};
}

using Sizes = std::map<std::string, std::vector<std::string>>;  // by app

TEST(References, AgreeWithEachOther) {
  // Besides the smoke sizes: what they leave at its default.
  const Sizes more{{"nw",
                    {"rows=1,cols=50,penalty=0", "rows=50,cols=1,penalty=1",
                     "rows=37,cols=61,penalty=3", "rows=37,cols=61,penalty=100"}},
                   {"histogram",
                    {"keys=2,bins=1,distribution=equal", "keys=70001,bins=4096,distribution=equal",
                     "keys=70001,bins=97,range=1000,spread=2147483648,distribution=zipf",
                     "keys=70001,bins=97,range=1000,spread=2147483648,distribution=sorted",
                     "keys=70001,type=uint8,bins=37,range=200,spread=256,distribution=zipf"}}};
  // How far what is right stays within the bound.
  const std::map<std::string_view, double> margins{{"cfd", 10}, {"lavamd", 50}};
  for (const App* app : apps()) {
    const std::string name(app->name());
    std::vector<Parameters> sizes = app->sizes(Preset::smoke);
    if (const auto of = more.find(name); of != more.end()) {
      for (const std::string& size : of->second) sizes.push_back(size_of(name, size));
    }
    const auto margin = margins.find(name);
    for (const Parameters& p : sizes) {
      const Verdict v = app->check_reference(p, 11);
      EXPECT_TRUE(v.passed) << name << " " << p.to_string() << ": " << v.error << " > " << v.bound;
      EXPECT_LE(v.error, v.bound / (margin == margins.end() ? 1 : margin->second)) << name;
    }
  }
}

struct Size {
  const char *app, *size;
};

TEST(Costs, CountWork) {
  using Kind = Work::Kind;
  struct Case : Size {
    Work work;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"gemm", "m=100,n=200,k=300"}, {12e6, Kind::fp32, 4 * 90e3, 80e3}},
           {{"gemm", "m=100,n=200,k=300,mode=tf32"}, {12e6, Kind::tf32, 4 * 90e3, 80e3}},
           {{"gemm", "m=100,n=200,k=300,mode=bf16"}, {12e6, Kind::bf16, 2 * 90e3, 80e3}},
           {{"gemm", "m=100,n=200,k=300,mode=e4m3,layout=tn"}, {12e6, Kind::e4m3, 90e3, 80e3}},
           {{"gemm", "m=100,n=200,k=300,mode=tf32x3"}, {12e6, Kind::tf32x3, 4 * 90e3, 80e3}},
           {{"hotspot", "rows=40,cols=40,steps=5"}, {1600 * 32, Kind::fp32, 12800, 6400, 5}},
           // 1 + 2 + ... + 32 divisions, twice as many operations as 1 + 4 + ... + 32^2.
           {{"lud", "n=33"}, {528 + 2 * 11440, Kind::fp32, 4356, 4356, 96}},
           {{"lud", "n=2,arithmetic=tf32x3"}, {1 + 2, Kind::tf32x3, 16, 16, 3}},
           {{"nw", "rows=3,cols=5"}, {4 * 15, Kind::int32, 60, 60, 7}},
           {{"pathfinder", "rows=1000,cols=1000000"},
            {3.0 * 999 * 1e6, Kind::int32, 4e9, 4e6, 2.0 * 999}},
           {{"histogram", "keys=1000,bins=64"}, {1000, Kind::int32, 4000, 4 * 65}},
           {{"histogram", "keys=1000,bins=64,type=uint8"}, {1000, Kind::int32, 1000, 4 * 65}},
           {{"cfd", "elements=1000,iterations=3"},
            {1000 * (3 * (3 * 236 + 2) + 25), Kind::fp32, 88e3, 20e3, 90}},
           {{"srad", "rows=10,cols=20,iterations=3"}, {200 * 38 * 3, Kind::fp32, 800, 800, 36}},
           {{"lavamd", "boxes1d=80,particles=100"},
            {36.0 * 238 * 238 * 238 * 1e4, Kind::fp32, 512e3 * 4112, 512e3 * 3200}}}) {
    if (find_app(c.app) == nullptr) continue;  // not in this build
    SCOPED_TRACE(std::string(c.app) + " " + c.size);
    const Work w = find_app(c.app)->work(size_of(c.app, c.size));
    EXPECT_DOUBLE_EQ(w.operations, c.work.operations);
    EXPECT_EQ(w.kind, c.work.kind);
    EXPECT_EQ(w.bytes_read, c.work.bytes_read);
    EXPECT_EQ(w.bytes_written, c.work.bytes_written);
    EXPECT_EQ(w.dependent_operations, c.work.dependent_operations);
  }
}

TEST(Costs, CountMemory) {
  // gemm: C and 12 bytes of reference per element; rows of A and B padded, of B as it is stored.
  constexpr std::int64_t of_c = 4 * 100 * 224 + 12 * 100 * 200, most = std::int64_t{1} << 40;
  const auto partition = [](std::int64_t keys) {
    return 4 * (1048576 + 32 + histogram::partition_words(1048577, keys));
  };
  struct Case : Size {
    std::int64_t bytes;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"gemm", "m=100,n=200,k=300"}, 4 * (100 * 320 + 300 * 224) + of_c},
           {{"gemm", "m=100,n=200,k=300,mode=bf16,layout=tn"}, 2 * (100 + 200) * 320 + of_c},
           {{"gemm", "m=100,n=200,k=300,mode=e4m3,layout=tn"}, (100 + 200) * 384 + of_c},
           // Both parts of A and B besides, in groups of eight rows.
           {{"gemm", "m=100,n=200,k=300,mode=tf32x3"},
            4 * (100 * 320 + 300 * 224) + of_c + 8 * 320 * (104 + 200)},
           {{"gemm", "m=1048576,n=1048576,k=1048576"}, (2 * 4 + 4 + 12) * most},
           {{"hotspot", "rows=3,cols=33,steps=1"}, 5 * 3 * 64 * 4},
           {{"lud", "n=33"}, 2 * 33 * 64 * 4 + 2 * 128 * 128 * 4},
           // Of two groups ten panels of L and U in two parts, of whole blocks, besides.
           {{"lud", "n=33,arithmetic=tf32x3"},
            2 * 33 * 64 * 4 + 2 * 128 * 128 * 4 + 4 * 256 * 1280 * 4},
           // ref and score, 64 bits for each value that bands of 64 rows hand over, and the rest.
           {{"nw", "rows=1024,cols=32"}, 2 * 4 * 1024 * 32 + 8 * 1024 + 1024 + 32 + 4096},
           {{"pathfinder", "rows=1000,cols=10000000"}, 1003 * 4 * std::int64_t{10000000}},
           // Keys in lines of 128 bytes, counters and the 240 partial results of iso.
           {{"histogram", "keys=33,bins=64"}, 256 + 4 * (96 + 240 * 65)},
           // With many bins, room for the ids that schedule partitioned deals out.
           {{"histogram", "keys=33,bins=1048576"}, 256 + partition(33)},
           {{"histogram", "keys=4294967295,bins=1048576"}, 17179869184 + partition(4294967295)},
           {{"cfd", "elements=1,iterations=1"}, 768 * 88 * 4},
           {{"cfd", "elements=769,iterations=1"}, 2 * 768 * 88 * 4},
           {{"srad", "rows=10,cols=20,iterations=3"}, 10 * 32 * 10 * 4 + 4 * 32 * 16},
           {{"srad", "rows=46340,cols=46340,iterations=1"},
            46340 * std::int64_t{46368} * 40 + 2 * 32 * 16},
           {{"lavamd", "boxes1d=80,particles=99"}, 512000 * std::int64_t{100 * 152 + 112}}}) {
    if (find_app(c.app) == nullptr) continue;  // not in this build
    EXPECT_EQ(find_app(c.app)->device_bytes(size_of(c.app, c.size)), c.bytes)
        << c.app << " " << c.size;
  }
}

TEST(Costs, AreRefusedOfWhatCannotRun) {
  const auto message = [](std::string_view app, const std::string& size) {
    const std::string said =
        message_of<UsageError>([&] { find_app(app)->device_bytes(size_of(app, size)); });
    EXPECT_TRUE(is_one_line(said)) << app << " " << size;
    return said;
  };
  const Sizes out_of_range{
      {"gemm", {"m=0", "m=1048577", "mode=fp8"}},
      {"hotspot", {"rows=0", "steps=0"}},
      {"lud", {"n=0", "n=1048577"}},
      {"pathfinder", {"rows=0", "cols=-3", "rows=3000000000"}},
      {"histogram", {"keys=0", "range=2147483648", "type=int64", "distribution=normal"}},
      {"cfd",
       {"elements=0", "elements=536870913", "iterations=0", "iterations=131073", "order=sorted"}},
      {"srad", {"rows=0", "cols=1073741825", "iterations=65537", "lambda=1001", "lambda=0.5"}},
      {"lavamd", {"boxes1d=0", "boxes1d=257", "boxes1d=ten", "particles=0", "particles=105"}}};
  for (const auto& [app, sizes] : out_of_range) {
    if (find_app(app) == nullptr) continue;  // not in this build
    for (const std::string& size : sizes) {
      EXPECT_TRUE(contains(message(app, size), size.substr(0, size.find('=')))) << app;
    }
  }
  struct Case : Size {
    const char* part;  // of the message
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"gemm", "mode=e4m3"}, "add layout=tn"},
           {{"hotspot", "rows=1073741824,cols=1073741824"}, "five grids"},
           {{"hotspot", "rows=8192,cols=8192,steps=60,chip=rodinia"}, "fp32"},
           {{"nw", "rows=2147479551,cols=1,penalty=2"}, "32 bits"},
           {{"nw", "rows=200000000,cols=200000000,penalty=0"}, "32 bits"},
           // Rows of a last stage are below the grid. Their border is not what stands for no score.
           {{"nw", "rows=524287,cols=524288,penalty=2048"}, "32 bits"},
           {{"pathfinder", "rows=2147483647,cols=2147483647"}, ""},
           {{"pathfinder", "rows=119304648,cols=1"}, "119304647"},
           {{"histogram", "type=uint8,bins=257"}, "256 values of uint8"},
           {{"histogram", "type=uint8,range=300"}, "256 values of uint8"},
           {{"histogram", "type=uint8,spread=257"}, "256 values of uint8"},
           {{"histogram", "bins=1000,range=999"}, "exceeds the range, 999"},
           {{"histogram", "bins=1048577"}, "1048576"},
           {{"histogram", "keys=8589934593"}, "8589934592"},
           // Counters have 32 bits. Which keys one of them may get is known of generated ones.
           {{"histogram", "keys=4294967296,key_file=keys"}, "from a file"},
           {{"histogram", "keys=4294967296,distribution=equal"}, "4294967295"},
           {{"histogram", "keys=4294967296,type=uint8,distribution=equal"}, "4294967295"},
           {{"histogram", "keys=4294967296,bins=1"}, "4294967295"},
           {{"histogram", "keys=4294967296,type=uint8,bins=1"}, "4294967295"},
           {{"histogram", "keys=8589934592,bins=2"}, "4294967295"},
           {{"histogram", "keys=8589934592,bins=64,range=64,spread=2147483648"}, "4294967295"},
           {{"srad", "rows=46341,cols=46342"}, ""},
           {{"srad", "rows=1073741824,cols=1073741824"}, ""}}) {
    if (find_app(c.app) == nullptr) continue;  // not in this build
    EXPECT_TRUE(contains(message(c.app, c.size), c.part)) << c.app << " " << c.size;
  }
}

TEST(Costs, AreAcceptedOfTheLargestThatRuns) {
  for (const App* app : apps()) {
    for (const Preset preset : {Preset::smoke, Preset::quick, Preset::paper, Preset::sweep}) {
      for (const Parameters& p : app->sizes(preset)) {
        EXPECT_LT(app->device_bytes(p), std::int64_t{130} << 30) << app->name() << p.to_string();
      }
    }
  }
  const Sizes largest{
      {"hotspot",
       {"rows=8192,cols=8192,steps=1048576", "rows=1024,cols=1024,steps=60,chip=rodinia",
        "rows=8192,cols=8192,steps=5,chip=rodinia"}},
      {"nw", {"rows=16384,cols=16384", "rows=524256,cols=524288,penalty=2047"}},
      {"pathfinder", {"rows=119304647,cols=1"}},
      {"histogram",
       {"keys=4294967295,distribution=equal", "keys=8589934592,bins=256",
        "keys=8589934592,bins=256,distribution=zipf"}},
      {"cfd", {"elements=536870912"}}};
  for (const auto& [app, sizes] : largest) {
    if (find_app(app) == nullptr) continue;  // not in this build
    for (const std::string& size : sizes) {
      EXPECT_NO_THROW(find_app(app)->device_bytes(size_of(app, size))) << app << " " << size;
    }
  }
}

std::set<std::string> names_of_schedules(const App& app) {
  std::set<std::string> names;
  for (const Schedule& s : app.schedules()) names.emplace(s.name);
  return names;
}

TEST(Schedules, HaveNamesOfTheirOwnAndASentence) {
  for (const App* app : apps()) {
    const auto schedules = app->schedules();
    EXPECT_EQ(names_of_schedules(*app).size(), schedules.size()) << app->name();
    if (!schedules.empty()) {
      EXPECT_EQ(schedules.front().name, "iso") << app->name();
    }
    for (const Schedule& s : schedules) {
      EXPECT_EQ(s.name.find_first_of("/ "), std::string_view::npos) << app->name() << " " << s.name;
      EXPECT_GE(s.summary.size(), 10u) << app->name() << " " << s.name;
    }
  }
}

TEST(Schedules, AreRunByEveryStrategyOrDeclinedWithAReason) {
  for (const App* app : apps()) {
    const auto names = names_of_schedules(*app);
    if (names.empty()) continue;
    for (const Variant* v : variants_of(app->name())) {
      if (v->comparator) continue;
      std::set<std::string> run, declined;
      for (const Config& c : v->configs) run.insert(c.info.schedule);
      for (const Declined& d : v->declined) {
        EXPECT_TRUE(declined.insert(d.schedule).second) << v->name() << " " << d.schedule;
        EXPECT_GE(d.reason.size(), 20u) << v->name() << " " << d.schedule;
        EXPECT_EQ(run.count(d.schedule), 0u) << v->name() << " runs and declines " << d.schedule;
      }
      std::set<std::string> answered = run;
      answered.insert(declined.begin(), declined.end());
      EXPECT_EQ(answered, names) << v->name();
    }
  }
}

TEST(Schedules, StandInTheNamesOfTheirConfigs) {
  for (const App* app : apps()) {
    if (app->schedules().empty()) continue;
    for (const Variant* v : variants_of(app->name())) {
      if (v->comparator) continue;
      EXPECT_EQ(v->configs.front().info.schedule, "iso") << v->name();
      for (const Config& c : v->configs) {
        const std::string& name = c.info.name;
        EXPECT_EQ(name.substr(0, name.find('/')), c.info.schedule) << v->name() << " " << name;
      }
    }
  }
}

/// So that a table of configs can be read down a column, one thing has one word.
TEST(Movements, AreDescribedInTheSameWords) {
  const std::set<std::string> words{"stages",         "stage_rows", "stage_bytes", "producer_warps",
                                    "batch",          "slots",      "depth",       "load_bytes",
                                    "rows_in_flight", "l2_ahead"};
  for (const App* app : apps()) {
    if (app->schedules().empty()) continue;
    for (const Variant* v : variants_of(app->name())) {
      for (const Config& c : v->configs) {
        for (const auto& [word, value] : c.info.movement) {
          EXPECT_EQ(words.count(word), 1u) << v->name() << " " << c.info.name << ": " << word;
          EXPECT_GE(value, 0) << v->name() << " " << c.info.name << ": " << word;
        }
      }
    }
  }
}

}  // namespace
}  // namespace amasia
