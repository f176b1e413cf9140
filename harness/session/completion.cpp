#include "harness/session/completion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"
#include "harness/statistics/statistics.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

/// "SASS: IMAD.WIDE.U32 + 2 IADD3 + 0.5 MOV": the timed loop by one of its copies, without what is
/// there once per iteration.
std::string machine_code(const KernelCode& code, int copies) {
  std::vector<std::pair<std::string, int>> opcodes(code.timed.begin(), code.timed.end());
  std::ranges::stable_sort(opcodes, std::greater{}, [](const auto& o) { return o.second; });
  std::string list;
  for (const auto& [opcode, count] : opcodes) {
    const double each = std::round(100.0 * count / copies) / 100;
    if (each < 0.1) break;
    list += list.empty() ? "SASS: " : " + ";
    list += each == 1 ? opcode : fmt::format("{:g} {}", each, opcode);
  }
  return list.empty() ? "SASS: nothing in the timed loop" : list;
}

/// Compares what a point claims with what is in the code of its kernels.
void prove(MicrobenchmarkRow& row, const Point& point, const CodeEvidence& code) {
  if (row.evidence.empty()) return;  // it never came to run
  std::vector<KernelCode> codes;
  for (const KernelEvidence& k : row.evidence) codes.push_back(code.of(k.kernel));
  const auto remark = [&row](const std::string& text) {
    row.remark += (row.remark.empty() ? "" : "; ") + text;
  };
  if (point.copies > 0 && codes.front().source == "sass") {
    remark(machine_code(codes.front(), point.copies));
  }
  for (const Claim& claim : point.claims) {
    const KernelEvidence& k = row.evidence[claim.kernel];
    Proof proof;
    proof.kernel = k.kernel;
    proof.in_loop = claim.in_loop;
    proof.source = k.source;
    proof.claimed = claim.count_in(k.source);
    proof.instruction = k.source == "ptx" ? claim.ptx : claim.sass;
    if (k.source == "sass" || k.source == "ptx") {
      const KernelCode& kernel = codes[claim.kernel];
      const auto& counts = claim.in_loop ? kernel.in_loops : kernel.instructions;
      proof.found = value_in(counts, proof.instruction);
      const bool holds =
          claim.or_more ? *proof.found >= proof.claimed : *proof.found == proof.claimed;
      if (!holds && row.status == RowStatus::ok) {
        give_up(row, RowStatus::failed,
                fmt::format(
                    "{} {} in the {} ({}) where the method needs {}: it measured something else",
                    *proof.found, proof.instruction, claim.in_loop ? "loops" : "kernel", k.source,
                    proof.claimed));
        row.value.reset();
      }
    } else {
      const std::string unproved = "instructions not counted: " + k.source;
      if (row.remark.find(unproved) == std::string::npos) remark(unproved);
    }
    row.proof.push_back(std::move(proof));
  }
}

std::vector<Finding> findings_of(const MicrobenchmarkResult& result, const Device& device) {
  const Microbenchmark* m = find_microbenchmark(result.name);
  if (m == nullptr || !m->findings) return {};
  std::vector<MeasuredPoint> measured;
  for (const MicrobenchmarkRow& row : result.rows) {
    if (row.value) measured.push_back({row.at, row.quantity, row.unit, row.value->median});
  }
  return m->findings(device, measured);
}

/// Appends a warning for each comparison whose ratios by round depend on each other more than
/// chance explains: noise of a single row, which the A/A control does not see.
void warn_of_dependent_samples(GroupResult& result) {
  // By chance in one group of a thousand, whatever the number of its comparisons.
  constexpr double level_of_a_group = 0.001;
  constexpr std::size_t enough_rounds = 8;  // with fewer the limit is near 1
  const double level =
      level_of_a_group / std::max(1.0, static_cast<double>(result.comparisons.size()));
  for (const Comparison& c : result.comparisons) {
    const auto pair = rows_of(result.rows, c);
    if (!pair) continue;
    const auto [reference, times] = paired_times(*pair->reference, *pair->row);
    if (times.size() < enough_rounds) continue;
    const std::vector<double> ratios = quotients(reference, times);
    const int n = static_cast<int>(ratios.size());
    const double found = serial_correlation(ratios);
    const double by_chance = serial_correlation_by_chance(n, level);
    if (found <= by_chance) continue;
    result.warnings.push_back(fmt::format(
        "{} {}: its ratio to {} in a round resembles that in the round before (rank correlation "
        "{:.2f} over {} rounds, by chance below {:.2f}): the interval allows for it. Repeated runs "
        "show more (amasia run --sessions)",
        c.variant, word_of(c.role), c.control ? "itself" : c.against, found, n, by_chance));
  }
}

}  // namespace

void summarise(GroupResult& result, double confidence) {
  recompute(result, confidence);
  warn_of_dependent_samples(result);
  for (const Comparison& c : result.comparisons) {
    if (c.control && c.speedup.resolved) {
      result.warnings.push_back(
          fmt::format("{} {} differs from itself by {:.2f} %: no smaller difference counts here",
                      c.variant, word_of(c.role), 100 * std::abs(c.speedup.ratio - 1)));
    }
    if (c.itself && c.itself->resolved) {
      result.warnings.push_back(fmt::format(
          "{} {} differs from itself by {:.2f} % in the rounds in which it ran twice: no smaller "
          "difference of it from {} counts here",
          c.variant, word_of(c.role), 100 * std::abs(c.itself->ratio - 1), c.against));
    }
  }
}

Completion::Completion(Device device, std::vector<Ceiling> ceilings, CodeEvidence code)
    : device_(std::move(device)), ceilings_(std::move(ceilings)), code_(std::move(code)) {}

void Completion::count_instructions(CodeEvidence& counted,
                                    const std::vector<std::vector<KernelEvidence>*>& evidence) {
  std::vector<std::string> kernels;
  for (const auto* of_row : evidence) {
    for (const KernelEvidence& k : *of_row) kernels.push_back(k.kernel);
  }
  counted.read(kernels);
  for (auto* of_row : evidence) {
    for (KernelEvidence& k : *of_row) {
      const KernelCode code = counted.of(k.kernel);
      k.source = code.source;
      k.instructions = code.instructions;
    }
  }
}

void Completion::complete(GroupResult& result) {
  // Kernels of one name may be in the files of two implementations loaded at run time.
  std::map<std::string, std::vector<std::vector<KernelEvidence>*>> by_file;
  for (Row& row : result.rows) {
    const Variant* const variant = find_variant(row.variant);
    const bool has_file =
        variant != nullptr && variant->user_kernel && !variant->user_kernel->code.empty();
    by_file[has_file ? variant->user_kernel->code : ""].push_back(&row.evidence);
  }
  for (const auto& [file, evidence] : by_file) {
    if (!file.empty() && !files_.contains(file)) files_[file] = CodeEvidence::of_file(file);
    count_instructions(file.empty() ? code_ : files_[file], evidence);
  }
  for (Row& row : result.rows) row.source_digest = source_digest(row.variant);
  bound(result);
}

void Completion::bound(GroupResult& result) const {
  result.floor = compute_floor(result.work, ceilings_);
  for (Row& row : result.rows) row.floor_fraction = share_of_floor(result.floor, row);
}

void Completion::prove(MicrobenchmarkRow& row, const Point& point) {
  count_instructions(code_, {&row.evidence});
  amasia::prove(row, point, code_);
}

void Completion::complete(MicrobenchmarkResult& result, const std::vector<Point>& points) {
  std::vector<std::vector<KernelEvidence>*> evidence;
  for (MicrobenchmarkRow& row : result.rows) evidence.push_back(&row.evidence);
  count_instructions(code_, evidence);
  result.source_digest = source_digest(result.name);
  for (std::size_t i = 0; i < result.rows.size() && i < points.size(); ++i) {
    amasia::prove(result.rows[i], points[i], code_);
  }
  result.findings = findings_of(result, device_);
}

}  // namespace amasia
