// What `amasia cross` refuses before anything runs: its apps are registered here.
#include <gtest/gtest.h>

#include <memory>

#include "harness/app.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/description.hpp"
#include "harness/errors.hpp"
#include "harness/registry.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

class CrossedAlone : public App {
 public:
  CrossedAlone(std::string name, std::vector<Schedule> schedules)
      : name_(std::move(name)), schedules_(std::move(schedules)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "nothing at all, to test the command"; }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs{
        {"n", ParameterSpec::Kind::integer, "elements", "1000", 1, INT64_MAX}};
    return specs;
  }
  std::vector<Parameters> sizes(Preset) const override { return {Parameters(parameters(), {})}; }
  Work work(const Parameters&) const override { return {1, Work::Kind::fp32, 1, 1, 0}; }
  std::int64_t device_bytes(const Parameters&) const override { return 8; }
  Verdict check_reference(const Parameters&, std::uint64_t) const override {
    return {true, "exact", 0, 0, 1, 0};
  }
  std::vector<Schedule> schedules() const override { return schedules_; }

 private:
  std::string name_;
  std::vector<Schedule> schedules_;
};

Variant only_tma(const std::string& app) {
  Variant v;
  v.app = app;
  v.strategy = "tma";
  v.configs.resize(1);
  v.configs[0].info.name = v.configs[0].info.schedule = "wide";
  return v;
}

const bool apps_registered =
    register_app(std::make_unique<CrossedAlone>(
        "headless", std::vector<Schedule>{{"wide", "many columns to a block"}})) &&
    register_variant(only_tma("headless")) &&
    register_app(std::make_unique<CrossedAlone>("undivided", std::vector<Schedule>{})) &&
    register_variant(only_tma("undivided"));

std::string refusal_of(const char* app) {
  const Parser parser = make_parser();
  const std::vector<const char*> argv{"amasia", "cross", app};
  parser.program->parse(static_cast<int>(argv.size()), argv.data());
  return message_of<UsageError>([&] { parser.actions.at("cross")({{}, *parser.program}); });
}

TEST(Cross, WithoutABaselineIsRefused) {
  EXPECT_EQ(refusal_of("headless"),
            "cross holds every strategy against the baseline, and headless has none in this "
            "program");
}

TEST(Cross, WithoutSchedulesIsRefused) {
  EXPECT_TRUE(contains(refusal_of("undivided"), "are not divided into schedule and movement"));
}

}  // namespace
}  // namespace amasia
