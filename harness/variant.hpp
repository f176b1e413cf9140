// What the harness knows of a variant, and how a variant file registers itself.
//
// A variant is one file apps/<app>/<strategy>.cu whose last lines are
//
//   const bool registered = register_variant<Problem>("hotspot", Strategy::tma, {
//       config<Iso>("iso"), config<Tile64x8x4>("64x8x4"), ...});
//
// where config<> is a few lines of that file that fill a ConfigOf<Problem>. The first config is the
// iso config; the others are candidates for `best`, most promising first: the built-in default of a
// GPU nobody has tuned is the first one the device and the problem support. Of each schedule of the
// app there is a config, or an entry in a last argument that says why there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/app.hpp"
#include "harness/device.hpp"
#include "variants/strategy.hpp"

namespace amasia {

/// A kernel that a config launches, for resources, occupancy and the proof of mechanism.
struct KernelUse {
  const void* function = nullptr;  // the __global__ function
  int threads = 0;                 // per block
  std::size_t dynamic_shared_bytes = 0;
  int cluster_blocks = 1;
  std::size_t bytes_in_flight_per_block = 0;  // tile bytes one block can have outstanding
};

struct ConfigInfo {
  /// Unique in the variant: its schedule, and "/" with what tells it from others of that schedule
  /// ("wide/5-stages"). "iso" for the original geometry.
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> geometry{};
  std::vector<KernelUse> kernels{};
  /// A point of comparison that gives up what the strategy is, such as a cluster of one block: it
  /// runs when named and stands in the tuner's table, but is never chosen for `best`.
  bool reference_only = false;
  std::string schedule{};  // one of App::schedules()
  /// What belongs to the way data moves: stages, stage_rows or stage_bytes (what one copy or one
  /// hand-over brings), producer_warps (0: the warps that compute also copy), batch, ...
  std::vector<std::pair<std::string, std::int64_t>> movement{};
};

/// A schedule that a strategy cannot run, and why, in a sentence for `amasia list`.
struct Declined {
  std::string schedule;
  std::string reason;
};

template <class Problem>
struct ConfigOf {
  ConfigInfo info;
  /// Prepares the launch (tensor maps, attributes, scratch); not timed.
  std::function<Launch(const Problem&, const Device&)> prepare;
  /// A sentence when this config cannot run this problem on this device; empty member: always can.
  /// Compute capability, shared memory and cluster size are checked by the harness already.
  std::function<std::optional<std::string>(const Problem&, const Device&)> unsupported{};
};

/// The type-erased form the harness works with.
struct Config {
  ConfigInfo info;
  std::function<Launch(const Instance&, const Device&)> prepare;
  std::function<std::optional<std::string>(const Instance&, const Device&)> unsupported;
  /// The kernels, where they are known only once the launch is prepared: loaded from a file.
  std::function<std::vector<KernelUse>(const Instance&, const Device&)> loaded_kernels{};
};

/// Set only for user kernels loaded at run time (harness/user_kernel).
struct UserKernel {
  std::string place{};   // where it was described, "saxpy.toml:14"
  std::string broken{};  // why it must not run, found before anything ran
  std::string code{};    // file with the machine code or PTX of its kernels; "" where none is known
  /// False: its launch must not be captured into a graph, because it is a user's program, which may
  /// allocate or load code. What it enqueues is not known then, and found out by trying.
  bool capturable = true;
};

struct Variant {
  std::string app;
  std::string strategy;     // "tma"; or the library's name for a comparator, "cublas"
  bool comparator = false;  // a vendor library: a reference line, never a strategy
  /// Of a comparator that is a strategy in the words of a library: that strategy, which has a
  /// config of the same name for each of its own; "" otherwise.
  std::string spells{};
  StrategyTraits traits{};
  std::vector<Config> configs;
  std::vector<Declined> declined{};
  SourceLine place{};                       // of its registration
  std::optional<UserKernel> user_kernel{};  // then `strategy` is any name
  std::string name() const { return app + "/" + strategy; }
};

bool register_variant(Variant variant, SourceLine place = SourceLine::here());

template <class Problem>
Config erase(ConfigOf<Problem> typed) {
  Config erased;
  erased.info = std::move(typed.info);
  auto problem_of = [](const Instance& instance) -> const Problem& {
    return dynamic_cast<const InstanceOf<Problem>&>(instance).problem();
  };
  erased.prepare = [problem_of, prepare = std::move(typed.prepare)](
                       const Instance& i, const Device& d) { return prepare(problem_of(i), d); };
  erased.unsupported = [problem_of, unsupported = std::move(typed.unsupported)](
                           const Instance& i, const Device& d) -> std::optional<std::string> {
    return unsupported ? unsupported(problem_of(i), d) : std::nullopt;
  };
  return erased;
}

template <class Problem>
Variant variant_of(std::string_view app, std::string_view strategy,
                   std::vector<ConfigOf<Problem>> configs) {
  Variant v;
  v.app = app;
  v.strategy = strategy;
  for (auto& c : configs) v.configs.push_back(erase<Problem>(std::move(c)));
  return v;
}

template <class Problem>
bool register_variant(std::string_view app, Strategy strategy,
                      std::vector<ConfigOf<Problem>> configs, std::vector<Declined> declined = {},
                      SourceLine place = SourceLine::here()) {
  Variant v = variant_of<Problem>(app, name_of(strategy), std::move(configs));
  v.traits = traits_of(strategy);
  v.declined = std::move(declined);
  return register_variant(std::move(v), place);
}

/// A comparator: apps/<app>/<library>.cu, `library` as its makers spell it in lower case, "cublas".
/// It is measured beside the strategies and never counted as one.
template <class Problem>
bool register_comparator(std::string_view app, std::string_view library,
                         std::vector<ConfigOf<Problem>> configs,
                         SourceLine place = SourceLine::here()) {
  Variant v = variant_of<Problem>(app, library, std::move(configs));
  v.comparator = true;
  return register_variant(std::move(v), place);
}

/// A variant that moves data as a strategy does, but with a library in place of the suite's own
/// instructions: apps/<app>/<part>.cu, "cuda_pipeline". Each of its configs has the name of the one
/// of the strategy that differs from it by the spelling alone, and is measured beside that one.
template <class Problem>
bool register_comparator(std::string_view app, std::string_view part, Strategy spells,
                         std::vector<ConfigOf<Problem>> configs,
                         SourceLine place = SourceLine::here()) {
  Variant v = variant_of<Problem>(app, part, std::move(configs));
  v.comparator = true;
  v.spells = name_of(spells);
  v.traits = traits_of(spells);  // where it runs, and how
  return register_variant(std::move(v), place);
}

}  // namespace amasia
