#include "harness/registry.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "harness/ceiling.hpp"
#include "harness/microbenchmark.hpp"

// Registration happens while namespace-scope constants are initialised, in an order the linker
// chose. A function-local static exists before its first use, and everything is kept sorted, so
// that the order seen by a user never depends on the link.
namespace amasia {
namespace {

/// What has registered itself, in its order; each item stays where it is.
template <class T>
struct Sorted {
  std::vector<std::unique_ptr<T>> owned{};
  std::vector<const T*> list{};

  template <class Precedes>
  void add(std::unique_ptr<T> item, const Precedes& precedes) {
    const T* added = owned.emplace_back(std::move(item)).get();
    list.insert(std::ranges::upper_bound(list, added, precedes), added);
  }
  /// nullptr where there is none.
  template <class Is>
  const T* find(const Is& is) const {
    const auto found = std::ranges::find_if(list, [&](const T* i) { return is(*i); });
    return found == list.end() ? nullptr : *found;
  }
  template <class Is>
  void erase(const Is& is) {
    std::erase_if(list, [&](const T* item) { return is(*item); });
    std::erase_if(owned, [&](const auto& item) { return is(*item); });
  }
};

struct Registry {
  Sorted<App> apps{};
  Sorted<Variant> variants{};
  Sorted<Microbenchmark> microbenchmarks{};
  std::map<std::string, InstanceFactory, std::less<>> factories{};
  std::map<std::string, std::string> digests{};
  std::vector<CeilingProbe> probes{};
  std::map<std::string, SourceLine, std::less<>> app_places{}, factory_places{};  // by app
};

Registry& registry() {
  static Registry one;
  return one;
}

/// The same place for two registrations: a loop, or a header that two files include.
[[noreturn]] void refuse_second(std::string_view name, const SourceLine& first,
                                const SourceLine& second) {
  throw std::logic_error(fmt::format("{} is registered twice, at {} and at {}", name,
                                     to_string(first), to_string(second)));
}

/// Place of a strategy in the table of strategies; comparators, and what has no place in it, as
/// implementations loaded at run time, come after all of them.
std::size_t rank_of(const Variant& variant) {
  std::size_t rank = 0;
  while (rank < strategy_traits.size() &&
         (variant.comparator || strategy_traits[rank].name != variant.strategy)) {
    ++rank;
  }
  return rank;
}

bool precedes(const Variant* a, const Variant* b) {
  if (a->app != b->app) return a->app < b->app;
  const std::size_t rank_a = rank_of(*a), rank_b = rank_of(*b);
  return rank_a != rank_b ? rank_a < rank_b : a->strategy < b->strategy;
}

}  // namespace

std::string to_string(const SourceLine& place) {
  std::string_view file = place.file;
  if (file.empty()) return "";
  if (const auto name = file.rfind('/'); name != std::string_view::npos && name > 0) {
    if (const auto folder = file.rfind('/', name - 1); folder != std::string_view::npos) {
      file.remove_prefix(folder + 1);
    }
  }
  return fmt::format("{}:{}", file, place.line);
}

bool register_app(std::unique_ptr<App> app, SourceLine place) {
  const std::string name(app->name());
  const auto [known, first] = registry().app_places.emplace(name, place);
  if (!first) refuse_second(name, known->second, place);
  registry().apps.add(std::move(app),
                      [](const App* a, const App* b) { return a->name() < b->name(); });
  return true;
}

bool register_instance_factory(std::string_view app, InstanceFactory factory, SourceLine place) {
  const auto [known, first] = registry().factory_places.emplace(std::string(app), place);
  if (!first) refuse_second(fmt::format("the instance of {}", app), known->second, place);
  registry().factories.emplace(std::string(app), std::move(factory));
  return true;
}

bool register_variant(Variant variant, SourceLine place) {
  variant.place = place;
  if (const Variant* known = find_variant(variant.name())) {
    refuse_second(variant.name(), known->place, place);
  }
  if (variant.configs.empty()) {
    throw std::logic_error(
        fmt::format("{} has no config, at {}", variant.name(), to_string(place)));
  }
  registry().variants.add(std::make_unique<Variant>(std::move(variant)), precedes);
  return true;
}

bool register_ceiling(CeilingProbe probe) {
  std::vector<CeilingProbe>& list = registry().probes;
  const auto place = std::ranges::lower_bound(list, probe.name, {}, &CeilingProbe::name);
  if (place != list.end() && place->name == probe.name) {
    throw std::logic_error("ceiling " + probe.name + " is registered twice");
  }
  list.insert(place, std::move(probe));
  return true;
}

const std::vector<CeilingProbe>& ceiling_probes() { return registry().probes; }

std::string place_of(std::string_view name) {
  if (const Variant* variant = find_variant(name)) return to_string(variant->place);
  for (const auto* places : {&registry().factory_places, &registry().app_places}) {
    if (const auto found = places->find(name); found != places->end()) {
      return to_string(found->second);
    }
  }
  return "";
}

void forget_app(std::string_view name) {
  const auto of_app = [name](const auto& entry) {
    return entry.first.substr(0, entry.first.find('/')) == name;
  };
  Registry& all = registry();
  all.variants.erase([name](const Variant& v) { return v.app == name; });
  std::erase_if(all.factories, of_app);
  std::erase_if(all.digests, of_app);
  for (auto* places : {&all.app_places, &all.factory_places}) std::erase_if(*places, of_app);
  all.apps.erase([name](const App& app) { return app.name() == name; });
}

bool register_source_digests(const std::map<std::string, std::string>& digests) {
  registry().digests.insert(digests.begin(), digests.end());
  return true;
}

const std::map<std::string, std::string>& registered_source_digests() { return registry().digests; }

const std::vector<const App*>& apps() { return registry().apps.list; }

const std::vector<const Variant*>& variants() { return registry().variants.list; }

const App* find_app(std::string_view name) {
  return registry().apps.find([name](const App& app) { return app.name() == name; });
}

const Variant* find_variant(std::string_view name) {
  return registry().variants.find([name](const Variant& v) { return v.name() == name; });
}

const InstanceFactory* find_instance_factory(std::string_view app) {
  const auto found = registry().factories.find(app);
  return found == registry().factories.end() ? nullptr : &found->second;
}

std::vector<const Variant*> variants_of(std::string_view app) {
  std::vector<const Variant*> list;
  for (const Variant* variant : variants()) {
    if (variant->app == app) list.push_back(variant);
  }
  return list;
}

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
  registry().microbenchmarks.add(
      std::make_unique<Microbenchmark>(std::move(m)),
      [](const Microbenchmark* a, const Microbenchmark* b) { return a->name < b->name; });
  return true;
}

const std::vector<const Microbenchmark*>& microbenchmarks() {
  return registry().microbenchmarks.list;
}

const Microbenchmark* find_microbenchmark(std::string_view name) {
  return registry().microbenchmarks.find(
      [name](const Microbenchmark& m) { return m.name == name; });
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
