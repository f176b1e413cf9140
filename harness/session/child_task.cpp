#include "harness/session/child_task.hpp"

#include <map>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "harness/gpu/instrument.hpp"
#include "harness/registry.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/read.hpp"
#include "harness/results/result.hpp"
#include "harness/results/written.hpp"
#include "harness/session/ceilings.hpp"
#include "harness/session/group_loop.hpp"
#include "harness/session/microbenchmark_loop.hpp"
#include "harness/text/host_memory.hpp"
#include "harness/user_kernel/load.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

Json check_reference(const Json& task) {
  const std::string name = task.at("app").get<std::string>();
  const App* app = find_app(name);
  if (app == nullptr) throw UsageError("app '" + name + "' is not part of this program");
  const auto size = task.at("size").get<std::map<std::string, std::string>>();
  const Parameters parameters(app->parameters(), size);
  const Verdict v = [&] {
    const auto refuse = [&](const std::exception& error) {
      return UsageError(fmt::format("{} {}: {}; choose a smaller --size", name,
                                    parameters.to_string(), reason_of(error)));
    };
    try {
      return app->check_reference(parameters, task.at("seed").get<std::uint64_t>());
    } catch (const std::bad_alloc& error) {
      throw refuse(error);
    } catch (const std::length_error& error) {
      throw refuse(error);
    }
  }();
  return to_json(v);
}

/// Stands or falls with the process: the library's constructors do as they like.
Json load_library(const Json& task) {
  const Description d = read_description(task.at("description").get<std::string>());
  const auto& i = d.implementations.at(task.at("implementation").get<std::size_t>());
  return {{"objection", objection_to_library(i)}};
}

}  // namespace

Json group_task(const PlannedGroup& plan, int device_index) {
  Json task{{"task", "group"}, {"index", device_index}, {"plan", to_json(plan)}};
  const App* const app = find_app(plan.key.app);
  if (app != nullptr && !app->description().empty()) {
    task["user_kernel"] = {{"description", app->description()},
                           {"digest", digest_of_user_app(plan.key.app)}};
  }
  return task;
}

Json library_task(const std::string& description, std::size_t implementation) {
  return {{"task", "library"}, {"description", description}, {"implementation", implementation}};
}

Json reference_task(const std::string& app, const Parameters& size, std::uint64_t seed) {
  return {{"task", "reference"},
          {"app", app},
          {"size", std::map(size.values().begin(), size.values().end())},
          {"seed", seed}};
}

nlohmann::ordered_json perform_task(const nlohmann::ordered_json& task,
                                    const ProgressSink& progress) {
  const std::string name = task.at("task").get<std::string>();
  if (name == "reference") return check_reference(task);
  if (name == "library") return load_library(task);
  const std::unique_ptr<Instrument> instrument = open_instrument(task.at("index").get<int>());
  if (name == "device") {
    Provenance p;
    p.device = instrument->device();
    p.device_state = instrument->state();
    return to_json(p);
  }
  if (name == "ceilings") {
    auto array = nlohmann::ordered_json::array();
    for (const Ceiling& c :
         measure_ceilings(*instrument, task.at("samples").get<int>(), progress)) {
      array.push_back(to_json(c));
    }
    return array;
  }
  if (name == "group") {
    if (const auto user_kernel = task.find("user_kernel"); user_kernel != task.end()) {
      load_user_app_again(task.at("plan").at("key").at("app").get<std::string>(),
                          user_kernel->at("description").get<std::string>(),
                          user_kernel->at("digest").get<std::string>());
    }
    return to_json(run_group(planned_group_from_json(task.at("plan")), *instrument, progress));
  }
  if (name == "microbenchmark") {
    return to_json(run_microbenchmark(planned_microbenchmark_from_json(task.at("plan")),
                                      *instrument, progress));
  }
  throw std::logic_error(fmt::format("unknown task '{}'", name));
}

}  // namespace amasia
