// Microbenchmarks: one hardware mechanism each. A microbenchmark is one file
// microbench/<question>/<name>.cu, "<question>/<name>" on the command line, in results and in
// plots; it registers itself on its last lines.
//
//   const bool registered = register_microbenchmark({"memory/latency", question, method, points});
//
// points(device, scope) says what can be measured, as plain data and without touching the device:
// the program that plans and the child process that measures both call it and must get the same
// list. Each point proves its mechanism by the instructions of its kernels (Claim), is prepared
// once and sampled until its interval is narrow.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/device.hpp"
#include "harness/variant.hpp"
#include "harness/words.hpp"
#include "variants/host_device.hpp"

namespace amasia {

/// What a point is: ordered name=value pairs, e.g. level=l1, footprint=16384, hint=ca.
using Coordinates = std::vector<std::pair<std::string, std::string>>;
/// "level=l1,footprint=16384,hint=ca"
std::string to_string(const Coordinates& at);
/// The value of one coordinate, "" where the point has none of that name.
std::string value_of(const Coordinates& at, std::string_view name);

/// One sample. `value` is in the point's unit and positive; cycles and time are of the same event
/// wherever both make sense, so that the clock they imply can be seen (%globaltimer ticks coarsely,
/// and the maximum clock is not the clock).
struct Reading {
  double value = 0;
  std::optional<double> cycles{};
  std::optional<double> time_ns{};
  std::optional<double> clock_mhz{};
};

/// This device or driver cannot, which shows only when it is tried, such as a limit that is
/// refused. The row is skipped with what() as the sentence why; any other exception makes it
/// failed.
class Unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Takes one sample. Synchronous. Throws when it cannot be taken.
using Sampling = std::function<Reading()>;

/// An instruction the point says it measures: its static count in the loops of one of its kernels,
/// counted in the machine code that the device loads, or in the PTX where there is no disassembler.
/// In the loops, because a compiler may hoist what it can prove not to change, and then the loop
/// measures nothing. A point whose claim is wrong has no value.
struct Claim {
  std::string sass{};      // opcode group as harness/evidence counts it: "LDG"
  std::string ptx{};       // operation: "ld.global"
  int count = 0;           // exactly so many
  bool in_loop = true;     // false: in the whole kernel, for one that has no loop
  std::size_t kernel = 0;  // index into Point::kernels
  int in_ptx = -1;         // where PTX has another number: one wmma becomes two HMMA; -1: as count
  bool or_more = false;    // at least so many: where compilers differ in how they do it

  int count_in(std::string_view source) const {
    return source == "ptx" && in_ptx >= 0 ? in_ptx : count;
  }
};

struct Point {
  Coordinates at{};
  std::string quantity{};  // "latency", "throughput", "bandwidth"
  std::string unit{};      // "cycles", "byte/clk/SM", "GB/s"
  bool larger_is_better = false;
  int runs_from = 0;          // least compute capability
  std::string unsupported{};  // why this device cannot, a sentence; empty: it can
  std::string remark{};       // e.g. "emulated: conversions and HMMA"
  std::vector<KernelUse> kernels{};
  std::vector<Claim> claims{};
  /// How many copies of one PTX instruction the timed loop of the first kernel holds: then the
  /// row's remark lists what one of them became in machine code. 0: no list.
  int copies = 0;
  /// Allocates and lays out, not timed; what it returns is called for each sample.
  std::function<Sampling(const Device&, Stream)> prepare{};
};

/// A point after measuring, as a finding looks at it.
struct MeasuredPoint {
  Coordinates at;
  std::string quantity, unit;
  double value = 0;  // median
};

/// What follows from several points: a capacity, a knee. With its interval, where it has one.
struct Finding {
  Coordinates at{};
  std::string quantity{};
  std::string unit{};
  double value = 0;
  double low = 0, high = 0;
  std::string how{};  // one sentence
};

struct Microbenchmark {
  std::string name;      // "memory/latency"
  std::string question;  // one line, ends in a question mark
  std::string method;    // one paragraph, the gist of the file's head comment
  std::function<std::vector<Point>(const Device&, Scope)> points;
  /// Optional. From the points that have a value.
  std::function<std::vector<Finding>(const Device&, const std::vector<MeasuredPoint>&)> findings{};
  /// Optional. The points of traits that a user names (`amasia run --traits`); what is not named
  /// has its default. As points(), without touching the device. Throws UsageError for an unknown
  /// trait or a bad value.
  std::function<std::vector<Point>(const Device&, const Coordinates& traits)> asked{};
};

/// Returns true so that a namespace-scope constant can call it. Throws std::logic_error for a
/// mistake in the registration.
bool register_microbenchmark(Microbenchmark microbenchmark);

const std::vector<const Microbenchmark*>& microbenchmarks();       // by name
const Microbenchmark* find_microbenchmark(std::string_view name);  // nullptr when unknown

/// Throws std::logic_error when two points are at the same coordinates or one is incomplete: what
/// the runner and the tests hold every microbenchmark to.
void check_points(const Microbenchmark& microbenchmark, const std::vector<Point>& points);

}  // namespace amasia
