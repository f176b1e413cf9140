// Two apps, a microbenchmark "stub/points" (four points and a finding) and two ceilings. The app
// "stub" has the parameter n, the variants baseline, overlap, tma and dsm with the configs iso and
// wide, and the comparator vendor. The app "crossed" has schedules and the variants baseline, tma
// and dsm, which use the winners of a search. Its reference hangs at n = 999999999.
#include "harness/ceiling.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/registry.hpp"
#include "tests/fake_apps.hpp"
#include "tests/harness/stub_device/stub_device.hpp"

namespace amasia {
namespace {

class StubApp : public VectorsApp {
 public:
  explicit StubApp(std::string name = "stub")
      : VectorsApp(std::move(name), "nothing at all, to test the harness", "1000") {}
  std::vector<Parameters> sizes(Preset preset) const override {
    if (preset == Preset::smoke) return {of(1000)};
    return {of(1000), of(2000)};
  }
  Work work(const Parameters& p) const override {
    Work w = VectorsApp::work(p);
    if (const auto claims = stub_script().find("work"); claims != stub_script().end()) {
      w.bytes_read = claims->value("bytes_read", w.bytes_read);
      w.bytes_written = claims->value("bytes_written", w.bytes_written);
    }
    return w;
  }
  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    // The largest stands for all that would take for ever.
    if (p.integer("n") == 999'999'999) break_down({{"do", "hang"}});
    return VectorsApp::check_reference(p, seed);
  }
};

/// An app whose configs are divided into schedules: dsm declines one, the baseline has two
/// movements for another, and a library implements one of tma.
class CrossedApp : public StubApp {
 public:
  CrossedApp() : StubApp("crossed") {}
  std::vector<Schedule> schedules() const override {
    return {{"iso", "as it was published"},
            {"wide", "many columns to a block"},
            {"tall", "many rows to a block"}};
  }
};

Variant crossed(const std::string& strategy, const std::vector<std::string>& configs,
                bool comparator = false) {
  std::vector<ConfigInfo> infos;
  for (const std::string& name : configs) {
    infos.push_back({.name = name,
                     .schedule = name.substr(0, name.find('/')),
                     .movement = {{"stages", static_cast<std::int64_t>(infos.size()) + 1}}});
  }
  return fake_variant("crossed", strategy, infos, comparator);
}

Point point(int i) {
  return {.at = {{"index", std::to_string(i)}},
          .quantity = "latency",
          .unit = "cycles",
          .kernels = {{nullptr, 32}},
          .claims = {{"LDG", "ld.global", 1}},
          .prepare = [i](const Device&, Stream) -> Sampling {
            return [i, call = 0]() mutable { return stub_reading(i, call++); };
          }};
}

std::vector<Point> points(const Device&, Scope) { return {point(0), point(1), point(2), point(3)}; }

std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  const auto n = static_cast<double>(measured.size());
  return {{{}, "points with a value", "points", n, n, n, "counted"}};
}

const bool registered = [] {
  register_app(std::make_unique<StubApp>());
  for (const char* strategy : {"baseline", "overlap", "tma", "dsm"}) {
    register_variant(fake_variant("stub", strategy, {{"iso"}, {"wide"}}));
  }
  register_variant(fake_variant("stub", "vendor", {{"wide"}}, true));
  register_app(std::make_unique<CrossedApp>());
  register_variant(crossed("baseline", {"iso", "wide", "tall", "tall/ahead"}));
  register_variant(crossed("tma", {"iso", "wide", "tall"}));
  Variant declining = crossed("dsm", {"iso", "tall"});
  declining.declined = {{"wide", "its neighbours are too far apart for a cluster"}};
  register_variant(std::move(declining));
  Variant spelling = crossed("cuda_barrier", {"wide"}, true);
  spelling.spells = "tma";
  register_variant(std::move(spelling));
  // Without one the winners of a search would not be known to be of this code.
  register_source_digests({{"crossed", std::string(64, 'c')}});
  register_microbenchmark(
      {"stub/points", "How many are there?", "Reads what the script says.", points, findings});
  for (const char* name : {"copy_bandwidth", "fp32_rate"}) {
    register_ceiling({name, "G/s", "the script says so", true, 0,
                      [name](const Device&, Stream) { return stub_ceiling(name); }});
  }
  return true;
}();

}  // namespace
}  // namespace amasia
