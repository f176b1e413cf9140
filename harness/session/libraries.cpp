#include "harness/session/libraries.hpp"

#include <fmt/format.h>

#include "harness/session/child_task.hpp"

namespace amasia {

void load_libraries(const Description& d, UserApp& app, const SessionOptions& options) {
  for (std::size_t i = 0; i < d.implementations.size(); ++i) {
    const ImplementationDescription& about = d.implementations[i];
    if (!about.is_library) continue;
    const auto quiet = [](const std::string&) {};
    const nlohmann::ordered_json task = library_task(d.path, i);
    const ChildOutcome outcome = options.in_process
                                     ? run_in_process(task, perform_task, quiet)
                                     : run_in_child(task, options.step_seconds, quiet);
    if (outcome.interrupted) throw Interrupted();
    std::string& broken = app.implementations[i].broken;
    if (outcome.finished && outcome.result.is_object() && outcome.result.contains("objection")) {
      broken = outcome.result["objection"].get<std::string>();
    } else {
      broken = fmt::format(
          "{} was being loaded (its constructors ran): {}", about.file,
          outcome.failure.empty() ? "the process answered what is no result" : outcome.failure);
    }
  }
}

}  // namespace amasia
