#include "harness/cli/request.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "harness/report/export.hpp"
#include "harness/plan/study.hpp"

namespace amasia {

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}", text);
  } else if (!path.empty()) {
    write_text_file(path, text);
  }
}

void write_exports(const ResultFile& file, const Request& r) {
  write_output(r.json, dump_json(to_json(file)));
  write_output(r.csv, to_csv_summary(file));
  write_output(r.csv_points, to_csv_points(file));
  write_output(r.markdown, to_markdown(file));
  write_output(r.google_benchmark, to_google_benchmark(file));
}

SessionOptions session_options(const Request& r) {
  SessionOptions o;
  o.device_index = r.device;
  o.out = r.out;
  o.resume = r.resume;
  o.in_process = r.in_process;
  o.extra_seconds = r.group_timeout;
  return o;
}

Selection selection(const Request& r) {
  return by_app(select_variants(r.patterns.empty() ? std::vector<std::string>{"*"} : r.patterns));
}

PlannedMicrobenchmark planned_microbenchmark(const Microbenchmark& m, const Request& r,
                                             Preset fallback) {
  const Preset preset = r.preset.empty() ? fallback : preset_from(r.preset);
  PlannedMicrobenchmark plan;
  plan.name = m.name;
  plan.scope = preset == Preset::paper || preset == Preset::sweep ? Scope::full : Scope::quick;
  plan.effort.seconds = r.point_seconds;
  plan.effort.max_samples = std::max(plan.effort.min_samples, r.effort.max_rounds);
  plan.effort.precision = r.effort.precision;
  plan.effort.confidence = r.effort.confidence;
  if (const auto only = r.only.find(m.name); only != r.only.end()) plan.only = only->second;
  return plan;
}

Selection by_app(const std::vector<const Variant*>& chosen) {
  Selection selected;
  for (const App* app : apps()) {
    std::vector<const Variant*> mine;
    std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(mine),
                 [&](const Variant* v) { return v->app == app->name(); });
    if (!mine.empty()) selected.emplace_back(app, std::move(mine));
  }
  return selected;
}

std::vector<Parameters> sizes_of(const App& app, const Request& r, std::size_t apps_selected,
                                 Preset fallback) {
  if (r.sizes.empty()) return app.sizes(r.preset.empty() ? fallback : preset_from(r.preset));
  if (!r.preset.empty()) throw UsageError("--size and --preset exclude each other");
  if (apps_selected > 1) {
    throw UsageError(
        "--size belongs to one app: name its variants, e.g. amasia run pathfinder "
        "--size rows=1000,cols=1000");
  }
  std::vector<Parameters> sizes;
  for (const std::string& text : r.sizes) {
    sizes.emplace_back(app.parameters(), parse_size(text));
    app.device_bytes(sizes.back());  // throws when the size overflows
  }
  return sizes;
}

void refuse_too_large(const App& app, const std::vector<Parameters>& sizes, const Request& r,
                      const Device& device) {
  if (r.sizes.empty()) return;
  for (const Parameters& size : sizes) {
    const std::int64_t needed = app.device_bytes(size);
    if (needed > static_cast<std::int64_t>(device.free_bytes)) {
      throw UsageError(
          fmt::format("{} {} needs {} bytes of device memory, {} are available: choose "
                      "a smaller size",
                      app.name(), size.to_string(), needed, device.free_bytes));
    }
  }
}

std::string default_tuning_path(const Device& device) {
  return "results/" + device_slug(device.name) + "/tuning.json";
}

}  // namespace amasia
