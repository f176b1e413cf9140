#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/errors.hpp"
#include "harness/plan/selection.hpp"
#include "harness/plan/study.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

/// An app stands where a study is expected.
std::string objection_to_study(std::string& name) {
  if (is_study(name) || find_app(name.substr(0, name.find('/'))) == nullptr) return {};
  return fmt::format("'{0}' is no study: amasia study quick {0}", name);
}

/// Tells why nothing of this document can be measured, a line for each row first. Without device
/// code that is the reason, and the device query says it.
void refuse_if_not_reproducible(const CampaignRequest& request) {
  const std::vector<InventoryRow>& rows = request.inventory;
  const bool answered =
      std::ranges::any_of(rows, [](const InventoryRow& row) { return !row.by.empty(); });
  if (std::ranges::any_of(rows, is_built)) return;
  if (answered && !has_device_code()) return;
  for (const InventoryRow& row : rows) {
    write_data(
        fmt::format("{} ({}): {}\n", row.id, row.where, row.by.empty() ? row.remark : row.what));
  }
  throw UsageError(answered ? request.study + ": what measures it is not part of this program: " +
                                  how_to_build_all_microbenchmarks
                            : request.study + ": there is nothing to measure");
}

Action declare_study(CLI::App& options) {
  auto r = std::make_shared<MeasureRequest>();
  r->campaign.caches.clear();
  r->campaign.launches.clear();
  options.add_option("name", r->campaign.study, "which study: amasia list shows them")
      ->required()
      ->check(CLI::Validator(objection_to_study, ""))
      ->type_name("STUDY");
  add_patterns(options, r->campaign.patterns);
  add_modes(options, r->campaign);
  add_effort(options, r->effort, "the study's");
  add_measuring(options, *r);
  return [r](const std::vector<std::string>& argv) {
    CampaignRequest& c = r->campaign;
    if (std::vector<InventoryRow> rows = inventory_rows(c.study); !rows.empty()) {
      ask_for(c, std::move(rows), r->effort);
      refuse_if_not_reproducible(c);
    } else {
      ask_for(c, find_study(c.study), r->effort);
    }
    return measure(*r, argv);
  };
}

const bool study_registered = register_command(
    {.name = "study",
     .group = CommandGroup::measure,
     .summary = "a named list of cases, or what a source document measured",
     .description = "A study fixes sizes, modes and effort; options given here outweigh its own. "
                    "Those of the source documents measure what python -m plots reproduction sets "
                    "beside the published values.",
     .examples = {{{"amasia study quick", "every variant at one realistic size: under two minutes"},
                   {"amasia study seed000-table4", "one table of a document, measured again"}}},
     .declare = declare_study});

}  // namespace
}  // namespace amasia
