#include "harness/cli/commands.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"
#include "harness/evidence/evidence.hpp"

namespace amasia {

int doctor(const Request& r) {
  fmt::print("disassembler: {}\n", find_cuobjdump().empty()
                                       ? "none found: instruction counts come from PTX"
                                       : find_cuobjdump());
  Provenance p;
  try {
    p = query_in_child(session_options(r));
  } catch (const NoDevice& error) {
    fmt::print("no usable GPU: {}\n", error.what());
    fmt::print(
        "what works here: amasia verify --reference, compare, merge, list; the report from "
        "recorded results\n");
    return exit_no_device;
  }
  const Device& d = p.device;
  fmt::print(
      "GPU {}: {}, compute capability {}.{}, {} SMs, {:.1f} GB memory ({:.1f} free), L2 {} MiB\n",
      d.index, d.name, d.compute_capability / 10, d.compute_capability % 10, d.sm_count,
      static_cast<double>(d.memory_bytes) * 1e-9, static_cast<double>(d.free_bytes) * 1e-9,
      d.l2_bytes >> 20);
  fmt::print("CUDA driver {}.{}, runtime {}.{}\n", d.driver_version / 1000,
             d.driver_version % 1000 / 10, d.runtime_version / 1000, d.runtime_version % 1000 / 10);
  for (const auto& [key, value] : p.device_state) fmt::print("{}: {}\n", key, value);
  for (const Variant* v : variants()) {
    if (d.compute_capability < v->traits.runs_from) {
      fmt::print("cannot run {}: needs compute capability {}.{}\n", v->name(),
                 v->traits.runs_from / 10, v->traits.runs_from % 10);
    } else if (d.compute_capability < v->traits.native_from) {
      fmt::print("runs {} with plain copies: the mechanism needs compute capability {}.{}\n",
                 v->name(), v->traits.native_from / 10, v->traits.native_from % 10);
    }
  }
  const std::string tuning = default_tuning_path(d);
  fmt::print("recorded winners: {}\n", std::filesystem::exists(tuning)
                                           ? tuning
                                           : "none for this GPU: amasia tune finds them");
  return exit_ok;
}

}  // namespace amasia
