// What the measuring loops ask of a device, and all that they know of one. The loops decide (order,
// repeats, pairs, when to stop); an instrument runs, times and verifies. Implemented with CUDA
// (harness/gpu/), without (harness/no_gpu/), and by the stub of the tests.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/app.hpp"
#include "harness/device.hpp"
#include "harness/gpu/timed_run.hpp"
#include "harness/plan/plan.hpp"

namespace amasia {

/// The rows of one group on the device: one instance of the problem, one prepared run for each row.
class GroupInstrument {
 public:
  virtual ~GroupInstrument() = default;
  /// Chooses the config, runs it once and compares the output: fills config, geometry, fallback,
  /// evidence and verdict of `row`, or its status `skipped` with the reason where this device or
  /// problem rules it out. A reason beside a verdict says why it did not pass. `index` names the
  /// row in the calls below.
  virtual void prepare(int index, Row& row) = 0;
  /// Whether the whole run waits in the launch queue until all of it is enqueued.
  virtual bool can_be_blocked(int index) const = 0;
  virtual TimedRun time(int index) = 0;
  /// Once more in the same round. The same, but for a device whose answers a script decides.
  virtual TimedRun time_again(int index) { return time(index); }
  /// Runs once in the state of the caches that time() brings about, between the marks that tell a
  /// profiler to count. Returns when the run has ended.
  virtual void count(int index) = 0;
  /// Runs once more and compares the output.
  virtual Verdict verify(int index) = 0;
  /// The same of several rows, in their order. `begins` is told each before it runs, which may be
  /// several times.
  virtual std::vector<Verdict> verify_all(const std::vector<int>& rows,
                                          const std::function<void(int)>& begins) {
    std::vector<Verdict> verdicts;
    for (const int index : rows) {
      begins(index);
      verdicts.push_back(verify(index));
    }
    return verdicts;
  }
  /// Restores and poisons the outputs, runs nothing and compares them: what a variant that does
  /// nothing would get, asked behind a right run.
  virtual Verdict verify_nothing() = 0;
  /// The problem, where the instrument has one.
  virtual Instance* instance() { return nullptr; }
  /// Millijoules per run; nothing where they cannot be measured.
  virtual std::optional<double> energy_mj(int index) = 0;
  /// What the app writes beside its timed output, after a verified run.
  virtual void export_outputs() = 0;
  /// Why the device holds its clock down at the moment; empty when it does not, or unknown.
  virtual std::string throttle_reasons() const = 0;
  /// A short piece of work that is always the same, while nothing else of this process runs;
  /// nothing where there is none.
  virtual std::optional<ProbeTimes> probe() { return std::nullopt; }
  /// Clocks, limits and temperature at the moment, and the other processes that computed on the
  /// device since it was opened. Unknown values are absent.
  virtual std::map<std::string, std::string> device_state() const { return {}; }
};

/// What an exception from work on the device means.
enum class Trouble {
  no_memory,  // too large for this device: the row is skipped
  row,        // this row failed, the next may run
  device,     // the context is broken: nothing more can run in this process
};

class Instrument {
 public:
  virtual ~Instrument() = default;
  virtual const Device& device() const = 0;
  /// Clocks, limits and temperature by name; what is unknown is absent.
  virtual std::map<std::string, std::string> state() const = 0;
  /// Where microbenchmarks and ceilings enqueue their work.
  virtual Stream stream() const = 0;
  /// Generates the inputs. Throws when they do not fit. `plan` outlives it.
  virtual std::unique_ptr<GroupInstrument> open(const PlannedGroup& plan) = 0;
  /// The compute capability that this program's code can count on: the device's, or less where the
  /// program has nothing newer for it than PTX of an older one.
  virtual int code_capability() const { return device().compute_capability; }
  /// Registers, shared memory and occupancy of a kernel of a microbenchmark as loaded. Throws
  /// Unavailable where what is loaded is older than every point that uses the kernel needs.
  virtual KernelEvidence resources_of(const KernelUse& kernel) = 0;
  virtual Trouble trouble_of(const std::exception& error) = 0;
  /// Who else computed on the device since it was opened, as far as NVML tells; "" where nobody
  /// did, or it is not known.
  virtual std::string other_processes() const { return ""; }
};

/// The instrument of device `index`. Throws UsageError when there are fewer devices, and
/// std::runtime_error with the reason when there is none, or one that this program has no code for.
std::unique_ptr<Instrument> open_instrument(int index);

}  // namespace amasia
