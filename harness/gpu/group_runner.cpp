#include "harness/gpu/group_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "harness/ceiling.hpp"
#include "variants/device/cuda.hpp"
#include "harness/gpu/preparation.hpp"
#include "harness/gpu/sampler.hpp"
#include "harness/registry.hpp"
#include "harness/statistics/schedule.hpp"

namespace amasia {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A sample this much slower in clock than the fastest of its row was throttled, whatever NVML
/// says.
constexpr double throttled_clock_share = 0.90;
/// A throttled sample is repeated at most this often; then it stays, marked.
constexpr int throttle_repeats = 3;

/// A row that has been prepared and may be timed.
struct Active {
  int row = 0;
  std::unique_ptr<PreparedRun> run;
};

/// A GPU held at its power limit throttles every run of a heavy kernel: then that is its speed, and
/// the marks stay as a remark.
bool always_throttled(const Row& row) {
  return std::all_of(row.samples.begin(), row.samples.end(),
                     [](const Sample& s) { return s.throttled; });
}

std::vector<double> usable_times(const Row& row) {
  const bool all = always_throttled(row);
  std::vector<double> times;
  for (const Sample& s : row.samples) {
    if (all || !s.throttled) times.push_back(s.time_ms);
  }
  return times;
}

/// Times of two rows in the rounds where both have a usable sample.
std::pair<std::vector<double>, std::vector<double>> paired_times(const Row& a, const Row& b) {
  std::pair<std::vector<double>, std::vector<double>> pairs;
  const bool all_a = always_throttled(a), all_b = always_throttled(b);
  std::size_t j = 0;
  for (const Sample& s : a.samples) {
    while (j < b.samples.size() && b.samples[j].round < s.round) ++j;
    if (j == b.samples.size()) break;
    if (b.samples[j].round == s.round && (all_a || !s.throttled) &&
        (all_b || !b.samples[j].throttled)) {
      pairs.first.push_back(s.time_ms);
      pairs.second.push_back(b.samples[j].time_ms);
    }
  }
  return pairs;
}

const Row* reference_of(const std::vector<Row>& rows, const Row& row) {
  const std::string app = row.variant.substr(0, row.variant.find('/'));
  // A comparator is compared with what one would ship: the tuned baseline.
  const std::string role = row.role == "comparator" ? "best" : row.role;
  for (const Row& r : rows) {
    if (r.variant == app + "/baseline" && r.role == role && r.repeat == 0 &&
        r.status == RowStatus::ok && &r != &row) {
      return &r;
    }
  }
  return nullptr;
}

std::vector<Comparison> compare_rows(const std::vector<Row>& rows, double joint_confidence) {
  std::vector<std::pair<const Row*, const Row*>> pairs;
  for (const Row& row : rows) {
    if (row.status != RowStatus::ok || row.role == "candidate") continue;
    if (const Row* reference = reference_of(rows, row)) pairs.emplace_back(&row, reference);
  }
  const double confidence =
      corrected_confidence(joint_confidence, std::max<int>(1, static_cast<int>(pairs.size())));
  std::vector<Comparison> comparisons;
  for (const auto& [row, reference] : pairs) {
    const auto [reference_times, times] = paired_times(*reference, *row);
    if (times.empty()) continue;
    Comparison c;
    c.variant = row->variant;
    c.role = row->role;
    c.against = reference->variant;
    c.control = row->repeat > 0;
    c.speedup = paired_ratio(reference_times, times, confidence);
    c.verdict = !c.speedup.resolved ? "not resolved" : c.speedup.ratio > 1 ? "faster" : "slower";
    comparisons.push_back(std::move(c));
  }
  return comparisons;
}

/// Half the width of an interval as a share of its middle.
double half_width(const RatioInterval& r) { return (r.high - r.low) / (2 * r.ratio); }

class GroupRunner {
 public:
  GroupRunner(const PlannedGroup& plan, const Device& device, const ProgressSink& progress)
      : plan_(plan),
        device_(device),
        progress_(progress),
        nvml_(device.pci_bus_id),
        sampler_(device, nvml_) {
    result_.key = plan.key;
    result_.preset = plan.preset;
    result_.seed = plan.seed;
  }

  GroupResult run() {
    const auto begin = Clock::now();
    const App* app = find_app(plan_.key.app);
    const InstanceFactory* factory = find_instance_factory(plan_.key.app);
    if (app == nullptr || factory == nullptr) {
      throw UsageError(fmt::format("app '{}' is not part of this program", plan_.key.app));
    }
    result_.work = app->work(plan_.key.size);
    progress_(-1, "generating inputs");
    instance_ = (*factory)(plan_.key.size, plan_.seed);
    AMASIA_CUDA(cudaDeviceSynchronize());

    for (const PlannedRow& planned : plan_.rows) prepare(planned);
    if (!plan_.effort.verify_only) time_all();
    for (Active& a : active_) {
      Row& row = result_.rows[static_cast<std::size_t>(a.row)];
      if (!plan_.effort.verify_only && row.status == RowStatus::ok) verify_again(a, row);
    }
    const bool any_right = std::any_of(result_.rows.begin(), result_.rows.end(),
                                       [](const Row& row) { return row.status == RowStatus::ok; });
    if (any_right) app->export_outputs(plan_.key.size, *instance_);
    summarise();
    result_.wall_s = seconds_since(begin);
    return std::move(result_);
  }

 private:
  void prepare(const PlannedRow& planned) {
    const int index = static_cast<int>(result_.rows.size());
    Row row;
    row.variant = planned.variant;
    row.role = planned.role;
    row.repeat = planned.repeat;
    row.config = planned.config;
    row.config_source = planned.config_source;
    const Variant* variant = find_variant(planned.variant);
    if (!planned.excluded.empty()) {
      row.status = RowStatus::crashed;
      row.reason = planned.excluded;
    } else if (variant == nullptr) {
      row.status = RowStatus::skipped;
      row.reason = "not part of this program";
    } else {
      progress_(index, fmt::format("verifying {} {}", planned.variant, planned.role));
      prepare_variant(*variant, row, index);
    }
    result_.rows.push_back(std::move(row));
  }

  void prepare_variant(const Variant& variant, Row& row, int index) {
    std::string reason;
    const bool is_choice = row.role == "best" || row.role == "comparator";
    const Config* config =
        (is_choice ? choose_best : choose_config)(variant, row.config, *instance_, device_, reason);
    if (config == nullptr) {
      row.status = RowStatus::skipped;
      row.reason = reason;
      return;
    }
    if (is_choice && !reason.empty()) {
      row.config_source = fmt::format("built-in default ({}; {})", row.config_source, reason);
    }
    row.config = config->info.name;
    row.geometry = config->info.geometry;
    if (device_.compute_capability < variant.traits.native_from) {
      row.fallback = fmt::format("plain copies: the mechanism needs compute capability {}.{}",
                                 variant.traits.native_from / 10, variant.traits.native_from % 10);
    }
    try {
      for (const KernelUse& k : config->info.kernels) {
        row.evidence.push_back(resources_of(k, device_));
      }
      const LaunchMode mode = plan_.key.launch == "graph" ? LaunchMode::graph : LaunchMode::stream;
      Active active;
      active.row = index;
      active.run = std::make_unique<PreparedRun>(config->prepare(*instance_, device_), mode,
                                                 sampler_.stream());
      sampler_.run_once(*active.run, *instance_);
      row.verdict = instance_->verify();
      if (!row.verdict->passed) {
        row.status = RowStatus::failed;
        row.reason = "wrong result";
        return;
      }
      if (!active.run->can_be_blocked()) result_.launch_blocked = false;
      active_.push_back(std::move(active));
    } catch (const OutOfMemory& error) {
      row.status = RowStatus::skipped;
      row.reason = error.what();
    }
  }

  void time_all() {
    if (active_.empty()) return;
    // An unrecorded round: module load, clocks, first-touch of the flush buffer.
    for (const Active& a : active_) {
      progress_(a.row, "warming up");
      sampler_.time(*a.run, *instance_, cache());
    }
    const auto begin = Clock::now();
    const int entries = static_cast<int>(active_.size());
    double last_report = 0;
    for (int round = 0;; ++round) {
      const std::vector<int> order = round_order(entries, round);
      for (int position = 0; position < entries; ++position) {
        sample(active_[static_cast<std::size_t>(order[static_cast<std::size_t>(position)])], round,
               position);
      }
      result_.rounds = round + 1;
      const double elapsed = seconds_since(begin);
      if (elapsed - last_report > 0.5) {
        last_report = elapsed;
        progress_(active_.front().row, estimate(elapsed));
      }
      if (result_.rounds >= plan_.effort.min_rounds && precise_enough()) {
        result_.stop_reason = "interval narrow enough";
        return;
      }
      if (result_.rounds >= plan_.effort.max_rounds) {
        result_.stop_reason = "round limit";
        return;
      }
      if (elapsed >= plan_.effort.seconds) {
        result_.stop_reason = "time limit";
        return;
      }
    }
  }

  void sample(const Active& a, int round, int position) {
    Row& row = result_.rows[static_cast<std::size_t>(a.row)];
    progress_(a.row, "");
    Sample s;
    for (int attempt = 0; attempt <= throttle_repeats; ++attempt) {
      const TimedRun timed = sampler_.time(*a.run, *instance_, cache());
      s = Sample{round, position, timed.time_ms, timed.sm_clock_mhz, timed.throttled};
      if (s.sm_clock_mhz) {
        double& fastest = fastest_clock_[a.row];
        fastest = std::max(fastest, *s.sm_clock_mhz);
        if (*s.sm_clock_mhz < throttled_clock_share * fastest) s.throttled = true;
      }
      if (!s.throttled) break;
      ++throttled_samples_;
    }
    row.samples.push_back(s);
  }

  bool precise_enough() const {
    const auto comparisons = compare_rows(result_.rows, plan_.effort.confidence);
    if (comparisons.empty()) {  // candidates only: each time on its own
      return std::all_of(active_.begin(), active_.end(), [&](const Active& a) {
        const auto times = usable_times(result_.rows[static_cast<std::size_t>(a.row)]);
        if (times.empty()) return false;
        const auto t = median_interval(times, plan_.effort.confidence);
        return t.coverage >= plan_.effort.confidence &&
               (t.high - t.low) / (2 * t.median) <= plan_.effort.precision;
      });
    }
    const double needed =
        corrected_confidence(plan_.effort.confidence, static_cast<int>(comparisons.size()));
    return std::all_of(comparisons.begin(), comparisons.end(), [&](const Comparison& c) {
      return c.speedup.coverage >= needed && half_width(c.speedup) <= plan_.effort.precision;
    });
  }

  void verify_again(const Active& a, Row& row) {
    progress_(a.row, fmt::format("verifying {} {} again", row.variant, row.role));
    sampler_.run_once(*a.run, *instance_);
    Verdict after = instance_->verify();
    if (!after.passed) {
      row.status = RowStatus::failed;
      row.reason = "wrong result after timing, right before: a race";
      row.verdict = after;
    } else if (plan_.effort.energy) {
      progress_(a.row, fmt::format("energy of {} {}", row.variant, row.role));
      constexpr double batch_seconds = 0.6;  // dozens of refreshes of the energy counter
      row.energy_mj = sampler_.energy_mj(*a.run, *instance_, batch_seconds);
    }
  }

  void summarise() {
    for (Row& row : result_.rows) {
      if (row.status == RowStatus::failed || row.status == RowStatus::crashed) {
        row.samples.clear();  // a wrong result has no time
        continue;
      }
      const auto times = usable_times(row);
      if (times.empty()) continue;
      row.time_ms = median_interval(times, plan_.effort.confidence);
      const double seconds = row.time_ms->median * 1e-3;
      row.gflops = result_.work.operations / seconds * 1e-9;
      row.gbytes_per_s = (result_.work.bytes_read + result_.work.bytes_written) / seconds * 1e-9;
    }
    result_.comparisons = compare_rows(result_.rows, plan_.effort.confidence);
    if (throttled_samples_ > 0) {
      const std::string reasons = nvml_.throttle_reasons();
      result_.warnings.push_back(
          fmt::format("{} samples were throttled{} and repeated: let the GPU cool, or check who "
                      "else uses it (amasia doctor)",
                      throttled_samples_, reasons.empty() ? "" : " (" + reasons + ")"));
    }
    if (!plan_.effort.verify_only && active_.empty()) {
      result_.warnings.push_back("no row could run");
    }
    for (const Comparison& c : result_.comparisons) {
      if (c.control && c.speedup.resolved) {
        result_.warnings.push_back(
            fmt::format("{} {} differs from itself by {:.2f} %: no smaller difference counts here",
                        c.variant, c.role, 100 * std::abs(c.speedup.ratio - 1)));
      }
    }
  }

  std::string estimate(double elapsed) const {
    double widest = 0;
    for (const Comparison& c : compare_rows(result_.rows, plan_.effort.confidence)) {
      widest = std::max(widest, half_width(c.speedup));
    }
    const Row& row = result_.rows[static_cast<std::size_t>(active_.front().row)];
    const auto times = usable_times(row);
    return fmt::format("round {}: {} {} {:.4g} ms, widest interval +-{:.2f} %, {:.0f} s",
                       result_.rounds, row.variant, row.role,
                       times.empty() ? 0.0 : median_interval(times, 0.95).median, 100 * widest,
                       elapsed);
  }

  CacheMode cache() const { return plan_.key.cache == "hot" ? CacheMode::hot : CacheMode::cold; }

  const PlannedGroup& plan_;
  const Device& device_;
  const ProgressSink& progress_;
  Nvml nvml_;
  Sampler sampler_;
  GroupResult result_;
  std::unique_ptr<Instance> instance_;
  std::vector<Active> active_;
  std::map<int, double> fastest_clock_;
  int throttled_samples_ = 0;
};

}  // namespace

GroupResult run_group(const PlannedGroup& plan, const Device& device,
                      const ProgressSink& progress) {
  return GroupRunner(plan, device, progress).run();
}

std::vector<Ceiling> measure_ceilings(const Device& device, int samples,
                                      const ProgressSink& progress) {
  OwnedStream stream;
  std::vector<Ceiling> ceilings;
  for (const CeilingProbe& probe : ceiling_probes()) {
    if (device.compute_capability < probe.runs_from) continue;
    progress(-1, "ceiling " + probe.name);
    Ceiling c{probe.name, probe.unit, probe.method};
    probe.measure(device, stream);  // unrecorded: allocation, module load, clocks
    for (int i = 0; i < samples; ++i) c.samples.push_back(probe.measure(device, stream));
    c.value = median_interval(c.samples, 0.95).median;
    ceilings.push_back(std::move(c));
  }
  return ceilings;
}

}  // namespace amasia
