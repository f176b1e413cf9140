// What a run has measured beside what the source documents say.
#pragma once

#include <vector>

#include "harness/published/inventory.hpp"
#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

/// id, what, own, published, ratio, status and remark of these rows: at least one line for each.
Table reproduction_table(const ResultFile& file, const std::vector<InventoryRow>& rows);

}  // namespace amasia
