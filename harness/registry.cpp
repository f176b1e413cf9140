#include "harness/registry.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "harness/ceiling.hpp"
#include "harness/text/pattern.hpp"

// Registration happens while namespace-scope constants are initialised, in an order the linker
// chose. A function-local static exists before its first use, and everything is kept sorted, so
// that the order seen by a user never depends on the link.
namespace amasia {
namespace {

struct Registry {
  std::vector<std::unique_ptr<App>> app_storage{};
  std::vector<const App*> apps{};
  std::vector<std::unique_ptr<Variant>> variant_storage{};
  std::vector<const Variant*> variants{};
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
  registry().app_storage.push_back(std::move(app));
  std::vector<const App*>& list = registry().apps;
  list.insert(std::upper_bound(
                  list.begin(), list.end(), name,
                  [](const std::string& left, const App* right) { return left < right->name(); }),
              registry().app_storage.back().get());
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
  registry().variant_storage.push_back(std::make_unique<Variant>(std::move(variant)));
  const Variant* added = registry().variant_storage.back().get();
  std::vector<const Variant*>& list = registry().variants;
  list.insert(std::upper_bound(list.begin(), list.end(), added, precedes), added);
  return true;
}

bool register_ceiling(CeilingProbe probe) {
  std::vector<CeilingProbe>& list = registry().probes;
  const auto place = std::lower_bound(
      list.begin(), list.end(), probe.name,
      [](const CeilingProbe& left, const std::string& right) { return left.name < right; });
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
  const auto of_app = [name](const Variant& v) { return v.app == name; };
  std::erase_if(registry().variants, [&](const Variant* v) { return of_app(*v); });
  std::erase_if(registry().variant_storage, [&](const auto& v) { return of_app(*v); });
  std::erase_if(registry().apps, [name](const App* app) { return app->name() == name; });
  if (const auto found = registry().factories.find(name); found != registry().factories.end()) {
    registry().factories.erase(found);
  }
  std::erase_if(registry().digests, [name](const auto& digest) {
    return digest.first.substr(0, digest.first.find('/')) == name;
  });
  for (auto* places : {&registry().app_places, &registry().factory_places}) {
    if (const auto place = places->find(name); place != places->end()) places->erase(place);
  }
  std::erase_if(registry().app_storage, [name](const auto& app) { return app->name() == name; });
}

bool register_source_digests(const std::map<std::string, std::string>& digests) {
  registry().digests.insert(digests.begin(), digests.end());
  return true;
}

const std::map<std::string, std::string>& registered_source_digests() { return registry().digests; }

const std::vector<const App*>& apps() { return registry().apps; }

const std::vector<const Variant*>& variants() { return registry().variants; }

const App* find_app(std::string_view name) {
  for (const App* app : registry().apps) {
    if (app->name() == name) return app;
  }
  return nullptr;
}

const Variant* find_variant(std::string_view name) {
  for (const Variant* variant : registry().variants) {
    if (variant->name() == name) return variant;
  }
  return nullptr;
}

const InstanceFactory* find_instance_factory(std::string_view app) {
  const auto found = registry().factories.find(app);
  return found == registry().factories.end() ? nullptr : &found->second;
}

std::vector<const Variant*> variants_of(std::string_view app) {
  std::vector<const Variant*> list;
  for (const Variant* variant : registry().variants) {
    if (variant->app == app) list.push_back(variant);
  }
  return list;
}

}  // namespace amasia
