#include "harness/user_kernel/user_app.hpp"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/registry.hpp"

namespace amasia {
namespace {

constexpr std::size_t longest_name = 64;
constexpr std::string_view baseline_name = "baseline";

class UserAppEntry : public App {
 public:
  explicit UserAppEntry(UserApp app) : app_(std::move(app)) {}
  std::string_view name() const override { return app_.name; }
  std::string_view summary() const override { return app_.summary; }
  const std::vector<ParameterSpec>& parameters() const override { return app_.parameters; }
  std::vector<Parameters> sizes(Preset) const override { return app_.sizes; }
  Work work(const Parameters& p) const override { return app_.work ? app_.work(p) : Work{}; }
  std::int64_t device_bytes(const Parameters& p) const override {
    return app_.device_bytes ? app_.device_bytes(p) : 0;
  }
  Verdict check_reference(const Parameters&, std::uint64_t) const override {
    throw UsageError(app_.name +
                     " has no reference on the CPU: its implementations are compared with each "
                     "other or with a file, on the device");
  }
  std::string description() const override { return app_.description; }

 private:
  UserApp app_;
};

[[noreturn]] void refuse(const UserImplementation* implementation, const std::string& what) {
  const std::string place = implementation != nullptr && !implementation->place.empty()
                                ? implementation->place + ": "
                                : "";
  throw UsageError(place + what);
}

void check_name(const UserImplementation* implementation, const std::string& what,
                const std::string& name) {
  const std::string objection = objection_to_name(name);
  if (!objection.empty()) refuse(implementation, fmt::format("{} '{}': {}", what, name, objection));
}

Variant variant_of(const std::string& app, const UserImplementation& implementation,
                   bool is_baseline) {
  Variant v;
  v.app = app;
  v.strategy = is_baseline ? std::string(baseline_name) : implementation.name;
  v.user_kernel = UserKernel{implementation.place, implementation.broken, implementation.code,
                             implementation.capturable};
  Config config;
  config.info.name = implementation.name;
  config.prepare = implementation.prepare;
  config.unsupported = implementation.unsupported;
  config.loaded_kernels = implementation.kernels;
  v.configs.push_back(std::move(config));
  return v;
}

}  // namespace

std::string objection_to_name(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > longest_name)
    return fmt::format("it has more than {} characters", longest_name);
  constexpr std::string_view may_have =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+";
  return name.find_first_not_of(may_have) == std::string_view::npos
             ? ""
             : "letters, digits, '_', '-', '.' and '+' are what it may consist of";
}

void check_user_app(const UserApp& app) {
  check_name(nullptr, "name of a problem", app.name);
  if (find_app(app.name) != nullptr) {
    throw UsageError(
        fmt::format("the problem cannot be called '{}': an app of this program is", app.name));
  }
  if (app.sizes.empty()) throw UsageError(fmt::format("'{}' has no size", app.name));
  if (!app.instance) throw UsageError(fmt::format("'{}' has no instance to run on", app.name));
  if (app.implementations.size() < 2) {
    throw UsageError(fmt::format("'{}' has {} implementation{}: a comparison needs two or more",
                                 app.name, app.implementations.size(),
                                 app.implementations.size() == 1 ? "" : "s"));
  }
  std::set<std::string_view> names;
  for (const UserImplementation& i : app.implementations) {
    check_name(&i, "name of an implementation", i.name);
    if (!i.prepare) refuse(&i, fmt::format("implementation '{}' has nothing to run", i.name));
    if (!names.insert(i.name).second) {
      refuse(&i, fmt::format("two implementations are called '{}'", i.name));
    }
    // The first is it, whatever it is called; another of that name would be taken for it.
    if (i.name == baseline_name && &i != &app.implementations.front()) {
      refuse(&i,
             "'baseline' is what the first implementation is called in results: name the "
             "others otherwise, or put this one first");
    }
  }
}

UserRegistration::~UserRegistration() {
  if (!app_.empty()) forget_app(app_);
}

UserRegistration register_user_app(UserApp app) {
  check_user_app(app);
  UserRegistration registration(app.name);  // takes back what an exception leaves half done
  std::map<std::string, std::string> digests;
  for (const UserImplementation& i : app.implementations) {
    Variant v = variant_of(app.name, i, &i == &app.implementations.front());
    if (!i.digest.empty()) digests[v.name()] = i.digest;
    register_variant(std::move(v));
  }
  register_source_digests(digests);
  register_instance_factory(app.name, app.instance);
  register_app(std::make_unique<UserAppEntry>(std::move(app)));
  return registration;
}

}  // namespace amasia
