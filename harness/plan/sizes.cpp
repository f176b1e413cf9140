#include "harness/plan/sizes.hpp"

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace amasia {

std::vector<Parameters> sizes_of(const App& app, const SizeRequest& request,
                                 std::size_t apps_selected) {
  if (request.given.empty()) return app.sizes(request.effective_preset());
  if (request.preset) throw UsageError("--size and --preset exclude each other");
  if (apps_selected > 1) {
    throw UsageError(
        "--size belongs to one app: name its variants, e.g. amasia run pathfinder "
        "--size rows=1000,cols=1000");
  }
  std::vector<Parameters> sizes;
  for (const std::string& text : request.given) {
    sizes.emplace_back(app.parameters(), parse_size(text));
    app.device_bytes(sizes.back());  // throws when the size overflows
  }
  return sizes;
}

bool fits(const App& app, const Parameters& size, const Device& device) {
  return app.device_bytes(size) <= static_cast<std::int64_t>(device.free_bytes);
}

void refuse_too_large(const App& app, const std::vector<Parameters>& sizes,
                      const SizeRequest& request, const Device& device) {
  if (request.given.empty()) return;
  for (const Parameters& size : sizes) {
    if (fits(app, size, device)) continue;
    throw UsageError(
        fmt::format("{} {} needs {} bytes of device memory, {} are available: choose "
                    "a smaller size",
                    app.name(), size.to_string(), app.device_bytes(size), device.free_bytes));
  }
}

}  // namespace amasia
