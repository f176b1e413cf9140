#include "harness/implementations/compare.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "harness/plan/plan.hpp"
#include "harness/registry.hpp"
#include "harness/report/report.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/completion.hpp"
#include "harness/session/session.hpp"
#include "harness/user_kernel/trial.hpp"
#include "harness/user_kernel/user_app.hpp"
#include "inputs/random.hpp"

namespace amasia {
namespace {

class ImplementationsInstance : public Instance {
 public:
  ImplementationsInstance(const Implementations& implementations, std::uint64_t seed)
      : implementations_(implementations), seed_(seed) {}

  void reset(Stream stream) override { reset_on(seed_, stream); }

  bool reset_for_hot_run(Stream stream) override {
    reset_on(mix64(seed_) >> 16, stream);  // of 48 bits, as those of rounds
    return implementations_.inputs || implementations_.reset;
  }

  void renew(std::uint64_t seed, bool) override { seed_ = seed; }

  Renewal renewal() const override {
    return {implementations_.inputs ? "new in every round"
                                    : "the same in every round: nothing makes new "
                                      "ones (inputs)"};
  }

  // The outputs are the caller's, and cannot be kept: they are judged at once.
  void keep(int row) override {
    if (implementations_.verify) kept_[row] = verify();
  }

  std::optional<Verdict> verify_kept(int row) override {
    const auto found = kept_.find(row);
    return found == kept_.end() ? std::nullopt : std::optional<Verdict>(found->second);
  }

  Verdict verify() override {
    Verdict verdict;
    verdict.norm = implementations_.verify ? "the caller's" : "not verified";
    const std::string wrong = implementations_.verify ? implementations_.verify() : "";
    verdict.passed = wrong.empty();
    if (!verdict.passed) {
      verdict.error = 1;
      verdict.mismatches = 1;
      verdict.first_mismatches.push_back(wrong);
    }
    verdict.checked = implementations_.verify ? 1 : 0;
    return verdict;
  }

  // Without a reset a run that is timed may be the thousandth on its own outputs.
  bool repeatable() const override { return !implementations_.reset; }
  bool poisons() const override { return implementations_.reset && implementations_.verify; }
  std::optional<Stream> stream() const override { return implementations_.stream; }

 private:
  void reset_on(std::uint64_t seed, Stream stream) {
    if (implementations_.inputs && std::exchange(inputs_there_, seed) != seed)
      implementations_.inputs(stream, seed);
    if (implementations_.reset) implementations_.reset(stream);
  }

  const Implementations& implementations_;
  std::uint64_t seed_;
  std::optional<std::uint64_t> inputs_there_{};  // the seed whose inputs are there
  std::map<int, Verdict> kept_{};                // by row
};

UserApp app_of(const Implementations& implementations) {
  UserApp app;
  app.name = implementations.name;
  app.summary = "callables of another language";
  for (const auto& [name, value] : implementations.size) {
    ParameterSpec spec;
    spec.name = name;
    spec.kind = ParameterSpec::Kind::choice;
    spec.help = "the caller's";
    spec.default_value = value;
    spec.choices = {value};
    app.parameters.push_back(std::move(spec));
  }
  app.sizes = {Parameters(app.parameters, {})};
  if (implementations.work)
    app.work = [&implementations](const Parameters&) { return *implementations.work; };
  app.instance = [&implementations](const Parameters&, std::uint64_t seed) {
    return std::make_unique<ImplementationsInstance>(implementations, seed);
  };
  for (std::size_t i = 0; i < implementations.names.size(); ++i) {
    UserImplementation implementation;
    implementation.name = implementations.names[i];
    implementation.capturable = false;
    implementation.prepare = [&implementations, i](const Instance&, const Device&) -> Launch {
      return [&implementations, i](Stream stream) { implementations.enqueue(i, stream); };
    };
    app.implementations.push_back(std::move(implementation));
  }
  return app;
}

PlannedGroup plan_of(const Implementations& implementations, const std::string& device) {
  PlannedGroup plan;
  plan.key.app = implementations.name;
  plan.key.size = find_app(implementations.name)->sizes(Preset::quick).front();
  plan.key.cache = implementations.cache;
  plan.effort = implementations.effort;
  plan.rows = comparison_rows(plan.key, variants_of(implementations.name), {Role::best},
                              TuningTable{}, device);
  return plan;
}

std::map<std::string, std::string> settings_of(const Implementations& c) {
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

void warn(GroupResult& group, const Implementations& implementations) {
  if (!implementations.verify) {
    group.warnings.emplace_back("nothing was verified: give a verify, which looks at the outputs");
  } else if (!implementations.reset) {
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

ResultFile compare_implementations(const Implementations& implementations) {
  const UserRegistration registration = register_user_app(app_of(implementations));
  SessionOptions options;
  options.in_process = true;  // the implementations are nowhere else
  options.device_index = implementations.device;
  const Provenance queried = query_in_child(options);

  ResultFile file;
  file.provenance = collect_provenance(implementations.argv, "", settings_of(implementations));
  file.provenance.device = queried.device;
  file.provenance.device_state = queried.device_state;
  Completion completion(queried.device, {}, CodeEvidence("", queried.device.compute_capability));
  Circumstances around;
  around.state_at_start = queried.device_state;
  bool interrupted = false;
  file.groups.push_back(run_judged(
      plan_of(implementations, queried.device.name), options,
      [&](GroupResult& group) { completion.complete(group); }, around,
      [&](const std::string& line) {
        if (implementations.progress) implementations.progress(line);
      },
      interrupted));
  warn(file.groups.back(), implementations);
  return file;
}

std::string answer(const Comparison& comparison, const std::string& baseline) {
  const std::string name =
      comparison.control ? baseline + " again" : strategy_of(comparison.variant);
  return sentence_of(comparison, name, baseline);
}

}  // namespace amasia
