#include <memory>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/references.hpp"
#include "harness/registry.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

struct VerifyRequest : MeasureRequest {
  bool reference = false;
};

ExitStatus verify_references(const VerifyRequest& r, const std::vector<AppCases>& cases) {
  ReferenceCount count;
  for (const AppCases& c : cases) {
    for (const Parameters& size : c.sizes) {
      const Verdict v =
          check_reference(std::string(c.app->name()), size, r.campaign.seed, r.session);
      print_reference(*c.app, size, v, count);
    }
  }
  print_count(count);
  if (count.failed > 0) return exit_wrong_result;
  say_next(has_device_code() ? "amasia verify" : "amasia doctor",
           has_device_code() ? "compares every config on the GPU with these references"
                             : "says what else works here, and what a GPU needs");
  return exit_ok;
}

/// Of the right rows, what the one nearest to its bound was off by, and in which norm.
void print_worst(const GroupResult& group) {
  const Row* worst = nullptr;
  const auto share = [](const Row& row) {
    return row.verdict->bound > 0 ? row.verdict->error / row.verdict->bound : 0;
  };
  for (const Row& row : group.rows) {
    if (row.status != RowStatus::ok || !row.verdict) continue;
    if (worst == nullptr || share(row) > share(*worst)) worst = &row;
  }
  if (worst == nullptr || worst->verdict->bound <= 0) return;  // none, or exact
  print_data("  largest error {:.2g} of {:.2g} accepted: {} {} ({})\n", worst->verdict->error,
             worst->verdict->bound, worst->variant, worst->config, worst->verdict->norm);
}

/// Counts the rows of a group that are right; the others are printed with the reason.
void count_verified(const GroupResult& group, Tally& tally) {
  const int before = tally.ok;
  for (const Row& row : group.rows) {
    if (row.status == RowStatus::ok) {
      ++tally.ok;
      continue;
    }
    const bool skipped = row.status == RowStatus::skipped;
    ++(skipped ? tally.skipped : tally.failed);
    const std::string place = place_of(row.variant);
    const bool named = skipped || row.reason.find(place) != std::string::npos;  // "" is everywhere
    print_data("{} {} {} {}: {}{}\n", skipped ? "skipped" : "FAILED", row.variant, row.config,
               group.key.size.to_string(), row.reason, named ? "" : fmt::format(" ({})", place));
    if (skipped || !row.verdict) continue;
    for (const auto& m : row.verdict->first_mismatches) print_data("  {}\n", m);
  }
  print_data("{} {}: {} of {} configs verified\n", group.key.app, group.key.size.to_string(),
             tally.ok - before, group.rows.size());
  print_worst(group);
}

ExitStatus verify(const VerifyRequest& r) {
  const std::vector<AppCases> cases = app_cases_of(r.campaign);
  if (r.reference && r.dry_run) {
    for (const AppCases& c : cases) {
      for (const Parameters& size : c.sizes) {
        print_data("{} {}: on the CPU, no device memory\n", c.app->name(), size.to_string());
      }
    }
    return exit_ok;
  }
  if (r.reference) return verify_references(r, cases);
  const std::vector<PlannedGroup> plan = plan_verification(r.campaign, cases);
  if (r.dry_run) {
    return preview("verify", r, cases,
                   [&](const std::optional<Device>&) { return Campaign{plan}; });
  }
  const Device device = query_in_child(r.session).device;
  refuse_too_large(cases, r.campaign, device);
  Tally all;
  for (const PlannedGroup& group : plan) {
    bool stopped = false;
    const GroupResult result = run_isolated(
        group, r.session, [](const std::string&) {}, stopped);
    if (stopped) return exit_interrupted;
    count_verified(result, all);
  }
  print_data("{} ok, {} failed, {} skipped\n", all.ok, all.failed, all.skipped);
  if (all.failed > 0) {
    say_next(with_patterns("scripts/sanitize.sh", r.campaign.patterns),
             "runs them under compute-sanitizer");
    return exit_wrong_result;
  }
  say_next("amasia study quick", "times what was verified: under two minutes");
  return exit_ok;
}

Action declare_verify(CLI::App& options) {
  auto r = std::make_shared<VerifyRequest>();
  add_patterns(options, r->campaign.patterns);
  add_sizes(options, r->campaign.sizes, Preset::smoke);
  add_seed(options, r->campaign.seed);
  options.add_flag("--reference", r->reference,
                   "the CPU references against a second one; needs no GPU");
  add_device(options, r->session);
  add_dry_run(options, r->dry_run);
  return [r](const std::vector<std::string>&) { return verify(*r); };
}

const bool verify_registered = register_command(
    {.name = "verify",
     .group = CommandGroup::measure,
     .summary = "every config of every variant against the reference",
     .description = "With --reference the CPU references themselves are compared with a second, "
                    "independently written computation; that works in a build without CUDA, too.",
     .examples = {{{"amasia verify --reference", "all references, without a GPU"},
                   {"amasia verify nw/tma --size rows=50001,cols=50003",
                    "one variant at a size of your own"}}},
     .declare = declare_verify});

}  // namespace
}  // namespace amasia
