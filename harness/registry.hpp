// The apps, variants and microbenchmarks linked into this executable, in name order.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "harness/variant.hpp"

namespace amasia {

const std::vector<const App*>& apps();
const std::vector<const Variant*>& variants();       // by app, then strategy order, others last
const App* find_app(std::string_view name);          // nullptr when unknown
const Variant* find_variant(std::string_view name);  // "app/strategy"
const InstanceFactory* find_instance_factory(std::string_view app);  // nullptr in host-only builds
std::vector<const Variant*> variants_of(std::string_view app);

/// Where the variant of that name is registered, or of an app what makes its instances (its App
/// where nothing does); "" for an unknown name.
std::string place_of(std::string_view name);

/// Takes an app away that was registered at run time, with its variants, its instance factory and
/// its digests. Nothing may refer to them any more.
void forget_app(std::string_view name);

/// Digests of an app outside the tree: "app/variant" -> SHA-256 (hex), and "app" for variants that
/// are not named. amasia_add_app() writes the source that calls it (cmake/digests/).
/// Returns true, for static registration.
bool register_source_digests(const std::map<std::string, std::string>& digests);
const std::map<std::string, std::string>& registered_source_digests();

}  // namespace amasia
