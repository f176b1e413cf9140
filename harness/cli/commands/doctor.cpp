#include <algorithm>
#include <filesystem>
#include <memory>

#include "harness/cli/command_line.hpp"
#include "harness/cli/options.hpp"
#include "harness/evidence/evidence.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

void print_device(const Provenance& p) {
  const Device& d = p.device;
  print_data(
      "GPU {}: {}, compute capability {}.{}, {} SMs, {:.1f} GB memory ({:.1f} free), L2 {} MiB\n",
      d.index, d.name, d.compute_capability / 10, d.compute_capability % 10, d.sm_count,
      static_cast<double>(d.memory_bytes) * 1e-9, static_cast<double>(d.free_bytes) * 1e-9,
      d.l2_bytes >> 20);
  print_data("CUDA driver {}.{}, runtime {}.{}\n", d.driver_version / 1000,
             d.driver_version % 1000 / 10, d.runtime_version / 1000, d.runtime_version % 1000 / 10);
  for (const auto& [key, value] : p.device_state) print_data("{}: {}\n", key, value);
}

void print_what_it_lacks(const Device& d) {
  for (const Variant* v : variants()) {
    if (d.compute_capability < v->traits.runs_from) {
      print_data("cannot run {}: needs compute capability {}.{}\n", v->name(),
                 v->traits.runs_from / 10, v->traits.runs_from % 10);
    } else if (d.compute_capability < v->traits.native_from) {
      print_data("runs {} with plain copies: the mechanism needs compute capability {}.{}\n",
                 v->name(), v->traits.native_from / 10, v->traits.native_from % 10);
    }
  }
}

ExitStatus doctor(const SessionOptions& session) {
  print_data("disassembler: {}\n", find_cuobjdump().empty()
                                       ? "none found: instructions are not counted"
                                       : find_cuobjdump());
  Provenance p;
  try {
    p = query_in_child(session);
  } catch (const NoDevice& error) {
    print_data("no usable GPU: {}\n", error.what());
    print_data(
        "what works here: amasia verify --reference, merge, export, list; python -m plots\n");
    say_next("amasia verify --reference", "checks every CPU reference");
    return exit_no_device;
  }
  print_device(p);
  print_what_it_lacks(p.device);
  const std::string tuning = default_tuning_path(p.device);
  const std::vector<TuningEntry> winners = winners_in_results(p.device).entries();
  const auto lent =
      std::ranges::find_if(winners, [](const TuningEntry& e) { return !e.lent_by.empty(); });
  print_data("recorded winners: {}\n",
             std::filesystem::exists(tuning) ? tuning
             : lent != winners.end()
                 ? fmt::format("those of {}; amasia tune finds this GPU's own", lent->lent_by)
                 : "none for this GPU: amasia tune finds them");
  say_next("amasia study quick", "times every variant at one realistic size: under two minutes");
  return exit_ok;
}

Action declare_doctor(CLI::App& options) {
  auto session = std::make_shared<SessionOptions>();
  add_device(options, *session);
  return [session](const std::vector<std::string>&) { return doctor(*session); };
}

const bool doctor_registered = register_command(
    {.name = "doctor",
     .group = CommandGroup::help,
     .summary = "what can run here, and why not",
     .examples = {{{"amasia doctor", "the GPU, its driver, and what it cannot run"},
                   {"amasia doctor --device 1", "the same for the second GPU"}}},
     .declare = declare_doctor});

}  // namespace
}  // namespace amasia
