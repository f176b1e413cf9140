#include "harness/callables/compare.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "harness/outside/outside_app.hpp"
#include "harness/outside/trial.hpp"
#include "harness/plan/plan.hpp"
#include "harness/registry.hpp"
#include "harness/report/cells.hpp"
#include "harness/report/sentences.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/completion.hpp"
#include "harness/session/session.hpp"
#include "inputs/random.hpp"

namespace amasia {
namespace {

class CallableInstance : public Instance {
 public:
  CallableInstance(const Callables& callables, std::uint64_t seed)
      : callables_(callables), seed_(seed) {}

  void reset(Stream stream) override { reset_on(seed_, stream); }

  bool reset_for_hot_run(Stream stream) override {
    reset_on(mix64(seed_) >> 16, stream);  // of 48 bits, as those of rounds
    return callables_.inputs || callables_.reset;
  }

  void renew(std::uint64_t seed, bool) override { seed_ = seed; }

  Renewal renewal() const override {
    return {callables_.inputs ? "new in every round"
                              : "the same in every round: nothing makes new "
                                "ones (inputs)"};
  }

  // The outputs are the caller's, and cannot be kept: they are judged at once.
  void keep(int row) override {
    if (callables_.verify) kept_[row] = verify();
  }

  std::optional<Verdict> verify_kept(int row) override {
    const auto found = kept_.find(row);
    return found == kept_.end() ? std::nullopt : std::optional<Verdict>(found->second);
  }

  Verdict verify() override {
    Verdict verdict;
    verdict.norm = callables_.verify ? "the caller's" : "not verified";
    const std::string wrong = callables_.verify ? callables_.verify() : "";
    verdict.passed = wrong.empty();
    if (!verdict.passed) {
      verdict.error = 1;
      verdict.mismatches = 1;
      verdict.first_mismatches.push_back(wrong);
    }
    verdict.checked = callables_.verify ? 1 : 0;
    return verdict;
  }

  // Without a reset a run that is timed may be the thousandth on its own outputs.
  bool repeatable() const override { return !callables_.reset; }
  bool poisons() const override { return callables_.reset && callables_.verify; }
  std::optional<Stream> stream() const override { return callables_.stream; }

 private:
  void reset_on(std::uint64_t seed, Stream stream) {
    if (callables_.inputs && std::exchange(posed_, seed) != seed) callables_.inputs(stream, seed);
    if (callables_.reset) callables_.reset(stream);
  }

  const Callables& callables_;
  std::uint64_t seed_;
  std::optional<std::uint64_t> posed_{};  // the seed whose inputs are there
  std::map<int, Verdict> kept_{};         // by row
};

OutsideApp app_of(const Callables& callables) {
  OutsideApp app;
  app.name = callables.name;
  app.summary = "callables of another language";
  for (const auto& [name, value] : callables.size) {
    ParameterSpec spec;
    spec.name = name;
    spec.kind = ParameterSpec::Kind::choice;
    spec.help = "the caller's";
    spec.default_value = value;
    spec.choices = {value};
    app.parameters.push_back(std::move(spec));
  }
  app.sizes = {Parameters(app.parameters, {})};
  if (callables.work) app.work = [&callables](const Parameters&) { return *callables.work; };
  app.instance = [&callables](const Parameters&, std::uint64_t seed) {
    return std::make_unique<CallableInstance>(callables, seed);
  };
  for (std::size_t i = 0; i < callables.names.size(); ++i) {
    OutsideImplementation implementation;
    implementation.name = callables.names[i];
    implementation.capturable = false;
    implementation.prepare = [&callables, i](const Instance&, const Device&) -> Launch {
      return [&callables, i](Stream stream) { callables.enqueue(i, stream); };
    };
    app.implementations.push_back(std::move(implementation));
  }
  return app;
}

PlannedGroup plan_of(const Callables& callables, const std::string& device) {
  PlannedGroup plan;
  plan.key.app = callables.name;
  plan.key.size = find_app(callables.name)->sizes(Preset::quick).front();
  plan.key.cache = callables.cache;
  plan.effort = callables.effort;
  plan.rows = comparison_rows(callables.name, plan.key.size, variants_of(callables.name),
                              {Role::best}, TuningTable{}, device, plan.key.cache, plan.key.launch);
  return plan;
}

std::map<std::string, std::string> settings_of(const Callables& c) {
  return {{"patterns", c.name},
          {"cache", std::string(word_of(c.cache))},
          {"launch", std::string(word_of(LaunchMode::stream))},
          {"roles", std::string(word_of(Role::best))},
          {"min_rounds", std::to_string(c.effort.min_rounds)},
          {"max_rounds", std::to_string(c.effort.max_rounds)},
          {"seconds", fmt::format("{}", c.effort.seconds)},
          {"precision", fmt::format("{}", c.effort.precision)},
          {"confidence", fmt::format("{}", c.effort.confidence)},
          {"cold_method", "flush: 4 x L2 read before each run"}};
}

void warn(GroupResult& group, const Callables& callables) {
  if (!callables.verify) {
    group.warnings.emplace_back("nothing was verified: give a verify, which looks at the outputs");
  } else if (!callables.reset) {
    group.warnings.emplace_back(
        "what a run writes is verified where the one before has written the same: give a reset, "
        "which poisons the outputs");
  }
  for (const Row& row : group.rows) {
    if (row.fallback == not_held_back && row.repeat == 0) {
      group.warnings.push_back(fmt::format("{}: {}", row.config, row.fallback));
    }
  }
}

}  // namespace

ResultFile compare_callables(const Callables& callables) {
  const OutsideRegistration registration = register_outside_app(app_of(callables));
  SessionOptions options;
  options.in_process = true;  // the callables are nowhere else
  options.device_index = callables.device;
  const Provenance queried = query_in_child(options);

  ResultFile file;
  file.provenance = collect_provenance(callables.argv, "", settings_of(callables));
  file.provenance.device = queried.device;
  file.provenance.device_state = queried.device_state;
  Completion completion(queried.device, {}, CodeEvidence("", queried.device.compute_capability));
  Circumstances around;
  around.state_at_start = queried.device_state;
  bool interrupted = false;
  file.groups.push_back(run_judged(
      plan_of(callables, queried.device.name), options,
      [&](GroupResult& group) { completion.complete(group); }, around,
      [&](const std::string& line) {
        if (callables.progress) callables.progress(line);
      },
      interrupted));
  warn(file.groups.back(), callables);
  return file;
}

std::string answer(const Comparison& comparison, const std::string& baseline) {
  const std::string name =
      comparison.control ? baseline + " again" : strategy_of(comparison.variant);
  return sentence_of(comparison, name, baseline);
}

}  // namespace amasia
