// amasia-gbench: every case of the suite as a Google Benchmark, with its native flags
// (--benchmark_filter, --benchmark_repetitions, --benchmark_out, ...) and tools/compare.py. The
// time is the suite's own: Sampler::time(), cold, launched in a stream, verified before it counts.
//
// AMASIA_PRESET chooses the sizes: smoke, quick (default), paper, sweep.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"
#include "harness/gpu/preparation.hpp"
#include "harness/gpu/sampler.hpp"
#include "harness/plan/study.hpp"
#include "harness/registry.hpp"

namespace amasia {
namespace {

constexpr std::uint64_t seed = 20211;

/// What all cases share; the instance of the size at work is kept until another size is asked for.
class Bench {
 public:
  explicit Bench(const Device& device)
      : device_(device), nvml_(device.pci_bus_id), sampler_(device, nvml_) {}

  void run(benchmark::State& state, const Variant& variant, const std::string& config_name,
           const App& app, const Parameters& size) {
    try {
      Instance& instance = instance_for(app, size);
      std::string reason;
      const Config* config = choose_config(variant, config_name, instance, device_, reason);
      if (config == nullptr) return state.SkipWithError(reason.c_str());
      const PreparedRun prepared(config->prepare(instance, device_), LaunchMode::stream,
                                 sampler_.stream());
      sampler_.run_once(prepared, instance);
      if (!instance.verify().passed) return state.SkipWithError("wrong result");
      for (auto _ : state) {
        state.SetIterationTime(sampler_.time(prepared, instance, CacheMode::cold).time_ms * 1e-3);
      }
      const Work work = app.work(size);
      state.SetLabel(config->info.name);
      state.counters["bytes"] = benchmark::Counter(work.bytes_read + work.bytes_written,
                                                   benchmark::Counter::kIsIterationInvariantRate);
      state.counters["operations"] =
          benchmark::Counter(work.operations, benchmark::Counter::kIsIterationInvariantRate);
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
  }

 private:
  Instance& instance_for(const App& app, const Parameters& size) {
    const std::string key = fmt::format("{} {}", app.name(), size.to_string());
    if (key != key_) {
      instance_.reset();
      key_.clear();
      instance_ = (*find_instance_factory(app.name()))(size, seed);
      key_ = key;
    }
    return *instance_;
  }

  Device device_;
  Nvml nvml_;
  Sampler sampler_;
  std::string key_;
  std::unique_ptr<Instance> instance_;
};

int bench_main(int argc, char** argv) {
  const char* chosen = std::getenv("AMASIA_PRESET");
  const Preset preset = chosen == nullptr ? Preset::quick : preset_from(chosen);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return exit_usage;
  std::string reason;
  if (device_count(reason) == 0) {
    fmt::print(stderr, "amasia-gbench: no usable GPU: {}\n", reason);
    return exit_no_device;
  }
  Bench bench(query_device(0));
  for (const App* app : apps()) {
    for (const Parameters& size : app->sizes(preset)) {
      for (const Variant* v : variants_of(app->name())) {
        for (const auto& [role, config] :
             {std::pair<Role, std::string>{Role::iso, v->configs.front().info.name},
              {Role::best, ""}}) {
          benchmark::RegisterBenchmark(
              fmt::format("{}/{}/{}", v->name(), word_of(role), size.to_string()).c_str(),
              [&bench, v, config = config, app, size](benchmark::State& state) {
                bench.run(state, *v, config, *app, size);
              })
              ->UseManualTime()
              ->Unit(benchmark::kMillisecond);
        }
      }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return exit_ok;
}

}  // namespace
}  // namespace amasia

int main(int argc, char** argv) {
  try {
    return amasia::bench_main(argc, argv);
  } catch (const amasia::UsageError& error) {
    std::fprintf(stderr, "amasia-gbench: %s\n", error.what());
    return amasia::exit_usage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "amasia-gbench: %s\n", error.what());
    return amasia::exit_wrong_result;
  }
}
