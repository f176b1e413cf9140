// Two apps, a microbenchmark "stub/points" (four points and a finding) and two ceilings. The app
// "stub" has the parameter n, the variants baseline, overlap, tma and dsm with the configs iso and
// wide, and the comparator vendor. The app "crossed" has schedules and the variants baseline, tma
// and dsm, which use the winners of a search. Its reference hangs at n = 999999999.
#include <memory>

#include "harness/ceiling.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/registry.hpp"
#include "tests/harness/stub_device/stub_device.hpp"

namespace amasia {
namespace {

class StubApp : public App {
 public:
  std::string_view name() const override { return "stub"; }
  std::string_view summary() const override { return "nothing at all, to test the harness"; }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs{
        {"n", ParameterSpec::Kind::integer, "elements", "1000", 1, INT64_MAX}};
    return specs;
  }
  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<Parameters> sizes{Parameters(parameters(), {{"n", "1000"}})};
    if (preset != Preset::smoke)
      sizes.emplace_back(parameters(), std::map<std::string, std::string>{{"n", "2000"}});
    return sizes;
  }
  Work work(const Parameters& p) const override {
    const auto n = static_cast<double>(p.integer("n"));
    Work w{2 * n, Work::Kind::fp32, 4 * n, 4 * n, 0};
    if (const auto claims = stub_script().find("work"); claims != stub_script().end()) {
      w.bytes_read = claims->value("bytes_read", w.bytes_read);
      w.bytes_written = claims->value("bytes_written", w.bytes_written);
    }
    return w;
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    return checked_product({p.integer("n"), 8}, "two vectors");
  }
  Verdict check_reference(const Parameters& p, std::uint64_t) const override {
    // The largest stands for all that would take for ever.
    if (p.integer("n") == 999'999'999) break_down({{"do", "hang"}});
    return {true, "exact", 0, 0, p.integer("n"), 0};
  }
};

Variant variant(const std::string& name, bool comparator = false) {
  Variant v;
  v.app = "stub";
  v.strategy = name;
  v.comparator = comparator;
  const auto add = [&](const char* config) {
    Config c;
    c.info.name = config;
    v.configs.push_back(std::move(c));
  };
  if (!comparator) add("iso");
  add("wide");
  return v;
}

/// An app whose configs are divided into schedules: dsm declines one, the baseline has two
/// movements for another, and a library implements one of tma.
class CrossedApp : public StubApp {
 public:
  std::string_view name() const override { return "crossed"; }
  std::vector<Schedule> schedules() const override {
    return {{"iso", "as it was published"},
            {"wide", "many columns to a block"},
            {"tall", "many rows to a block"}};
  }
};

Variant crossed(const std::string& strategy, const std::vector<std::string>& configs) {
  Variant v;
  v.app = "crossed";
  v.strategy = strategy;
  for (const std::string& name : configs) {
    Config c;
    c.info.name = name;
    c.info.schedule = name.substr(0, name.find('/'));
    c.info.movement = {{"stages", static_cast<std::int64_t>(v.configs.size()) + 1}};
    v.configs.push_back(std::move(c));
  }
  return v;
}

Microbenchmark points() {
  Microbenchmark m;
  m.name = "stub/points";
  m.question = "How many are there?";
  m.method = "Reads what the script says.";
  m.points = [](const Device&, Scope) {
    std::vector<Point> list;
    for (int i = 0; i < 4; ++i) {
      Point p;
      p.at = {{"index", std::to_string(i)}};
      p.quantity = "latency";
      p.unit = "cycles";
      p.kernels = {{nullptr, 32}};
      p.claims = {{"LDG", "ld.global", 1}};
      p.prepare = [i](const Device&, Stream) -> Sampling {
        return [i, call = 0]() mutable { return stub_reading(i, call++); };
      };
      list.push_back(std::move(p));
    }
    return list;
  };
  m.findings = [](const Device&, const std::vector<MeasuredPoint>& measured) {
    Finding f;
    f.quantity = "points with a value";
    f.unit = "points";
    f.value = f.low = f.high = static_cast<double>(measured.size());
    f.how = "counted";
    return std::vector<Finding>{f};
  };
  return m;
}

const bool registered = [] {
  register_app(std::make_unique<StubApp>());
  for (const char* strategy : {"baseline", "overlap", "tma", "dsm"}) {
    register_variant(variant(strategy));
  }
  register_variant(variant("vendor", true));
  register_app(std::make_unique<CrossedApp>());
  register_variant(crossed("baseline", {"iso", "wide", "tall", "tall/ahead"}));
  register_variant(crossed("tma", {"iso", "wide", "tall"}));
  Variant declining = crossed("dsm", {"iso", "tall"});
  declining.declined = {{"wide", "its neighbours are too far apart for a cluster"}};
  register_variant(std::move(declining));
  Variant spelling = crossed("cuda_barrier", {"wide"});
  spelling.comparator = true;
  spelling.spells = "tma";
  register_variant(std::move(spelling));
  // Without one the winners of a search would not be known to be of this code.
  register_source_digests({{"crossed", std::string(64, 'c')}});
  register_microbenchmark(points());
  for (const char* name : {"copy_bandwidth", "fp32_rate"}) {
    register_ceiling({name, "G/s", "the script says so", true, 0,
                      [name](const Device&, Stream) { return stub_ceiling(name); }});
  }
  return true;
}();

}  // namespace
}  // namespace amasia
