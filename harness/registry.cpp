#include "harness/registry.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "harness/ceiling.hpp"
#include "harness/text/pattern.hpp"

// Registration happens while namespace-scope constants are initialised, in an order the linker
// chose. A function-local static exists before its first use, and everything is kept sorted, so
// that the order seen by a user never depends on the link. An exception here would end the program
// before main(), with no word on whose registration it was: a mistake is kept instead, main() says
// it, what it concerns is not measured, and the rest is.
namespace amasia {
namespace {

struct Mistake {
  std::string of;  // an app's or a variant's name
  std::string sentence;
};

struct Registry {
  std::vector<std::unique_ptr<App>> app_storage{};
  std::vector<const App*> apps{};
  std::vector<std::unique_ptr<Variant>> variant_storage{};
  std::vector<const Variant*> variants{};
  std::map<std::string, InstanceFactory, std::less<>> factories{};
  std::map<std::string, std::string> digests{};
  std::vector<CeilingProbe> probes{};
  std::vector<Mistake> mistakes{};
  std::map<std::string, SourceLine, std::less<>> app_places{}, factory_places{};  // by app
};

Registry& registry() {
  static Registry one;
  return one;
}

void note_mistake(std::string of, const std::string& what) {
  registry().mistakes.push_back({of, fmt::format("{} {}", of, what)});
}

/// The same place for two registrations: a loop, or a header that two files include.
std::string twice(const char* what, const SourceLine& first, const SourceLine& second) {
  return fmt::format("{} twice, at {} and at {}: one of them has to go", what, to_string(first),
                     to_string(second));
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

/// What is wrong with a variant by itself; "" when nothing is.
std::string defect_of(const Variant& variant) {
  if (!variant.comparator && !variant.user_kernel && rank_of(variant) == strategy_traits.size()) {
    return fmt::format("is registered with a strategy that there is not, '{}'", variant.strategy);
  }
  if (variant.configs.empty()) return "is registered without a config";
  std::set<std::string> names;
  for (const Config& config : variant.configs) {
    const std::string& name = config.info.name;
    if (!names.insert(name).second) return fmt::format("has two configs named {}", name);
    for (const KernelUse& k : config.info.kernels) {
      if (k.function == nullptr) return fmt::format("has no kernel in config {}", name);
      if (k.threads < 1 || k.cluster_blocks < 1) {
        return fmt::format("has a kernel of {} threads in clusters of {} blocks in config {}",
                           k.threads, k.cluster_blocks, name);
      }
    }
  }
  return "";
}

/// What is wrong with what a variant says of others, which may register themselves after it; ""
/// when nothing is.
std::string defect_beside_others(const Variant& variant) {
  if (find_app(variant.app) == nullptr) {
    return fmt::format("{} is registered at {} for an app that nothing registers", variant.name(),
                       to_string(variant.place));
  }
  if (variant.spells.empty()) return "";
  const std::string spelled = fmt::format("{}/{}", variant.app, variant.spells);
  const Variant* const strategy = find_variant(spelled);
  if (strategy == nullptr) {
    return fmt::format("{} is registered at {} as a spelling of {}, which nothing registers",
                       variant.name(), to_string(variant.place), spelled);
  }
  for (const Config& config : variant.configs) {
    const std::string& name = config.info.name;
    const bool there = std::any_of(strategy->configs.begin(), strategy->configs.end(),
                                   [&](const Config& other) { return other.info.name == name; });
    if (!there) {
      return fmt::format("{} is registered at {} as a spelling of {}, which has no config {}",
                         variant.name(), to_string(variant.place), spelled, name);
    }
  }
  return "";
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
  if (!app) {
    note_mistake("a null app", fmt::format("is registered at {}", to_string(place)));
    return true;
  }
  const std::string name(app->name());
  const auto [known, first] = registry().app_places.emplace(name, place);
  if (!first) {
    note_mistake(name, twice("is registered", known->second, place));
    return true;
  }
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
  if (!first) {
    note_mistake(std::string(app), twice("has its instances made", known->second, place));
    return true;
  }
  registry().factories.emplace(std::string(app), std::move(factory));
  return true;
}

bool register_variant(Variant variant, SourceLine place) {
  variant.place = place;
  if (const Variant* known = find_variant(variant.name())) {
    note_mistake(variant.name(), twice("is registered", known->place, place));
    return true;
  }
  if (const std::string defect = defect_of(variant); !defect.empty()) {
    note_mistake(variant.name(), fmt::format("{} ({})", defect, to_string(place)));
    // Without a config it cannot even stand in a plan.
    if (variant.configs.empty()) return true;
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

std::vector<std::string> registration_mistakes() {
  std::vector<std::string> sentences;
  for (const Mistake& m : registry().mistakes) sentences.push_back(m.sentence);
  for (const Variant* variant : registry().variants) {
    std::string defect = defect_beside_others(*variant);
    if (!defect.empty()) sentences.push_back(std::move(defect));
  }
  std::sort(sentences.begin(), sentences.end());
  return sentences;
}

std::string registration_mistake(std::string_view variant) {
  const std::string_view app = variant.substr(0, variant.find('/'));
  std::string all;
  for (const Mistake& m : registry().mistakes) {
    if (m.of != variant && m.of != app) continue;
    all += (all.empty() ? "" : "; ") + m.sentence;
  }
  if (const Variant* known = find_variant(variant)) {
    if (const std::string defect = defect_beside_others(*known); !defect.empty()) {
      all += (all.empty() ? "" : "; ") + defect;
    }
  }
  return all;
}

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
  std::erase_if(registry().mistakes,
                [name](const Mistake& m) { return m.of.substr(0, m.of.find('/')) == name; });
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
