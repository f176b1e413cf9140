// Apps whose answers are known before they run, to test what the whole pipeline makes of them:
//   planted   every variant does the baseline's work and a known share more or less; some do just
//   the
//             same, so that what is claimed of them is false
//   contest   configs to choose from: one does less than the others, or two do, or none
//   dosed     a kernel that one resource binds, with doses of that and of the others
// The strategies' names are only names here: all variants of an app run one kernel and differ in
// how often.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "harness/app.hpp"
#include "harness/variant.hpp"
#include "tests/effects/kernels.cuh"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"

namespace amasia::effects {
namespace {

// --- planted, contest
// -----------------------------------------------------------------------------

enum class Kind { bytes, operations, barriers };
constexpr std::array<const char*, 3> kind_names{"bytes", "operations", "barriers"};

Kind kind_of(const Parameters& p) {
  const auto found = std::find(kind_names.begin(), kind_names.end(), p.text("kind"));
  return static_cast<Kind>(found - kind_names.begin());
}

/// Every plant is a whole number of thousandths of the work, so that n(1 + x) is exact.
constexpr std::int64_t thousand = 1000;
constexpr std::int64_t most_plant = 30, least_plant = -10;  // thousandths

std::int64_t planted_amount(std::int64_t thousands, int plant) {
  return thousands * (thousand + plant);
}

struct Plot {
  Kind kind = Kind::bytes;
  std::int64_t thousands = 0;  // chunks, steps or hand-overs of the baseline, by the thousand
  unsigned blocks = 0;         // of operations and barriers
  const uint4* x = nullptr;
  std::uint32_t* sums = nullptr;
  float* counts = nullptr;
  int* passed = nullptr;
};

class PlotInstance : public InstanceOf<Plot> {
 public:
  PlotInstance(Kind kind, std::int64_t thousands, int blocks) {
    const auto chunks =
        static_cast<std::size_t>(kind == Kind::bytes ? planted_amount(thousands, most_plant) : 0);
    x_ = DeviceArray<uint4>(std::max<std::size_t>(1, chunks * chunk_vectors));
    sums_ = DeviceArray<std::uint32_t>(std::max<std::size_t>(1, chunks * stream_warps));
    counts_ = DeviceArray<float>(static_cast<std::size_t>(blocks));
    passed_ = DeviceArray<int>(static_cast<std::size_t>(blocks));
    problem_ = {kind,          thousands,    static_cast<unsigned>(blocks),
                x_.data(),     sums_.data(), counts_.data(),
                passed_.data()};
    fill<<<1024, 256>>>(x_.data(), static_cast<std::int64_t>(x_.size()));
    AMASIA_CUDA(cudaGetLastError());
  }
  const Plot& problem() const override { return problem_; }
  void reset(Stream stream) override {
    sums_.poison(stream);
    counts_.poison(stream);
    passed_.poison(stream);
  }
  Verdict verify() override {
    Verdict v{true, "exact, and the amount among those that are planted", 0, 0, 0, 0};
    const std::int64_t least = planted_amount(problem_.thousands, least_plant);
    const std::int64_t most = planted_amount(problem_.thousands, most_plant);
    switch (problem_.kind) {
      case Kind::bytes:
        return verify_sums(v, least);
      case Kind::operations:
        return verify_counts(v, counts_, calculate_per_step * least, calculate_per_step * most);
      case Kind::barriers:
        return verify_counts(v, passed_, least, most);
    }
    return v;
  }

 private:
  static void mismatch(Verdict& v, const std::string& what) {
    v.passed = false;
    v.error = static_cast<double>(++v.mismatches);
    if (v.mismatches <= 5) v.first_mismatches.push_back(what);
  }

  /// The chunks that every variant reads are right; those beyond are right or untouched.
  Verdict verify_sums(Verdict v, std::int64_t least) const {
    std::vector<std::uint32_t> sums(sums_.size());
    sums_.download(sums.data());
    constexpr std::uint32_t untouched = 0xFFFFFFFF;
    v.checked = static_cast<std::int64_t>(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t chunk = i / stream_warps;
      const std::uint32_t expected = sum_of_warp(chunk, i % stream_warps);
      if (sums[i] == expected) continue;
      if (sums[i] == untouched && static_cast<std::int64_t>(chunk) >= least) continue;
      mismatch(v, fmt::format("chunk {}, warp {}: got {}, expected {}", chunk, i % stream_warps,
                              sums[i], expected));
    }
    return v;
  }

  /// All blocks did as much, and that is what some variant does.
  template <class Count>
  static Verdict verify_counts(Verdict v, const DeviceArray<Count>& on_device, std::int64_t least,
                               std::int64_t most) {
    std::vector<Count> counts(on_device.size());
    on_device.download(counts.data());
    v.checked = static_cast<std::int64_t>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto count = static_cast<double>(counts[i]);
      if (count >= static_cast<double>(least) && count <= static_cast<double>(most) &&
          counts[i] == counts[0]) {
        continue;
      }
      mismatch(v, fmt::format("block {}: got {}, expected {} to {}, as block 0", i, counts[i],
                              least, most));
    }
    return v;
  }

  DeviceArray<uint4> x_;
  DeviceArray<std::uint32_t> sums_;
  DeviceArray<float> counts_;
  DeviceArray<int> passed_;
  Plot problem_;
};

/// How large, and how often the same again: groups of one size have different keys.
struct Extent {
  Kind kind;
  std::array<std::int64_t, 3> thousands;  // about 20, 80 and 400 us on an H200
};
constexpr std::array<Extent, 3> extents{
    {{Kind::bytes, {4, 20, 100}}, {Kind::operations, {1, 5, 25}}, {Kind::barriers, {1, 2, 10}}}};

class PlotApp : public App {
 public:
  PlotApp(std::string name, std::string summary, int groups)
      : name_(std::move(name)), summary_(std::move(summary)), groups_(groups) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs{
        {"thousands", ParameterSpec::Kind::integer,
         "chunks of 16 KiB, steps or hand-overs of the baseline, by the thousand", "4", 1, 4000},
        {"group", ParameterSpec::Kind::integer, "which of several groups of the same", "1", 1,
         1000000},
        {"kind",
         ParameterSpec::Kind::choice,
         "of work",
         kind_names[0],
         0,
         0,
         {kind_names.begin(), kind_names.end()}},
        {"blocks", ParameterSpec::Kind::integer, "of operations and barriers, one for each SM",
         "132", 1, 100000}};
    return specs;
  }
  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<Parameters> sizes;
    // Group by group through all sizes and kinds, so that what drifts in a session meets all alike.
    for (int group = 1; group <= (preset == Preset::sweep ? groups_ : 1); ++group) {
      for (const Extent& e : extents) {
        for (const std::int64_t thousands : e.thousands) {
          if (preset == Preset::smoke && thousands != e.thousands[0]) continue;
          sizes.emplace_back(parameters(),
                             std::map<std::string, std::string>{
                                 {"thousands", std::to_string(thousands)},
                                 {"group", std::to_string(group)},
                                 {"kind", kind_names[static_cast<std::size_t>(e.kind)]}});
        }
      }
    }
    return sizes;
  }
  Work work(const Parameters& p) const override {
    const auto amount = static_cast<double>(thousand * p.integer("thousands"));
    const auto blocks = static_cast<double>(p.integer("blocks"));
    Work w;
    switch (kind_of(p)) {
      case Kind::bytes:
        w.bytes_read = amount * chunk_bytes;
        break;
      case Kind::operations:
        w.operations = 2 * amount * blocks * calculate_threads * calculate_per_step;
        break;
      case Kind::barriers:
        w.dependent_operations = amount;
        break;
    }
    return w;
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    const std::int64_t results =
        checked_product({p.integer("blocks"), sizeof(float) + sizeof(int)}, "counts");
    if (kind_of(p) != Kind::bytes) return results;
    return results + checked_product({planted_amount(p.integer("thousands"), most_plant),
                                      chunk_bytes + stream_warps * sizeof(std::uint32_t)},
                                     "chunks");
  }
  Verdict check_reference(const Parameters& p, std::uint64_t) const override {
    // What a warp reads, one by one, against the closed form that verification uses.
    Verdict v{true, "exact", 0, 0, stream_warps, 0};
    const std::uint64_t chunk = static_cast<std::uint64_t>(p.integer("thousands")) * thousand - 1;
    for (std::uint64_t warp = 0; warp < stream_warps; ++warp) {
      std::uint32_t sum = 0;
      for (std::uint64_t k = 0; k < loads_per_thread; ++k) {
        for (std::uint64_t lane = 0; lane < 32; ++lane) {
          const std::uint64_t vector =
              chunk * chunk_vectors + k * stream_threads + 32 * warp + lane;
          for (std::uint64_t j = 0; j < 4; ++j) sum += static_cast<std::uint32_t>(4 * vector + j);
        }
      }
      if (sum != sum_of_warp(chunk, warp)) ++v.mismatches;
    }
    v.passed = v.mismatches == 0;
    v.error = static_cast<double>(v.mismatches);
    return v;
  }

 private:
  std::string name_, summary_;
  int groups_;
};

/// The work of the baseline and `plant` thousandths of it more.
ConfigOf<Plot> planted_config(const std::string& name, int plant) {
  ConfigOf<Plot> c;
  c.info.name = name;
  c.info.geometry = {{"thousandths_more", plant}};
  // No kernels: which of the three is launched depends on the problem, and nothing is claimed of
  // their code.
  c.prepare = [plant](const Plot& p, const Device&) -> Launch {
    const std::int64_t amount = planted_amount(p.thousands, plant);
    return [p, amount](Stream s) {
      switch (p.kind) {
        case Kind::bytes:
          stream<<<static_cast<unsigned>(amount), stream_threads, 0, s>>>(p.x, p.sums);
          break;
        case Kind::operations:
          calculate<<<p.blocks, calculate_threads, 0, s>>>(amount, 1, p.counts);
          break;
        case Kind::barriers:
          hand_over<<<p.blocks, hand_over_threads, 0, s>>>(amount, p.passed);
          break;
      }
      AMASIA_CUDA(cudaGetLastError());
    };
  };
  return c;
}

/// The same amount in each config but for `winners`, which do one per cent less. The first config
/// is iso.
std::vector<ConfigOf<Plot>> contest_configs(const std::vector<int>& winners) {
  constexpr int configs = 8;
  std::vector<ConfigOf<Plot>> list;
  for (int i = 0; i < configs; ++i) {
    const bool wins = std::find(winners.begin(), winners.end(), i) != winners.end();
    const std::string name = fmt::format("{}-{}", wins ? "less" : "same", i);
    list.push_back(planted_config(i == 0 ? "iso" : name, wins ? -10 : 0));
  }
  return list;
}

std::unique_ptr<Instance> make_plot(const Parameters& p, std::uint64_t) {
  return std::make_unique<PlotInstance>(kind_of(p), p.integer("thousands"),
                                        static_cast<int>(p.integer("blocks")));
}

constexpr int planted_groups = 9, contest_groups = 5;

bool register_planted() {
  const auto plant = [](Strategy s, int thousandths) {
    register_variant<Plot>("planted", s, {planted_config("iso", thousandths)});
  };
  register_app(std::make_unique<PlotApp>(
      "planted", "the same work and a known share more or less of it", planted_groups));
  register_instance_factory("planted", make_plot);
  plant(Strategy::baseline, 0);
  plant(Strategy::register_bypass, 0);
  plant(Strategy::overlap, 3);
  plant(Strategy::drop_off, 10);
  plant(Strategy::tma, -10);
  plant(Strategy::dsm, -10);
  // Two more comparisons with no role of a strategy to play.
  register_comparator<Plot>("planted", "none", {planted_config("none", 0)});
  return register_comparator<Plot>("planted", "three_percent", {planted_config("more", 30)});
}

bool register_contest() {
  register_app(std::make_unique<PlotApp>(
      "contest", "eight configs of which one, two or none does one per cent less", contest_groups));
  register_instance_factory("contest", make_plot);
  register_variant<Plot>("contest", Strategy::baseline, contest_configs({5}));
  register_variant<Plot>("contest", Strategy::overlap, contest_configs({}));
  return register_variant<Plot>("contest", Strategy::drop_off, contest_configs({2, 6}));
}

// --- dosed
// ----------------------------------------------------------------------------------------

constexpr int full = 400, half = 200, little = 8;  // units

/// What a kernel does without a dose. "only" kernels say what a dose costs by itself. In "barriers"
/// the others are so small that the floor, which counts a hand-over as one addition, is that of
/// the dependent operations; in "barriers_beside" it is not, although barriers bind that as well.
struct Base {
  const char* name;
  Amounts amounts;
};
constexpr std::array<Base, 7> bases{{{"bytes", {full, half, half}},
                                     {"operations", {half, full, half}},
                                     {"barriers", {little, little, full}},
                                     {"barriers_beside", {half, half, full}},
                                     {"only_bytes", {full, 0, 0}},
                                     {"only_operations", {0, full, 0}},
                                     {"only_barriers", {0, 0, full}}}};

struct Dose {
  const char* name;
  const char* summary;
  Amounts amounts;
};
// Up to a fifth of what binds: more of another resource would come to bind itself.
constexpr std::array<Dose, 10> doses{
    {{"iso", "no dose", {}},
     {"bytes-20", "20 units of bytes more", {20, 0, 0}},
     {"bytes-40", "40 units of bytes more", {40, 0, 0}},
     {"bytes-80", "80 units of bytes more", {80, 0, 0}},
     {"operations-20", "20 units of multiply-adds more", {0, 20, 0}},
     {"operations-40", "40 units of multiply-adds more", {0, 40, 0}},
     {"operations-80", "80 units of multiply-adds more", {0, 80, 0}},
     {"barriers-20", "20 units of hand-overs more", {0, 0, 20}},
     {"barriers-40", "40 units of hand-overs more", {0, 0, 40}},
     {"barriers-80", "80 units of hand-overs more", {0, 0, 80}}}};
constexpr int most_dose = 80;

const Base& base_of(const Parameters& p) {
  return *std::find_if(bases.begin(), bases.end(),
                       [&](const Base& b) { return p.text("base") == b.name; });
}

struct Patient {
  Amounts base;
  unsigned blocks = 0;
  const uint4* x = nullptr;
  Done* done = nullptr;
};

class PatientInstance : public InstanceOf<Patient> {
 public:
  PatientInstance(const Amounts& base, std::int64_t blocks)
      : x_(static_cast<std::size_t>(blocks * (base.bytes + most_dose) * unit_bytes) /
           sizeof(uint4)),
        done_(static_cast<std::size_t>(blocks)),
        problem_{base, static_cast<unsigned>(blocks), x_.data(), done_.data()} {
    fill<<<1024, 256>>>(x_.data(), static_cast<std::int64_t>(x_.size()));
    AMASIA_CUDA(cudaGetLastError());
  }
  const Patient& problem() const override { return problem_; }
  void reset(Stream stream) override { done_.poison(stream); }
  Verdict verify() override {
    std::vector<Done> done(done_.size());
    done_.download(done.data());
    const auto least_count = static_cast<float>(mixed_per_step * unit_steps) *
                             static_cast<float>(problem_.base.operations);
    const int least_passed = unit_hand_overs * problem_.base.barriers;
    Verdict v{true, "exact, and no less than without a dose", 0, 0, problem_.blocks, 0};
    for (std::size_t block = 0; block < done.size(); ++block) {
      const Done& d = done[block];
      const bool right = d.bytes >= problem_.base.bytes &&
                         d.bytes <= problem_.base.bytes + most_dose &&
                         d.sum == sum_of_block(block, static_cast<std::uint64_t>(d.bytes)) &&
                         d.count >= least_count && d.passed >= least_passed;
      if (right) continue;
      v.passed = false;
      v.error = static_cast<double>(++v.mismatches);
      if (v.mismatches <= 5) {
        v.first_mismatches.push_back(
            fmt::format("block {}: {} units of bytes with sum {}, {} multiply-adds, {} hand-overs",
                        block, d.bytes, d.sum, d.count, d.passed));
      }
    }
    return v;
  }

 private:
  DeviceArray<uint4> x_;
  DeviceArray<Done> done_;
  Patient problem_;
};

class DosedApp : public App {
 public:
  std::string_view name() const override { return "dosed"; }
  std::string_view summary() const override {
    return "one resource binds; doses of that and of the others";
  }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs = [] {
      std::vector<std::string> names;
      for (const Base& b : bases) names.emplace_back(b.name);
      return std::vector<ParameterSpec>{
          {"blocks", ParameterSpec::Kind::integer, "one for each SM", "132", 1, 100000},
          {"base", ParameterSpec::Kind::choice, "what the kernel does without a dose", names[0], 0,
           0, names}};
    }();
    return specs;
  }
  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<Parameters> sizes;
    for (const Base& b : bases) {
      sizes.emplace_back(parameters(), std::map<std::string, std::string>{{"base", b.name}});
      if (preset == Preset::smoke) break;
    }
    return sizes;
  }
  std::vector<Schedule> schedules() const override {
    std::vector<Schedule> list;
    for (const Dose& d : doses) list.push_back({d.name, d.summary});
    return list;
  }
  Work work(const Parameters& p) const override {
    const Amounts& a = base_of(p).amounts;
    const auto blocks = static_cast<double>(p.integer("blocks"));
    Work w;
    w.bytes_read = blocks * a.bytes * static_cast<double>(unit_bytes);
    w.operations = blocks * a.operations * static_cast<double>(unit_operations);
    w.dependent_operations = static_cast<double>(a.barriers) * unit_hand_overs;
    return w;
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    return checked_product({p.integer("blocks"), base_of(p).amounts.bytes + most_dose, unit_bytes},
                           "what is streamed");
  }
  Verdict check_reference(const Parameters& p, std::uint64_t) const override {
    // The values of a block's first unit, one by one, against the closed form.
    const auto block = static_cast<std::uint64_t>(p.integer("blocks") - 1);
    constexpr std::uint64_t values = unit_bytes / sizeof(std::uint32_t);
    std::uint32_t sum = 0;
    for (std::uint64_t i = 0; i < values; ++i)
      sum += static_cast<std::uint32_t>(values * block + i);
    const bool right = sum == sum_of_block(block, 1);
    return {right, "exact", right ? 0.0 : 1.0, 0, static_cast<std::int64_t>(values), right ? 0 : 1};
  }
};

ConfigOf<Patient> dosed_config(const Dose& dose) {
  ConfigOf<Patient> c;
  c.info.name = dose.name;
  c.info.schedule = dose.name;
  c.info.geometry = {{"bytes_units", dose.amounts.bytes},
                     {"operations_units", dose.amounts.operations},
                     {"barriers_units", dose.amounts.barriers}};
  c.info.kernels = {{reinterpret_cast<const void*>(mixed), mixed_threads}};
  c.prepare = [dose](const Patient& p, const Device&) -> Launch {
    const Amounts amounts{p.base.bytes + dose.amounts.bytes,
                          p.base.operations + dose.amounts.operations,
                          p.base.barriers + dose.amounts.barriers};
    return [p, amounts](Stream s) {
      mixed<<<p.blocks, mixed_threads, 0, s>>>(p.x, amounts, 1, p.done);
      AMASIA_CUDA(cudaGetLastError());
    };
  };
  return c;
}

bool register_dosed() {
  register_app(std::make_unique<DosedApp>());
  register_instance_factory(
      "dosed", [](const Parameters& p, std::uint64_t) -> std::unique_ptr<Instance> {
        return std::make_unique<PatientInstance>(base_of(p).amounts, p.integer("blocks"));
      });
  std::vector<ConfigOf<Patient>> configs;
  for (const Dose& dose : doses) configs.push_back(dosed_config(dose));
  return register_variant<Patient>("dosed", Strategy::baseline, std::move(configs));
}

const bool registered = register_planted() && register_contest() && register_dosed();

}  // namespace
}  // namespace amasia::effects
