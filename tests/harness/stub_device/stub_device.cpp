#include "tests/harness/stub_device/stub_device.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "harness/gpu/verification.hpp"
#include "harness/registry.hpp"
#include "harness/user_kernel/trial.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

struct StubOutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct StubBroken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An empty object where there is none.
const Json& member(const Json& object, const char* name) {
  static const Json none = Json::object();
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

/// The element for this call of a list that repeats itself; `otherwise` when there is no list.
template <class T>
T cyclic(const Json& list, int call, T otherwise) {
  if (!list.is_array() || list.empty()) return otherwise;
  return list[static_cast<std::size_t>(call) % list.size()].get<T>();
}

void log_line(const Json& script, const std::string& line) {
  const Json& path = member(script, "log");
  if (path.is_string()) std::ofstream(path.get<std::string>(), std::ios::app) << line << '\n';
}

Device stub_device(const Json& script) {
  const Json& given = member(script, "device");
  Device d;
  d.name = given.value("name", "Stub 1");
  d.compute_capability = 90;
  d.sm_count = 8;
  d.memory_bytes = d.free_bytes = std::size_t{1} << 30;
  d.l2_bytes = 1 << 20;
  d.driver_version = d.runtime_version = 13000;
  d.uuid_hash = given.value("uuid", "00000000stub");
  d.max_clock_mhz = given.value("clock_mhz", 0);
  d.memory_clock_mhz = given.value("memory_clock_mhz", 0);
  d.memory_bus_bits = given.value("memory_bus_bits", 0);
  return d;
}

class StubGroup : public GroupInstrument {
 public:
  StubGroup(const Json& script, const PlannedGroup& plan) : script_(script) {
    script_.update(member(member(script, "of_size"), plan.key.size.to_string().c_str()));
    log_line(script, "open " + plan.key.to_string());
    first_ = is_first(plan);
    is_hot_ = plan.key.cache == CacheMode::hot;
    break_down(member(script_, "open"));
    // What is loaded at run time really runs, on the host.
    if (const InstanceFactory* factory = find_instance_factory(plan.key.app)) {
      instance_ = (*factory)(plan.key.size, plan.seed);
    }
    for (const Json& words : member(script, "stdout")) {
      const auto text = words.get<std::string>();
      if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) std::abort();
    }
  }

  void prepare(int index, Row& row) override {
    State& state = rows_[index];
    if (!choose(row)) return;
    state.script = script_of(row);
    state.name = fmt::format("{} {}", row.variant, row.config);
    if (const Json& why = member(state.script, "skipped"); why.is_string()) {
      row.status = RowStatus::skipped;
      row.reason = why.get<std::string>();
      return;
    }
    fault(state, "prepare");
    if (!instance_) {
      row.verdict = verdict(state.script, "wrong");
      if (const Json& why = member(state.script, "elsewhere"); why.is_string()) {
        row.verdict->passed = false;
        row.reason = why.get<std::string>();
      }
      return;
    }
    const Variant& variant = *find_variant(row.variant);
    const Config& config = variant.configs.front();
    if (const auto why = config.unsupported(*instance_, stub_device(script_))) {
      row.status = RowStatus::skipped;
      row.reason = *why;
      return;
    }
    state.launch = config.prepare(*instance_, stub_device(script_));
    if (!variant.user_kernel || variant.user_kernel->capturable) {
      row.verdict = verdict_of_run(state);
    } else {
      prepare_by_trial(state, row);
    }
  }

  Instance* instance() override { return instance_.get(); }

  Verdict verify_nothing() override {
    log_line(script_, "nothing");
    if (instance_) {
      instance_->reset(stream());
      return instance_->verify();
    }
    const bool poisoned = script_.value("poisoned", true);
    return {!poisoned, "exact", poisoned ? 100.0 : 0.0, 0, 100};
  }

  bool can_be_blocked(int index) const override {
    return rows_.at(index).can_be_blocked && rows_.at(index).script.value("blocked", true);
  }

  TimedRun time_again(int index) override {
    State& state = rows_.at(index);
    TimedRun run = state.last;
    run.time_ms *= cyclic(member(state.script, "second"), state.again++, 1.0);
    return run;
  }

  TimedRun time(int index) override { return rows_.at(index).last = next_time(index); }

  TimedRun next_time(int index) {
    State& state = rows_.at(index);
    fault(state, "time");
    const double run_ms = instance_ ? timed(state.launch, is_hot_) : 0;
    // The first call of each row is the unrecorded one: the lists begin with the second.
    const int call = state.timed++ - 1;
    const Json& row = state.script;
    if (const double s = row.value("sleep_s", 0.0); s > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(s));
    }
    TimedRun run;
    const int sample = std::max(call, 0);
    constexpr double pattern[] = {0, 1, -1, 0.5, -0.5, 0.25, -0.25};
    const double wave = pattern[static_cast<std::size_t>(sample + index) % 7];
    const bool by_the_clock = state.by_trial && !row.contains("ms");
    run.time_ms =
        cyclic(member(row, "times"), sample,
               by_the_clock ? run_ms : row.value("ms", 1.0) * (1 + row.value("noise", 0.0) * wave));
    run.time_ms *= cyclic(member(script_, "drift"), sample, 1.0);
    if (member(row, "clock_mhz").is_array()) {
      run.sm_clock_mhz = cyclic(member(row, "clock_mhz"), sample, 0.0);
    }
    run.throttled = cyclic(member(row, "throttled"), sample, false);
    run.left_set = row.value("left_set", "");
    return run;
  }

  void count(int index) override {
    State& state = rows_.at(index);
    fault(state, "count");
    log_line(script_, "count " + state.name);
  }

  Verdict verify(int index) override {
    State& state = rows_.at(index);
    fault(state, "verify");
    if (!instance_) return verdict(state.script, "wrong_after");
    instance_->try_again(state.launch);
    return verdict_of_run(state);
  }

  std::optional<double> energy_mj(int index) override {
    const Json& energy = member(rows_.at(index).script, "energy_mj");
    return energy.is_number() ? std::optional<double>(energy.get<double>()) : std::nullopt;
  }
  void export_outputs() override { log_line(script_, "export"); }
  std::string throttle_reasons() const override { return "stub power cap"; }

  std::optional<ProbeTimes> probe() override {
    const Json& probe = member(attempt_script(), "probe");
    if (probe.empty()) return std::nullopt;
    // One every millisecond; the GPU's clock is an hour ahead, and the host sees an end 4 us late.
    const int call = probes_++;
    constexpr double hour_us = 3.6e9;
    ProbeTimes times;
    times.launched_us = 1000.0 * call;
    times.began_us = hour_us + times.launched_us + 5 + cyclic(member(probe, "wait_us"), call, 0.0);
    times.arithmetic_cycles = cyclic(member(probe, "cycles"), call, 8000.0);
    times.memory_us = cyclic(member(probe, "memory_us"), call, 10.0);
    times.ended_us = times.began_us + 5 + times.memory_us;
    times.done_us = times.ended_us - hour_us + 4;
    return times;
  }
  std::map<std::string, std::string> device_state() const override {
    return member(attempt_script(), "state_after").get<std::map<std::string, std::string>>();
  }

 private:
  /// The second attempt at a group may go another way.
  const Json& attempt_script() const {
    const Json& again = member(script_, "again");
    return again.empty() || first_ ? script_ : again;
  }

  struct State {
    Json script{};
    std::string name{};  // variant and config
    int timed = 0, again = 0;
    TimedRun last{};
    Launch launch{};
    bool by_trial = false, can_be_blocked = true;
    std::map<std::string, int> calls{};
  };

  Verdict verdict_of_run(const State& state) {
    return verdict_of(*instance_, instance_->challenges(), [&] { timed(state.launch); });
  }

  /// The handle of the stub's stream, or of the one that the instance brought.
  Stream stream() const {
    constexpr std::uintptr_t own = 0x57ab;
    return instance_->stream().value_or(reinterpret_cast<Stream>(own));
  }

  /// Restores and runs, behind another run where the cache is hot; by the host's clock in ms.
  double timed(const Launch& launch, bool is_hot = false) {
    bool needs_reset = true;
    if (is_hot) {
      needs_reset = instance_->reset_for_hot_run(stream());
      launch(stream());
    }
    if (needs_reset) instance_->reset(stream());
    const auto begin = std::chrono::steady_clock::now();
    launch(stream());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  /// As the GPU's instrument does it.
  void prepare_by_trial(State& state, Row& row) {
    const Json& script = state.script;
    TrialSteps steps;
    steps.passes_untouched = [&] {
      instance_->reset(stream());
      return instance_->verify().passed;
    };
    steps.until_done = [&](bool launched) {
      if (!launched) return DoneTimes{};
      const double ms = timed(state.launch);
      return DoneTimes{ms, ms + script.value("side_stream_ms", 0.0)};
    };
    steps.returns_while_held = [&] {
      timed(state.launch);
      return !script.value("waits", false);
    };
    steps.time = [&](bool) {
      const double ms = timed(state.launch);
      return script.value("ms", ms);
    };
    steps.time_of_nothing = [&] { return script_.value("nothing_ms", 0.0); };
    if (row.repeat == 0) tried_[row.variant] = try_out(steps, instance_->poisons());
    const TrialOutcome& outcome = tried_.at(row.variant);
    if (!outcome.objection.empty()) {
      row.status = RowStatus::failed;
      row.reason = outcome.objection;
      return;
    }
    if (!outcome.can_be_blocked) row.fallback = not_held_back;
    state.by_trial = true;
    state.can_be_blocked = outcome.can_be_blocked;
    row.verdict = verdict_of_run(state);
  }

  Json script_of(const Row& row) const {
    Json merged = Json::object();
    const Json& rows = member(script_, "rows");
    const std::string in_role = fmt::format("{} {}", row.variant, word_of(row.role));
    for (const std::string& name : {row.variant, row.variant + " at " + row.config, in_role,
                                    in_role + (row.repeat > 0 ? " control" : " first")}) {
      if (rows.contains(name)) merged.update(rows[name]);
    }
    return merged;
  }

  /// As harness/gpu/preparation.hpp chooses, where every config can run. False: skipped.
  static bool choose(Row& row) {
    const Variant& variant = *find_variant(row.variant);
    if (!row.schedule.empty() && row.config.empty()) {
      for (const Declined& d : variant.declined) {
        if (d.schedule == row.schedule) row.reason = d.reason;
      }
      for (const Config& c : variant.configs) {
        if (row.config.empty() && c.info.schedule == row.schedule) row.config = c.info.name;
      }
      if (row.config.empty()) row.status = RowStatus::skipped;
    }
    if (row.status == RowStatus::skipped) return false;
    if (row.config.empty()) row.config = "wide";
    for (const Config& c : variant.configs) {
      if (c.info.name != row.config) continue;
      row.schedule = c.info.schedule;
      row.movement = c.info.movement;
    }
    return true;
  }

  /// Exact, or within a bound of 1 if the script has an error.
  static Verdict verdict(const Json& row, const char* when_wrong) {
    const bool wrong = row.value(when_wrong, false);
    Verdict v{!wrong, "exact", wrong ? 1.0 : 0.0, 0, 100, wrong ? 1 : 0};
    if (row.contains("error")) {
      v.norm = "relative";
      v.error = row.value("error", 0.0);
      v.bound = 1;
    }
    if (wrong) v.first_mismatches.push_back("7: got 3, expected 4");
    return v;
  }

  void fault(State& state, const std::string& at) {
    const Json& f = member(state.script, "fault");
    if (!f.empty() && f.value("at", "prepare") == at && state.calls[at]++ == f.value("call", 0)) {
      break_down(f);
    }
  }

  /// Whether this is the first process to open the group.
  bool is_first(const PlannedGroup& plan) const {
    const Json& path = member(script_, "log");
    if (!path.is_string()) return true;
    std::ifstream log(path.get<std::string>());
    int opened = 0;
    for (std::string line; std::getline(log, line);) {
      opened += line == "open " + plan.key.to_string();
    }
    return opened <= 1;
  }

  Json script_;
  std::unique_ptr<Instance> instance_{};
  bool is_hot_ = false;
  bool first_ = true;
  int probes_ = 0;
  std::map<int, State> rows_;
  std::map<std::string, TrialOutcome> tried_;
};

class StubInstrument : public Instrument {
 public:
  explicit StubInstrument(Json script) : script_(std::move(script)), device_(stub_device(script_)) {
    break_down(member(member(script_, "device"), "fault"));
  }
  const Device& device() const override { return device_; }
  std::map<std::string, std::string> state() const override {
    log_line(script_, "device");
    const Json& given = member(script_, "state");
    return given.empty() ? std::map<std::string, std::string>{{"power_limit_w", "700"}}
                         : given.get<std::map<std::string, std::string>>();
  }
  Stream stream() const override { return nullptr; }
  std::unique_ptr<GroupInstrument> open(const PlannedGroup& plan) override {
    return std::make_unique<StubGroup>(script_, plan);
  }
  KernelEvidence resources_of(const KernelUse&) override { return {}; }
  Trouble trouble_of(const std::exception& error) override {
    if (dynamic_cast<const StubOutOfMemory*>(&error) != nullptr) return Trouble::no_memory;
    if (dynamic_cast<const StubBroken*>(&error) != nullptr) return Trouble::device;
    return Trouble::row;
  }
  std::string other_processes() const override {
    const Json& named = member(script_, "company");
    return named.is_string() ? named.get<std::string>() : "";
  }

 private:
  Json script_;
  Device device_;
};

}  // namespace

void break_down(const Json& fault) {
  if (fault.empty()) return;
  if (const Json& after = member(fault, "after"); after.is_string()) {
    if (::access(after.get<std::string>().c_str(), F_OK) != 0) return;
  }
  if (const Json& once = member(fault, "once"); once.is_string()) {
    const int file = ::open(once.get<std::string>().c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666);
    if (file < 0) return;
    ::close(file);
  }
  const std::string what = fault.value("do", "abort");
  if (what == "abort") std::abort();
  if (what == "exit") _exit(7);
  if (what == "kill") ::kill(::getpid(), SIGKILL);
  if (what == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (what == "babble") {
    for (;;) {
      std::puts("{\"row\": 0, \"line\": \"still here\"}");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  if (what == "throw") throw std::runtime_error("the stub threw");
  if (what == "no_memory") throw StubOutOfMemory("out of device memory (stub)");
  if (what == "break") throw StubBroken("the context of the stub is broken");
  throw std::logic_error("a stub cannot do " + what);
}

const Json& stub_script() {
  static const Json script = [] {
    const char* text = std::getenv("AMASIA_STUB");
    return text == nullptr ? Json::object() : Json::parse(text);
  }();
  return script;
}

std::unique_ptr<Instrument> make_stub_instrument(Json script) {
  return std::make_unique<StubInstrument>(std::move(script));
}

double stub_ceiling(const std::string& name) {
  const Json& values = member(member(stub_script(), "ceilings"), name.c_str());
  if (!values.is_array() || values.empty()) return 1000;
  // Which attempt this is, is in the log: one line for each process that was asked for ceilings.
  static const std::size_t attempt = [] {
    const Json& path = member(stub_script(), "log");
    std::ifstream log(path.is_string() ? path.get<std::string>() : "");
    std::size_t before = 0;
    for (std::string line; std::getline(log, line);) before += line == "ceilings";
    log_line(stub_script(), "ceilings");
    return before;
  }();
  return values[std::min(attempt, values.size() - 1)].get<double>();
}

Reading stub_reading(int point, int call) {
  const Json& script = member(member(stub_script(), "points"), std::to_string(point).c_str());
  if (const Json& why = member(script, "unavailable"); why.is_string()) {
    throw Unavailable(why.get<std::string>());
  }
  if (call == 0) log_line(stub_script(), fmt::format("point {}", point));
  if (call == 1) break_down(member(script, "fault"));
  Reading reading{cyclic(member(script, "values"), std::max(call - 1, 0), 100.0 + point),
                  10.0 + call};
  if (const Json& ns = member(script, "time_ns"); ns.is_array()) {
    reading.time_ns = cyclic(ns, std::max(call - 1, 0), 0.0);
  }
  return reading;
}

}  // namespace amasia
