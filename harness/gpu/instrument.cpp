#include "harness/gpu/instrument.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "harness/gpu/loaded_code.hpp"
#include "harness/gpu/preparation.hpp"
#include "harness/gpu/sampler.hpp"
#include "harness/gpu/verification.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/nvml.hpp"
#include "harness/registry.hpp"
#include "harness/user_kernel/trial.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"
#include "variants/device/prepared_run.hpp"

namespace amasia {
namespace {

class CudaGroup : public GroupInstrument {
 public:
  CudaGroup(const PlannedGroup& plan, const Device& device)
      : plan_(plan), device_(device), nvml_(device.pci_bus_id), sampler_(device, nvml_) {
    const InstanceFactory* factory = find_instance_factory(plan.key.app);
    if (factory == nullptr) {
      throw std::runtime_error(
          fmt::format("nothing makes instances of {0}: register_instance_factory(\"{0}\", ...) is "
                      "missing, or its source is not built into this program",
                      plan.key.app));
    }
    instance_ = (*factory)(plan.key.size, plan.seed);
    if (const auto stream = instance_->stream()) sampler_.use_stream(*stream);
    AMASIA_CUDA(cudaDeviceSynchronize());
    left_at_opening_ = sampler_.put_back();
  }

  void prepare(int index, Row& row) override {
    prepare_row(index, row);
    note(sampler_.put_back());
    row.left_set = std::exchange(left_, {});
    if (left_at_opening_.empty()) return;
    row.left_set +=
        fmt::format("{}{} (before this row, when the reference ran)",
                    row.left_set.empty() ? "" : ", and ", std::exchange(left_at_opening_, {}));
  }

  Instance* instance() override { return instance_.get(); }

  bool can_be_blocked(int index) const override { return runs_.at(index).can_be_blocked; }

  TimedRun time(int index) override {
    return sampler_.time(runs_.at(index), *instance_, plan_.key.cache);
  }

  void count(int index) override { sampler_.count(runs_.at(index), *instance_, plan_.key.cache); }

  Verdict verify(int index) override { return verdict_of(runs_.at(index), challenges_.at(index)); }

  std::vector<Verdict> verify_all(const std::vector<int>& rows,
                                  const std::function<void(int)>& begins) override {
    std::vector<Judged> judged;
    for (const int index : rows) {
      judged.push_back({[&, index] {
                          begins(index);
                          instance_->try_again(
                              [&](Stream stream) { runs_.at(index).enqueue(stream); });
                          sampler_.run_once(runs_.at(index), *instance_);
                        },
                        challenges_.at(index)});
    }
    return verdicts_of(*instance_, judged);
  }

  Verdict verify_nothing() override {
    instance_->reset(sampler_.stream());
    AMASIA_CUDA(cudaStreamSynchronize(sampler_.stream()));
    return instance_->verify();
  }

  std::optional<double> energy_mj(int index) override {
    constexpr double batch_seconds = 0.6;  // dozens of refreshes of the energy counter
    return sampler_.energy_mj(runs_.at(index), *instance_, batch_seconds);
  }

  void export_outputs() override {
    find_app(plan_.key.app)->export_outputs(plan_.key.size, *instance_);
  }

  std::string throttle_reasons() const override { return nvml_.throttle_reasons(); }

  std::optional<ProbeTimes> probe() override { return sampler_.probe(); }

  std::map<std::string, std::string> device_state() const override {
    std::map<std::string, std::string> state = nvml_.state();
    // What stays the same for the whole run is in its provenance.
    for (const char* key :
         {"driver_version", "power_limit_default_w", "persistence", "compute_mode", "ecc", "mig",
          "compute_processes", "use", "sm_clock_max_mhz", "memory_clock_max_mhz"}) {
      state.erase(key);
    }
    if (const std::string others = nvml_.other_processes(opened_us_); !others.empty()) {
      state["company"] = others;
    }
    return state;
  }

 private:
  void prepare_row(int index, Row& row) {
    const Variant& variant = *find_variant(row.variant);
    std::string reason;
    const bool is_choice =
        row.role == Role::best || row.role == Role::comparator || !row.schedule.empty();
    const Config* config =
        row.schedule.empty()
            ? (is_choice ? choose_best : choose_config)(variant, row.config, *instance_, device_,
                                                        reason)
            : choose_of_schedule(variant, row.schedule, row.config, *instance_, device_, reason);
    if (config == nullptr) return give_up(row, RowStatus::skipped, reason);
    if (is_choice && !reason.empty()) {
      row.config_source = fmt::format("built-in default ({}; {})", row.config_source, reason);
    }
    row.config = config->info.name;
    row.geometry = config->info.geometry;
    row.schedule = config->info.schedule;
    row.movement = config->info.movement;
    row.fallback = fallback_of(variant, *config, device_);
    Launch launch = launch_of(variant, *config);
    if (variant.user_kernel && !variant.user_kernel->capturable) {
      prepare_by_trial(index, row, std::move(launch));
      return;
    }
    if (variant.user_kernel) user_launches_.push_back(launch);
    const LaunchedBlocks launched = launched_blocks(launch, sampler_.stream());
    const std::vector<KernelUse> kernels =
        config->loaded_kernels ? config->loaded_kernels(*instance_, device_) : config->info.kernels;
    for (const KernelUse& k : kernels) {
      row.evidence.push_back(amasia::resources_of(k, device_, launched));
    }
    const std::shared_ptr<PreparedRun> run = captured_run(variant, launch, row);
    if (row.status != RowStatus::ok) return;
    const std::optional<Enqueued> enqueued = run ? Enqueued(*run) : uncaptured(launch, row);
    if (!enqueued) return;
    row.verdict = verdict_of(*enqueued, instance_->challenges());
    if (run && row.verdict->passed && is_replayed(row)) replay(launch, row);
    if (row.verdict->passed) runs_.emplace(index, *enqueued);
    if (run) prepared_.push_back(run);
    // A search has up to a hundred rows a group, and its winner is challenged where it is measured.
    challenges_[index] = row.role == Role::candidate ? 0 : instance_->challenges();
  }

  /// A function loaded at run time is called here for the first time. Behind a capture that failed
  /// that call may get the error of the capture (forget_failed_capture), and so counts for nothing.
  Launch launch_of(const Variant& variant, const Config& config) {
    try {
      return config.prepare(*instance_, device_);
    } catch (const std::runtime_error&) {
      if (!variant.user_kernel || !capture_failed_) throw;
    }
    cudaGetLastError();
    return config.prepare(*instance_, device_);
  }

  /// Empty for a launch that was loaded at run time and cannot be a part of a graph: it launches
  /// one, or allocates. `row` is failed where the capture shows that it works beside its stream,
  /// and skipped where a graph is what is to be timed.
  std::shared_ptr<PreparedRun> captured_run(const Variant& variant, const Launch& launch,
                                            Row& row) {
    try {
      return std::make_shared<PreparedRun>(launch, plan_.key.launch, sampler_.stream());
    } catch (const std::runtime_error& error) {
      if (!variant.user_kernel) throw;
      const auto* const of_cuda = dynamic_cast<const CudaError*>(&error);
      forget_failed_capture();
      if (of_cuda != nullptr && of_cuda->code() == cudaErrorStreamCaptureUnjoined) {
        give_up(row, RowStatus::failed, not_joined);
      } else if (plan_.key.launch == LaunchMode::graph) {
        give_up(row, RowStatus::skipped, no_graph(error.what()));
      }
      return {};
    }
  }

  /// A library has a CUDA runtime of its own, linked into it, which keeps the error of a capture
  /// that failed until one of its functions calls cudaGetLastError(). That function would seem to
  /// have failed, so each is called once here. Throws CudaError where the device is broken.
  void forget_failed_capture() {
    capture_failed_ = true;
    for (const Launch& launch : user_launches_) call_for_nothing(launch);
  }

  void call_for_nothing(const Launch& launch) {
    cudaGetLastError();
    instance_->reset(sampler_.stream());
    try {
      launch(sampler_.stream());
    } catch (const std::runtime_error&) {
      cudaGetLastError();
    }
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  /// A launch loaded at run time that cannot be captured. Empty, and `row` failed, where
  /// it still has the error of the capture.
  std::optional<Enqueued> uncaptured(const Launch& launch, Row& row) {
    try {
      // A profiler may let the kernel that holds the stream end before anything else is launched.
      const bool waits_in_the_queue =
          plan_.effort.count_only || sampler_.returns_while_held(launch, *instance_);
      row.fallback = not_captured;
      if (!waits_in_the_queue) row.fallback += fmt::format("; {}", not_held_back);
      return Enqueued(launch, waits_in_the_queue);
    } catch (const CudaError&) {
      throw;
    } catch (const std::runtime_error& error) {
      give_up(row, RowStatus::failed, keeps_error_of_capture(error.what()));
      return {};
    }
  }

  /// A launch that no graph can be captured of: what it does is found out by trying.
  void prepare_by_trial(int index, Row& row, Launch launch) {
    auto known = tried_.find(row.variant);
    if (known == tried_.end()) known = tried_.emplace(row.variant, trial_of(launch)).first;
    const TrialOutcome& outcome = known->second;
    if (!outcome.objection.empty()) return give_up(row, RowStatus::failed, outcome.objection);
    if (!outcome.can_be_blocked) row.fallback = not_held_back;
    const Enqueued run(std::move(launch), outcome.can_be_blocked);
    row.verdict = verdict_of(run, instance_->challenges());
    if (row.verdict->passed) runs_.emplace(index, run);
    challenges_[index] = instance_->challenges();
  }

  /// What runs of a row that is prepared have left set of persisting L2: the first of it.
  void note(const std::string& left) {
    if (left_.empty()) left_ = left;
  }

  TrialOutcome trial_of(const Launch& launch) {
    const auto time = [this](const Launch& timed, bool held) {
      const TimedRun run = sampler_.time(Enqueued(timed, held), *instance_, plan_.key.cache);
      note(run.left_set);
      return run.time_ms;
    };
    TrialSteps steps;
    steps.passes_untouched = [&] {
      sampler_.reset(*instance_);
      return instance_->verify().passed;
    };
    steps.until_done = [&](bool launched) {
      return sampler_.until_done(Enqueued(launched ? launch : Launch([](Stream) {}), true),
                                 *instance_);
    };
    steps.returns_while_held = [&] { return sampler_.returns_while_held(launch, *instance_); };
    steps.time = [&](bool held) { return time(launch, held); };
    steps.time_of_nothing = [&] { return time([](Stream) {}, true); };
    return try_out(steps, instance_->poisons());
  }

  Verdict verdict_of(const Enqueued& run, int challenges) {
    return amasia::verdict_of(*instance_, challenges, [&] { sampler_.run_once(run, *instance_); });
  }

  /// Once for each config that is timed or verified: a search has up to a hundred rows a group, and
  /// its winner is replayed where it is measured.
  bool is_replayed(const Row& row) const {
    return plan_.key.launch == LaunchMode::stream && !plan_.effort.count_only && row.repeat == 0 &&
           (plan_.effort.verify_only || row.role != Role::candidate);
  }

  /// A captured graph has only what was enqueued in the stream, or joined to it: replayed, it gives
  /// a wrong output where the run worked in another stream beside.
  void replay(const Launch& launch, Row& row) {
    std::unique_ptr<PreparedRun> graph;
    try {
      graph = std::make_unique<PreparedRun>(launch, LaunchMode::graph, sampler_.stream());
    } catch (const std::runtime_error&) {
      forget_failed_capture();  // what cannot be a graph is not held against a run in a stream
      return;
    }
    const Verdict of_replay = verdict_of(*graph, 0);
    if (const auto why = works_elsewhere(of_replay)) {
      row.verdict = of_replay;
      row.reason = *why;
    }
  }

  const PlannedGroup& plan_;
  const Device& device_;
  Nvml nvml_;
  Sampler sampler_;
  std::uint64_t opened_us_ = Nvml::now_us();
  std::unique_ptr<Instance> instance_;
  std::vector<std::shared_ptr<PreparedRun>> prepared_;
  std::vector<Launch> user_launches_;  // functions of libraries that came at run time
  bool capture_failed_ = false;        // of one of them
  std::map<int, Enqueued> runs_;
  std::map<std::string, TrialOutcome> tried_;  // by variant: its control is the same program
  std::map<int, int> challenges_;              // of a row, when it is verified again
  std::string left_at_opening_, left_;         // of persisting L2
};

/// Of each kernel of a microbenchmark, the least capability that a point with it needs.
std::map<const void*, int> needs_of_points(const Device& device) {
  std::map<const void*, int> needs;
  for (const Microbenchmark* m : microbenchmarks()) {
    for (const Scope scope : {Scope::quick, Scope::full}) {
      for (const Point& point : m->points(device, scope)) {
        for (const KernelUse& k : point.kernels) {
          const auto [known, first] = needs.emplace(k.function, point.runs_from);
          if (!first) known->second = std::min(known->second, point.runs_from);
        }
      }
    }
  }
  return needs;
}

class CudaInstrument : public Instrument {
 public:
  explicit CudaInstrument(const Device& device)
      : device_(device), code_(loaded_code(Sampler::kernel(), device)) {}

  const Device& device() const override { return device_; }
  int code_capability() const override { return capability_of(code_, device_); }
  std::map<std::string, std::string> state() const override {
    const Nvml nvml(device_.pci_bus_id);
    return nvml.available() ? nvml.state()
                            : std::map<std::string, std::string>{{"nvml", nvml.reason()}};
  }
  Stream stream() const override { return stream_; }
  std::string other_processes() const override {
    return Nvml(device_.pci_bus_id).other_processes(opened_us_);
  }

  std::unique_ptr<GroupInstrument> open(const PlannedGroup& plan) override {
    return std::make_unique<CudaGroup>(plan, device_);
  }

  KernelEvidence resources_of(const KernelUse& k) override {
    if (code_capability() < device_.compute_capability) refuse_old_code(k);
    // Not set yet: beyond 48 KiB, or in clusters of more than 8 blocks, the occupancy would be
    // that of a launch that is refused.
    LaunchShape shape;
    shape.dynamic_shared_bytes = k.dynamic_shared_bytes;
    shape.cluster_blocks = static_cast<unsigned>(k.cluster_blocks);
    allow_launch(k.function, shape);
    return amasia::resources_of(k, device_);
  }

  Trouble trouble_of(const std::exception& error) override {
    if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return Trouble::no_memory;
    if (dynamic_cast<const CudaError*>(&error) == nullptr) return Trouble::row;
    // An error that a new call does not report again has not broken the context.
    cudaGetLastError();
    return cudaDeviceSynchronize() == cudaSuccess ? Trouble::row : Trouble::device;
  }

 private:
  /// A kernel compiled for an architecture without the instructions of its point is a trap, and a
  /// trap costs the whole process.
  void refuse_old_code(const KernelUse& k) {
    if (needs_.empty()) needs_ = needs_of_points(device_);
    const auto need = needs_.find(k.function);
    if (need == needs_.end()) return;
    const auto old =
        code_objection(loaded_code(k.function, device_), device_, "this point", need->second);
    if (old) throw Unavailable(*old);
  }

  Device device_;
  std::uint64_t opened_us_ = Nvml::now_us();
  LoadedCode code_;
  std::map<const void*, int> needs_;
  OwnedStream stream_;
};

}  // namespace

std::unique_ptr<Instrument> open_instrument(int index) {
  std::string reason;
  const int devices = device_count(reason);
  if (devices == 0) throw std::runtime_error(reason);
  if (index >= devices) {
    throw UsageError(
        fmt::format("--device {}: this machine has {} (0 to {})", index, devices, devices - 1));
  }
  return std::make_unique<CudaInstrument>(query_device(index));
}

}  // namespace amasia
