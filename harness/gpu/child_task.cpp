#include "harness/process/child_task.hpp"

#include <fmt/format.h>

#include "harness/gpu/group_runner.hpp"
#include "harness/gpu/microbenchmark_runner.hpp"
#include "harness/nvml.hpp"
#include "harness/results/result.hpp"

namespace amasia {

nlohmann::ordered_json perform_task(const nlohmann::ordered_json& task,
                                    const ProgressSink& progress) {
  const std::string name = task.at("task").get<std::string>();
  const int index = task.at("index").get<int>();
  std::string reason;
  const int devices = device_count(reason);
  if (devices == 0) throw std::runtime_error(reason);
  if (index >= devices) {
    throw UsageError(
        fmt::format("--device {}: this machine has {} (0 to {})", index, devices, devices - 1));
  }
  const Device device = query_device(index);
  if (name == "device") {
    Provenance p;
    p.device = device;
    p.device_state = Nvml(device.pci_bus_id).state();
    return to_json(p);
  }
  if (name == "ceilings") {
    auto array = nlohmann::ordered_json::array();
    for (const Ceiling& c : measure_ceilings(device, task.at("samples").get<int>(), progress)) {
      array.push_back(to_json(c));
    }
    return array;
  }
  if (name == "group") {
    return to_json(run_group(planned_group_from_json(task.at("plan")), device, progress));
  }
  if (name == "microbenchmark") {
    return to_json(
        run_microbenchmark(planned_microbenchmark_from_json(task.at("plan")), device, progress));
  }
  throw std::logic_error(fmt::format("unknown task '{}'", name));
}

}  // namespace amasia
