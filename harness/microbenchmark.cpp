#include "harness/microbenchmark.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

namespace amasia {
namespace {

// As in registry.cpp: function-local statics, kept sorted, so that no order depends on the link.
std::vector<std::unique_ptr<Microbenchmark>>& storage() {
  static std::vector<std::unique_ptr<Microbenchmark>> all;
  return all;
}

std::vector<const Microbenchmark*>& sorted() {
  static std::vector<const Microbenchmark*> list;
  return list;
}

}  // namespace

std::string to_string(const Coordinates& at) {
  std::string text;
  for (const auto& [name, value] : at) {
    if (!text.empty()) text += ',';
    text += name + '=' + value;
  }
  return text;
}

std::string value_of(const Coordinates& at, std::string_view name) {
  for (const auto& [key, value] : at) {
    if (key == name) return value;
  }
  return "";
}

bool register_microbenchmark(Microbenchmark m) {
  const std::size_t slash = m.name.find('/');
  if (slash == std::string::npos || slash == 0 ||
      m.name.find('/', slash + 1) != std::string::npos) {
    throw std::logic_error("microbenchmark '" + m.name + "' is not named <question>/<name>");
  }
  if (find_microbenchmark(m.name)) {
    throw std::logic_error("microbenchmark " + m.name + " is registered twice");
  }
  if (m.question.empty() || m.question.back() != '?' || m.method.empty() || !m.points) {
    throw std::logic_error("microbenchmark " + m.name + " lacks its question, method or points");
  }
  storage().push_back(std::make_unique<Microbenchmark>(std::move(m)));
  const Microbenchmark* added = storage().back().get();
  auto& list = sorted();
  list.insert(std::upper_bound(list.begin(), list.end(), added,
                               [](const Microbenchmark* a, const Microbenchmark* b) {
                                 return a->name < b->name;
                               }),
              added);
  return true;
}

const std::vector<const Microbenchmark*>& microbenchmarks() { return sorted(); }

const Microbenchmark* find_microbenchmark(std::string_view name) {
  for (const Microbenchmark* m : sorted()) {
    if (m->name == name) return m;
  }
  return nullptr;
}

void check_points(const Microbenchmark& m, const std::vector<Point>& points) {
  std::set<std::string> seen;
  for (const Point& p : points) {
    const std::string at = to_string(p.at);
    const auto fail = [&](const char* what) {
      throw std::logic_error(fmt::format("{} [{}]: {}", m.name, at, what));
    };
    if (p.at.empty()) fail("has no coordinates");
    if (!seen.insert(at + ' ' + p.quantity).second) fail("is there twice");
    if (p.quantity.empty() || p.unit.empty()) fail("lacks its quantity or unit");
    if (!p.unsupported.empty()) continue;
    if (!p.prepare) fail("cannot be measured and does not say why");
    if (p.kernels.empty()) fail("names no kernel");
    if (p.claims.empty()) fail("claims no instruction");
    for (const Claim& c : p.claims) {
      if (c.kernel >= p.kernels.size() || c.sass.empty() || c.ptx.empty()) {
        fail("has an incomplete claim");
      }
    }
  }
}

}  // namespace amasia
