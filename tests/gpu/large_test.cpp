// Apps past 2^31 elements, histogram past 2^32 keys, lud with panels that fill the SMs: every
// strategy in one config of each schedule.
#include "tests/gpu/device_test.hpp"

namespace amasia {
namespace {

struct LargeCase {
  std::string name;
  const char* app;
  Size size;
  bool challenged = false;  // on all inputs of the verification
  bool by_word = false;     // one schedule stands for all with the same first word
  std::set<std::string> left_out = {};

  friend void PrintTo(const LargeCase& c, std::ostream* out) { *out << c.name; }
};

class Large : public OnDevice<testing::TestWithParam<LargeCase>> {};

TEST_P(Large, IsRight) {
  const auto& [name, app_name, size, challenged, by_word, left_out] = GetParam();
  const App* app = find_app(app_name);
  if (app == nullptr) GTEST_SKIP() << "this build has no " << app_name;
  if (app->device_bytes(Parameters(app->parameters(), size)) >
      static_cast<std::int64_t>(device.free_bytes)) {
    GTEST_SKIP() << "needs more memory than " << device.name << " has free";
  }
  const auto i = instance(app_name, size);
  int ran = 0;
  for (int input = 0; input <= (challenged ? i->challenges() : 0); ++input) {
    i->pose(input);
    for (const Variant* variant : variants_of(app_name)) {
      if (variant->comparator || device.compute_capability < variant->traits.runs_from) continue;
      std::set<std::string> done = left_out;
      for (const Config& config : variant->configs) {
        std::string schedule(config.info.schedule);
        if (by_word) schedule.resize(std::min(schedule.find('-'), schedule.size()));
        if (done.count(schedule) > 0) continue;
        if (config.unsupported && config.unsupported(*i, device)) continue;
        done.insert(schedule);
        ++ran;
        const Verdict v = verdict_of(config, *i, device);
        EXPECT_TRUE(v.passed) << variant->name() << " " << config.info.name << ", input " << input
                              << ", " << v.norm << ": "
                              << (v.first_mismatches.empty() ? "" : v.first_mismatches.front());
      }
    }
  }
  EXPECT_GT(ran, 0);
}

std::vector<LargeCase> large_cases() {
  std::vector<LargeCase> all{{"lud", "lud", {{"n", "46349"}}, false, true},
                             {"lud_long_panels", "lud", {{"n", "2431"}}, true},
                             {"lud_one_row_more", "lud", {{"n", "2433"}}, true},
                             // Additions to 256 words of global memory would take seconds.
                             {"histogram_keys",
                              "histogram",
                              {{"keys", "4294979641"}, {"type", "uint8"}, {"bins", "256"}},
                              true,
                              false,
                              {"global"}},
                             {"histogram_words",
                              "histogram",
                              {{"keys", "2147496011"}, {"type", "int32"}, {"bins", "65536"}},
                              true}};
  struct {
    const char *name, *m, *n, *k;
  } shapes[] = {{"gemm_c", "65601", "32799", "40"},
                {"gemm_a", "65601", "33", "32799"},
                {"gemm_b", "33", "65601", "32799"}};  // transposed
  for (const auto& s : shapes) {
    for (const auto& [mode, layout] : {std::pair{"fp32", "nn"},
                                       {"tf32", "nn"},
                                       {"bf16", "nn"},
                                       {"tf32", "tn"},
                                       {"bf16", "tn"},
                                       {"e4m3", "tn"},
                                       {"tf32x3", "nn"},
                                       {"tf32x3", "tn"}}) {
      const std::string name = std::string(s.name) + "_" + mode + "_" + layout;
      const bool transposed = std::string_view(layout) == "tn";
      if (std::string_view(s.name) == "gemm_b" && !transposed) continue;
      all.push_back(
          {name, "gemm", {{"m", s.m}, {"n", s.n}, {"k", s.k}, {"mode", mode}, {"layout", layout}}});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Apps, Large, testing::ValuesIn(large_cases()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace amasia
