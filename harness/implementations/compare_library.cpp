// libamasia_compare: implementations of another language, for callers of C such as the Python
// package amasia (amasia/library.py); the two are of one version. They are compared in this
// process: registered as an app for as long as they are measured, by the sampler, schedule and
// statistics of every app.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/plan/plan.hpp"
#include "harness/registry.hpp"
#include "harness/report/report.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/completion.hpp"
#include "harness/session/session.hpp"
#include "harness/user_kernel/trial.hpp"
#include "harness/user_kernel/user_app.hpp"
#include "inputs/random.hpp"

extern "C" {

/// Called back with what is to be done, on the thread that called amasia_compare(). 0 and more: the
/// work of that implementation is to be enqueued on `stream` (a cudaStream_t). `text` takes up to
/// `size` bytes, zero-terminated, of what is wrong (AMASIA_VERIFY), and has the line to show
/// (AMASIA_PROGRESS). AMASIA_INPUTS: inputs of the seed `size` are to be enqueued on `stream`.
enum { AMASIA_RESET = -1, AMASIA_VERIFY = -2, AMASIA_PROGRESS = -3, AMASIA_INPUTS = -4 };
/// What comes back: done, outputs wrong (AMASIA_VERIFY only), or that everything is to end.
enum { AMASIA_DONE = 0, AMASIA_WRONG = 1, AMASIA_STOP = 2 };
using amasia_callback = int (*)(int what, void* stream, char* text, unsigned long size);

/// Of the suite, "0.1.0".
const char* amasia_compare_version(void);

/// Compares as `request` says, a JSON object with these members.
///   What: "name", "names": [...], "size": {name: integer or text, ...}, not empty.
///   How: "cache": "cold" | "hot", "reset": bool, "verify": bool, "inputs": bool.
///   Effort: "seconds", "min_rounds", "max_rounds", "precision", "confidence".
///   Where: "device", "stream": null or an integer, "argv": [...], "progress": bool.
///   Work: "work": null or {"operations", "bytes_read", "bytes_written"}.
///
/// Answers with a JSON object, to be given back to amasia_compare_free(). On success it is
/// {"result": a result file, "answers": [a sentence for each comparison, in their order]}. Else it
/// is {"error": "usage" | "no device" | "stopped" | "failed", "message"}. Null: there is no memory
/// for an answer. One call at a time.
char* amasia_compare(const char* request, amasia_callback callback);
void amasia_compare_free(char* answer);

}  // extern "C"

namespace amasia {
namespace {

/// A callable ended with an exception of its language, which its caller keeps. Nothing more is
/// called.
class ImplementationFailed : public UsageError {
 public:
  using UsageError::UsageError;
};

constexpr std::size_t text_size = 1024;
using Text = std::array<char, text_size>;

/// What to compare, and how. The functions throw ImplementationFailed.
struct Implementations {
  std::string name{};                // of the problem, as results call it
  std::vector<std::string> names{};  // of the implementations; the first is the baseline
  std::vector<std::pair<std::string, std::string>> size{};
  std::function<void(std::size_t implementation, Stream)> enqueue{};
  // Empty members: no reset, so that every run may follow another; the same inputs in every round;
  // nobody knows whether a run was right ("" says that it was); nobody looks at progress.
  std::function<void(Stream)> reset{};
  std::function<void(Stream, std::uint64_t seed)> inputs{};
  std::function<std::string()> verify{};
  std::function<void(const std::string& line)> progress = [](const std::string&) {};
  std::optional<Stream> stream{};  // to run on; nothing: one of the harness
  std::optional<Work> work{};      // of one run, for its rates
  CacheMode cache = CacheMode::cold;
  Effort effort{};
  int device = 0;
  std::vector<std::string> argv{};
};

/// One call back; true where it was done, false where it found something wrong, which is in `text`.
bool called(amasia_callback callback, int what, Stream stream, char* text, std::uint64_t size) {
  const int answer = callback(what, stream, text, size);
  if (answer != AMASIA_DONE && answer != AMASIA_WRONG) {
    throw ImplementationFailed("the caller ended it");
  }
  return answer == AMASIA_DONE;
}

Implementations implementations_of(const Json& request, amasia_callback callback) {
  const auto take = [&](const char* name, auto& into) { request.at(name).get_to(into); };
  const auto is_given = [&](const char* name) { return request.at(name).get<bool>(); };
  const auto call = [callback](int what, Stream stream) {
    Text text{};
    called(callback, what, stream, text.data(), text.size());
  };
  Implementations c;
  take("name", c.name);
  take("names", c.names);
  c.enqueue = [call](std::size_t i, Stream stream) { call(static_cast<int>(i), stream); };
  if (is_given("reset")) c.reset = [call](Stream stream) { call(AMASIA_RESET, stream); };
  if (is_given("inputs")) {
    c.inputs = [callback](Stream stream, std::uint64_t seed) {
      called(callback, AMASIA_INPUTS, stream, nullptr, seed);
    };
  }
  if (is_given("verify")) {
    c.verify = [callback]() -> std::string {
      Text text{};
      if (called(callback, AMASIA_VERIFY, nullptr, text.data(), text.size())) return "";
      text.back() = '\0';
      return text.front() == '\0' ? "wrong" : text.data();
    };
  }
  if (is_given("progress")) {
    c.progress = [callback](const std::string& line) {
      Text text{};
      line.copy(text.data(), text.size() - 1);
      called(callback, AMASIA_PROGRESS, nullptr, text.data(), text.size());
    };
  }
  if (const Json& stream = request.at("stream"); !stream.is_null()) {
    // A handle travels through JSON as a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    c.stream = reinterpret_cast<Stream>(stream.get<std::uintptr_t>());
  }
  for (const auto& [name, value] : request.at("size").items()) {
    c.size.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (const Json& work = request.at("work"); !work.is_null()) {
    c.work.emplace();
    work.at("operations").get_to(c.work->operations);
    work.at("bytes_read").get_to(c.work->bytes_read);
    work.at("bytes_written").get_to(c.work->bytes_written);
  }
  c.cache = from_word<CacheMode>(request.at("cache").get<std::string>());
  take("min_rounds", c.effort.min_rounds);
  take("max_rounds", c.effort.max_rounds);
  take("seconds", c.effort.seconds);
  take("precision", c.effort.precision);
  take("confidence", c.effort.confidence);
  take("device", c.device);
  take("argv", c.argv);
  return c;
}

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
  std::map<std::string, std::string> settings = amasia::settings_of(c.effort);
  settings.merge(
      std::map<std::string, std::string>{{"patterns", c.name},
                                         {"cache", std::string(word_of(c.cache))},
                                         {"launch", std::string(word_of(LaunchMode::stream))},
                                         {"roles", std::string(word_of(Role::best))}});
  return settings;
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

/// The result, as a file of one group. What is wrong with an implementation is in the status of its
/// row.
ResultFile measured(const Implementations& implementations) {
  const UserRegistration registration = register_user_app(app_of(implementations));
  SessionOptions options;
  options.in_process = true;  // the implementations are nowhere else
  options.device_index = implementations.device;
  const Provenance queried = query_in_child(options);

  ResultFile file;
  file.provenance =
      collect_provenance(implementations.argv, "", settings_of(implementations), false, queried);
  Completion completion(queried.device, {}, CodeEvidence("", queried.device.compute_capability));
  Circumstances around;
  around.state_at_start = queried.device_state;
  bool interrupted = false;
  file.groups.push_back(run_judged(
      plan_of(implementations, queried.device.name), options,
      [&](GroupResult& group) { completion.complete(group); }, around, implementations.progress,
      interrupted));
  warn(file.groups.back(), implementations);
  return file;
}

Json compared(const Implementations& implementations) {
  const ResultFile file = measured(implementations);
  const std::string& baseline = implementations.names.front();
  Json answers = Json::array();
  for (const Comparison& c : file.groups.front().comparisons) {
    const std::string name = c.control ? baseline + " again" : strategy_of(c.variant);
    answers.push_back(sentence_of(c, name, baseline));
  }
  return {{"result", to_text(file)}, {"answers", std::move(answers)}};
}

Json answer_to(const char* request, amasia_callback callback) {
  const auto error = [](const char* kind, const std::exception& e) -> Json {
    return {{"error", kind}, {"message", e.what()}};
  };
  try {
    return compared(implementations_of(Json::parse(request), callback));
  } catch (const ImplementationFailed& e) {
    return error("stopped", e);
  } catch (const UsageError& e) {
    return error("usage", e);
  } catch (const NoDevice& e) {
    return error("no device", e);
  } catch (const std::exception& e) {
    return error("failed", e);
  }
}

}  // namespace
}  // namespace amasia

const char* amasia_compare_version() { return AMASIA_VERSION; }

char* amasia_compare(const char* request, amasia_callback callback) {
  std::string text;
  try {
    // A message may quote what is no UTF-8.
    text = amasia::compact(amasia::answer_to(request, callback));
  } catch (const std::exception&) {
    return nullptr;
  }
  auto* answer = static_cast<char*>(std::malloc(text.size() + 1));
  if (answer != nullptr) std::memcpy(answer, text.c_str(), text.size() + 1);
  return answer;
}

void amasia_compare_free(char* answer) { std::free(answer); }
