#include "harness/registry.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/ceiling.hpp"
#include "harness/text/pattern.hpp"

// Registration happens while namespace-scope constants are initialised, in an order the linker
// chose. Function-local statics exist before their first use, and everything is kept sorted, so
// that the order seen by a user never depends on the link. Mistakes here are bugs:
// std::logic_error.
namespace amasia {
namespace {

std::vector<std::unique_ptr<App>>& app_storage() {
  static std::vector<std::unique_ptr<App>> storage;
  return storage;
}

std::vector<const App*>& app_list() {
  static std::vector<const App*> list;
  return list;
}

std::vector<std::unique_ptr<Variant>>& variant_storage() {
  static std::vector<std::unique_ptr<Variant>> storage;
  return storage;
}

std::vector<const Variant*>& variant_list() {
  static std::vector<const Variant*> list;
  return list;
}

std::map<std::string, InstanceFactory, std::less<>>& factories() {
  static std::map<std::string, InstanceFactory, std::less<>> map;
  return map;
}

std::map<std::string, std::string>& outside_digests() {
  static std::map<std::string, std::string> map;
  return map;
}

std::vector<CeilingProbe>& probes() {
  static std::vector<CeilingProbe> list;
  return list;
}

/// Place of a strategy in the table of strategies; comparators come after all of them, and so do
/// implementations that were brought, but for the baseline.
std::size_t rank_of(const Variant& variant) {
  if (variant.comparator) return strategy_traits.size();
  for (std::size_t i = 0; i < strategy_traits.size(); ++i) {
    if (strategy_traits[i].name == variant.strategy) return i;
  }
  if (variant.brought) return strategy_traits.size();
  throw std::logic_error(variant.name() + " is registered with an unknown strategy");
}

bool precedes(const Variant* a, const Variant* b) {
  if (a->app != b->app) return a->app < b->app;
  const std::size_t rank_a = rank_of(*a), rank_b = rank_of(*b);
  return rank_a != rank_b ? rank_a < rank_b : a->strategy < b->strategy;
}

}  // namespace

bool register_app(std::unique_ptr<App> app) {
  if (!app) throw std::logic_error("a null app is registered");
  const std::string name(app->name());
  if (find_app(name)) throw std::logic_error("app " + name + " is registered twice");
  app_storage().push_back(std::move(app));
  std::vector<const App*>& list = app_list();
  list.insert(std::upper_bound(
                  list.begin(), list.end(), name,
                  [](const std::string& left, const App* right) { return left < right->name(); }),
              app_storage().back().get());
  return true;
}

bool register_instance_factory(std::string_view app, InstanceFactory factory) {
  if (!factories().emplace(std::string(app), std::move(factory)).second) {
    throw std::logic_error("app " + std::string(app) + " has two instance factories");
  }
  return true;
}

bool register_variant(Variant variant) {
  rank_of(variant);  // throws for an unknown strategy
  if (find_variant(variant.name())) {
    throw std::logic_error("variant " + variant.name() + " is registered twice");
  }
  if (variant.configs.empty()) throw std::logic_error(variant.name() + " has no config");
  std::set<std::string> names;
  for (const Config& config : variant.configs) {
    if (!names.insert(config.info.name).second) {
      throw std::logic_error(variant.name() + " has two configs named " + config.info.name);
    }
  }
  variant_storage().push_back(std::make_unique<Variant>(std::move(variant)));
  const Variant* added = variant_storage().back().get();
  std::vector<const Variant*>& list = variant_list();
  list.insert(std::upper_bound(list.begin(), list.end(), added, precedes), added);
  return true;
}

bool register_ceiling(CeilingProbe probe) {
  std::vector<CeilingProbe>& list = probes();
  const auto place = std::lower_bound(
      list.begin(), list.end(), probe.name,
      [](const CeilingProbe& left, const std::string& right) { return left.name < right; });
  if (place != list.end() && place->name == probe.name) {
    throw std::logic_error("ceiling " + probe.name + " is registered twice");
  }
  list.insert(place, std::move(probe));
  return true;
}

const std::vector<CeilingProbe>& ceiling_probes() { return probes(); }

void forget_app(std::string_view name) {
  const auto of_app = [name](const Variant& v) { return v.app == name; };
  std::erase_if(variant_list(), [&](const Variant* v) { return of_app(*v); });
  std::erase_if(variant_storage(), [&](const auto& v) { return of_app(*v); });
  std::erase_if(app_list(), [name](const App* app) { return app->name() == name; });
  if (const auto found = factories().find(name); found != factories().end()) {
    factories().erase(found);
  }
  std::erase_if(outside_digests(), [name](const auto& digest) {
    return digest.first.substr(0, digest.first.find('/')) == name;
  });
  std::erase_if(app_storage(), [name](const auto& app) { return app->name() == name; });
}

bool register_source_digests(const std::map<std::string, std::string>& digests) {
  outside_digests().insert(digests.begin(), digests.end());
  return true;
}

const std::map<std::string, std::string>& registered_source_digests() { return outside_digests(); }

const std::vector<const App*>& apps() { return app_list(); }

const std::vector<const Variant*>& variants() { return variant_list(); }

const App* find_app(std::string_view name) {
  for (const App* app : app_list()) {
    if (app->name() == name) return app;
  }
  return nullptr;
}

const Variant* find_variant(std::string_view name) {
  for (const Variant* variant : variant_list()) {
    if (variant->name() == name) return variant;
  }
  return nullptr;
}

const InstanceFactory* find_instance_factory(std::string_view app) {
  const auto found = factories().find(app);
  return found == factories().end() ? nullptr : &found->second;
}

std::vector<const Variant*> variants_of(std::string_view app) {
  std::vector<const Variant*> list;
  for (const Variant* variant : variant_list()) {
    if (variant->app == app) list.push_back(variant);
  }
  return list;
}

std::vector<const Variant*> select_variants(const std::vector<std::string>& patterns) {
  if (patterns.empty()) return variant_list();
  const auto matches = [](const std::string& pattern, const Variant& variant) {
    return glob_match(pattern, variant.name()) || glob_match(pattern, variant.app);
  };
  for (const std::string& pattern : patterns) {
    const bool used =
        std::any_of(variant_list().begin(), variant_list().end(),
                    [&](const Variant* variant) { return matches(pattern, *variant); });
    if (used) continue;
    std::vector<std::string> valid;
    std::set<std::string> seen;
    const auto offer = [&](const std::string& name) {
      if (seen.insert(name).second) valid.push_back(name);
    };
    for (const Variant* variant : variant_list()) offer(variant->app);
    for (const Variant* variant : variant_list()) offer("*/" + variant->strategy);
    for (const Variant* variant : variant_list()) offer(variant->name());
    throw UsageError("'" + pattern + "' matches no variant: " + suggestion(pattern, valid));
  }
  std::vector<const Variant*> selected;
  for (const Variant* variant : variant_list()) {
    if (std::any_of(patterns.begin(), patterns.end(),
                    [&](const std::string& pattern) { return matches(pattern, *variant); })) {
      selected.push_back(variant);
    }
  }
  return selected;
}

}  // namespace amasia
