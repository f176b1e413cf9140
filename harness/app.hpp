// What the harness asks of an application. No application is named in harness/: an app registers
// itself (App, host only) and, where CUDA is built, a factory for its device instance.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/parameters.hpp"
#include "harness/words.hpp"
#include "variants/host_device.hpp"

namespace amasia {

/// The least any implementation must do (docs/methodology.md, "Floor and rates").
struct Work {
  double operations = 0;  // arithmetic operations, an FMA is two
  /// What computes them: the CUDA cores, or the tensor cores on inputs of this type. tf32x3: on
  /// fp32 inputs that are two tf32 values each, by three products.
  enum class Kind { fp32, int32, tf32, bf16, e4m3, tf32x3 } kind = Kind::fp32;
  double bytes_read = 0;  // compulsory device-memory traffic
  double bytes_written = 0;
  double dependent_operations = 0;  // length of the longest chain of dependent ALU operations
};

/// False where nobody said what there is to do: of a problem loaded at run time.
constexpr bool has_work(const Work& w) {
  return w.operations + w.bytes_read + w.bytes_written + w.dependent_operations > 0;
}

template <>
struct Words<Work::Kind> {
  static constexpr std::string_view what = "kind of operation",
                                    list[] = {"fp32", "int32", "tf32", "bf16", "e4m3", "tf32x3"};
};

/// Outcome of comparing one output with the reference.
struct Verdict {
  bool passed = false;
  std::string norm{};        // e.g. "exact", "max abs error / max abs reference"
  double error = 0;          // in that norm
  double bound = 0;          // passed means error <= bound and nothing non-finite
  std::int64_t checked = 0;  // elements compared
  std::int64_t mismatches = 0;
  std::vector<std::string> first_mismatches{};  // at most 5, "(row, col): got 3, expected 4"
};

/// Whether timed rounds have new inputs, and what stays the same, in a clause.
struct Renewal {
  std::string what{};
  bool warns = false;  // an output that is kept from an earlier run could pass
};

/// One problem on the device: inputs, outputs, scratch. Created once per comparison group.
class Instance {
 public:
  virtual ~Instance() = default;
  /// Restores whatever a run overwrites and poisons every output byte. Asynchronous, never timed.
  virtual void reset(Stream stream) = 0;
  /// Compares the outputs of the last run with what they must be for the input that is posed.
  /// Synchronous.
  virtual Verdict verify() = 0;
  /// Verification also runs a variant on this many inputs beside the timed one: inputs on which an
  /// error shows that the timed one would hide.
  virtual int challenges() const { return 0; }
  /// Puts input `challenge` (1 ... challenges()) where the variants read theirs; 0: the timed one
  /// again. reset() follows before the next run.
  virtual void pose(int /*challenge*/) {}
  /// Whether a second run without reset() does the same work: false for in-place apps, whose output
  /// is not a valid input.
  virtual bool repeatable() const { return true; }
  /// Whether verify() must refuse what reset() leaves, before anything ran. False where an instance
  /// is loaded without one of the two.
  virtual bool poisons() const { return true; }
  /// The caller's stream to run on; nothing: one of the harness.
  virtual std::optional<Stream> stream() const { return std::nullopt; }

  // Of problems loaded at run time, whose implementations nobody knows: one may keep the
  // output of an input that it knows again.

  /// Makes of `seed` an input that no run has had, for reset() to restore; on a call with `move`
  /// the buffers change their places, too. Nothing where inputs are to stay.
  virtual void renew(std::uint64_t /*seed*/, bool /*move*/) {}
  /// Places that the buffers take in turns.
  virtual int places() const { return 1; }
  virtual Renewal renewal() const { return {}; }
  /// reset() for a run before the timed one, on another input where there are some. True: the timed
  /// one needs a reset() of its own.
  virtual bool reset_for_hot_run(Stream stream) {
    reset(stream);
    return !repeatable();
  }
  /// Keeps what the last run left as that of row `row`, in place of what was kept of it.
  virtual void keep(int /*row*/) {}
  /// Judges what was kept; nothing where nothing was.
  virtual std::optional<Verdict> verify_kept(int /*row*/) { return std::nullopt; }
  /// Whether a launch that was timed works beside its stream by now; the next verify() says so.
  virtual void try_again(const Launch& /*launch*/) {}
};

/// The typed instance variants receive: Problem holds device pointers, extents and coefficients.
template <class Problem>
class InstanceOf : public Instance {
 public:
  virtual const Problem& problem() const = 0;
};

/// One way to cut and order an app's work: tile, threads, work per thread, steps per pass,
/// persistence, work sharing, launch structure, occupancy bound, arithmetic unit. How data moves is
/// no part of it: that is the strategy, with parameters of its own (ConfigInfo::movement).
struct Schedule {
  std::string_view name;
  std::string_view summary;  // a sentence
};

class App {
 public:
  virtual ~App() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  virtual const std::vector<ParameterSpec>& parameters() const = 0;
  virtual std::vector<Parameters> sizes(Preset preset) const = 0;
  /// Every schedule of the app, for all strategies: apps/<app>/schedules.hpp. The first is "iso",
  /// the original geometry. Empty for an app whose configs are not divided into the two.
  virtual std::vector<Schedule> schedules() const { return {}; }
  virtual Work work(const Parameters& p) const = 0;
  /// Device memory one instance needs, all variants' scratch included. Throws UsageError on
  /// overflow.
  virtual std::int64_t device_bytes(const Parameters& p) const = 0;
  /// Runs the CPU reference and checks it against a second, independently written one; for machines
  /// without a GPU. Bound to small sizes by the caller.
  virtual Verdict check_reference(const Parameters& p, std::uint64_t seed) const = 0;
  /// The file from which a child process registers the same app; "" for one that is compiled in.
  virtual std::string description() const { return ""; }
  /// Writes what the parameters ask for (out_file), from the outputs of the run just verified on
  /// the timed input. Throws std::runtime_error with a sentence when a file cannot be written;
  /// measurements are kept.
  virtual void export_outputs(const Parameters&, Instance&) const {}
};

using InstanceFactory =
    std::function<std::unique_ptr<Instance>(const Parameters&, std::uint64_t seed)>;

/// Where something registers itself, for messages: the compiler fills it in at the call.
/// (std::source_location would say the same, and device code is C++17.)
struct SourceLine {
  const char* file = "";
  int line = 0;
  static constexpr SourceLine here(const char* file = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
    return {file, line};
  }
};
/// "mine/tma.cu:70", the file with its folder only; "" where it is not known.
std::string to_string(const SourceLine& place);

/// Both return true so that a namespace-scope constant can call them (static registration). A
/// second registration of a name ends the program before main(), with both places.
bool register_app(std::unique_ptr<App> app, SourceLine place = SourceLine::here());
bool register_instance_factory(std::string_view app, InstanceFactory factory,
                               SourceLine place = SourceLine::here());

}  // namespace amasia
