#include "harness/gpu/instrument.hpp"

#include <fmt/format.h>

#include "harness/gpu/preparation.hpp"
#include "harness/gpu/sampler.hpp"
#include "harness/nvml.hpp"
#include "harness/registry.hpp"
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
      throw UsageError(fmt::format("app '{}' is not part of this program", plan.key.app));
    }
    instance_ = (*factory)(plan.key.size, plan.seed);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  void prepare(int index, Row& row) override {
    const Variant& variant = *find_variant(row.variant);
    std::string reason;
    const bool is_choice =
        row.role == Role::best || row.role == Role::comparator || !row.schedule.empty();
    const Config* config =
        row.schedule.empty()
            ? (is_choice ? choose_best : choose_config)(variant, row.config, *instance_, device_,
                                                        reason)
            : choose_of_schedule(variant, row.schedule, row.config, *instance_, device_, reason);
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
    row.schedule = config->info.schedule;
    row.movement = config->info.movement;
    if (device_.compute_capability < variant.traits.native_from) {
      row.fallback = fmt::format("plain copies: the mechanism needs compute capability {}.{}",
                                 variant.traits.native_from / 10, variant.traits.native_from % 10);
    }
    for (const KernelUse& k : config->info.kernels) {
      row.evidence.push_back(amasia::resources_of(k, device_));
    }
    auto run = std::make_unique<PreparedRun>(config->prepare(*instance_, device_), plan_.key.launch,
                                             sampler_.stream());
    row.verdict = verdict_of(*run);
    if (row.verdict->passed) runs_[index] = std::move(run);
  }

  bool can_be_blocked(int index) const override { return runs_.at(index)->can_be_blocked(); }

  TimedRun time(int index) override {
    return sampler_.time(*runs_.at(index), *instance_, plan_.key.cache);
  }

  Verdict verify(int index) override { return verdict_of(*runs_.at(index)); }

  std::optional<double> energy_mj(int index) override {
    constexpr double batch_seconds = 0.6;  // dozens of refreshes of the energy counter
    return sampler_.energy_mj(*runs_.at(index), *instance_, batch_seconds);
  }

  void export_outputs() override {
    find_app(plan_.key.app)->export_outputs(plan_.key.size, *instance_);
  }

  std::string throttle_reasons() const override { return nvml_.throttle_reasons(); }

 private:
  /// Of the challenges and of the timed input, which comes last: its outputs stay.
  Verdict verdict_of(const PreparedRun& run) {
    Verdict verdict;
    verdict.passed = true;
    std::int64_t checked = 0;
    for (int left = instance_->challenges(); left >= 0; --left) {
      instance_->pose(left);
      if (!verdict.passed) continue;  // the timed input is put back all the same
      sampler_.run_once(run, *instance_);
      verdict = instance_->verify();
      checked += verdict.checked;
      if (left > 0 && !verdict.passed) verdict.norm += fmt::format(", on challenge {}", left);
    }
    verdict.checked = checked;
    return verdict;
  }

  const PlannedGroup& plan_;
  const Device& device_;
  Nvml nvml_;
  Sampler sampler_;
  std::unique_ptr<Instance> instance_;
  std::map<int, std::unique_ptr<PreparedRun>> runs_;
};

class CudaInstrument : public Instrument {
 public:
  explicit CudaInstrument(const Device& device) : device_(device) {}

  const Device& device() const override { return device_; }
  std::map<std::string, std::string> state() const override {
    return Nvml(device_.pci_bus_id).state();
  }
  Stream stream() const override { return stream_; }

  std::unique_ptr<GroupInstrument> open(const PlannedGroup& plan) override {
    return std::make_unique<CudaGroup>(plan, device_);
  }

  KernelEvidence resources_of(const KernelUse& k) override {
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
  Device device_;
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
