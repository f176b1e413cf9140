// A problem and its implementations loaded at run time: kernels of a file (amasia bench),
// implementations of another language. Registered as an app, so that planning, measuring, judging
// and reporting are those of every app. Nothing here knows of CUDA or of a description's format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/app.hpp"
#include "harness/device.hpp"
#include "harness/variant.hpp"

namespace amasia {

/// One way of doing the work.
struct UserImplementation {
  /// As rows, exports and reports call it (objection_to_name()). The baseline's is the name of its
  /// config, because its row is always "<app>/baseline".
  std::string name;
  /// Makes a launch of this instance ready; not timed. A std::runtime_error with a sentence costs
  /// this implementation its rows, and nobody else.
  std::function<Launch(const Instance&, const Device&)> prepare;
  /// Why it cannot run this instance on this device, a sentence.
  std::function<std::optional<std::string>(const Instance&, const Device&)> unsupported =
      [](const Instance&, const Device&) -> std::optional<std::string> { return std::nullopt; };
  /// The kernels of a run, for registers, shared memory and occupancy; asked after prepare(). Empty
  /// member: nobody knows them, and the rows have no evidence.
  std::function<std::vector<KernelUse>(const Instance&, const Device&)> kernels{};
  /// The file that holds the machine code or PTX of these kernels, for their instruction counts;
  /// "" where there is none.
  std::string code{};
  /// SHA-256 (hex) of all that it is made of: what source_digest of its rows is.
  std::string digest{};
  /// Where it was described, "saxpy.toml:14"; stands before the reason when a row goes wrong.
  std::string place{};
  /// Why it must not run, found before anything ran: its rows are `crashed` with this reason.
  std::string broken{};
  bool capturable = true;  // UserKernel::capturable
};

/// One problem, and two or more ways of doing it.
struct UserApp {
  std::string name;  // as an implementation's; of no app there is
  std::string summary{};
  std::vector<ParameterSpec> parameters{};
  std::vector<Parameters> sizes{};  // what every preset runs; at least one
  /// The least any implementation must do; empty member: not known, and there is no floor.
  std::function<Work(const Parameters&)> work{};
  /// Device memory of one instance; empty member: not known, 0.
  std::function<std::int64_t(const Parameters&)> device_bytes{};
  /// Poses the problem and judges its outputs. See Instance: reset() poisons, verify() compares.
  InstanceFactory instance;
  /// The first is the baseline, which every other is compared with.
  std::vector<UserImplementation> implementations{};
  /// The file that child processes read to register the same app. Empty where nothing can make it
  /// again in another process: then it is measured in this one (SessionOptions::in_process).
  std::string description{};
};

/// What stands against a name of a problem or an implementation, in a few words; "" when nothing
/// does.
std::string objection_to_name(std::string_view name);

/// Takes part as long as this lives.
class [[nodiscard]] UserRegistration {
 public:
  explicit UserRegistration(std::string app) : app_(std::move(app)) {}
  ~UserRegistration();
  UserRegistration(UserRegistration&& other) noexcept : app_(std::move(other.app_)) {
    other.app_.clear();
  }
  UserRegistration(const UserRegistration&) = delete;
  UserRegistration& operator=(const UserRegistration&) = delete;
  UserRegistration& operator=(UserRegistration&&) = delete;
  const std::string& app() const { return app_; }

 private:
  std::string app_;  // empty once moved from
};

/// What register_user_app() throws, for who has more to do before that.
void check_user_app(const UserApp& app);

/// Registers the app, its baseline as the strategy `baseline` and each other implementation under
/// its own name. Throws UsageError, one line, for a bad or taken name, fewer than two
/// implementations, no size, and a missing function.
UserRegistration register_user_app(UserApp app);

}  // namespace amasia
