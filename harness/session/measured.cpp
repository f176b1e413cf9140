#include "harness/session/measured.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace amasia {
namespace {

std::optional<double> median_of(const std::vector<Reading>& samples,
                                std::optional<double> Reading::*member) {
  std::vector<double> values;
  for (const Reading& r : samples) {
    if (r.*member) values.push_back(*(r.*member));
  }
  if (values.size() < samples.size() || values.empty()) return std::nullopt;
  return median_interval(std::move(values), 0.95).median;
}

/// "SASS: IMAD.WIDE.U32 + 2 IADD3 + 0.5 MOV": the timed loop by one of its copies, without what is
/// there once per iteration.
std::string machine_code(const CodeEvidence::Kernel& code, int copies) {
  std::vector<std::pair<std::string, int>> opcodes(code.timed.begin(), code.timed.end());
  std::stable_sort(opcodes.begin(), opcodes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string list;
  for (const auto& [opcode, count] : opcodes) {
    const double each = std::round(100.0 * count / copies) / 100;
    if (each < 0.1) break;
    list += list.empty() ? "SASS: " : " + ";
    list += each == 1 ? opcode : fmt::format("{:g} {}", each, opcode);
  }
  return list.empty() ? "SASS: nothing in the timed loop" : list;
}

}  // namespace

void summarise(MicrobenchmarkResult& result, double confidence) {
  for (MicrobenchmarkRow& row : result.rows) {
    if (row.status != RowStatus::ok || row.samples.empty()) continue;
    std::vector<double> values;
    for (const Reading& r : row.samples) values.push_back(r.value);
    row.value = median_interval(std::move(values), confidence);
    row.cycles = median_of(row.samples, &Reading::cycles);
    row.time_ns = median_of(row.samples, &Reading::time_ns);
    row.clock_mhz = median_of(row.samples, &Reading::clock_mhz);
  }
}

void prove(MicrobenchmarkResult& result, const std::vector<Point>& points, CodeEvidence& evidence) {
  std::vector<std::string> kernels;
  for (const MicrobenchmarkRow& row : result.rows) {
    for (const KernelEvidence& k : row.evidence) kernels.push_back(k.kernel);
  }
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  evidence.read(kernels);
  for (std::size_t i = 0; i < result.rows.size() && i < points.size(); ++i) {
    MicrobenchmarkRow& row = result.rows[i];
    std::vector<CodeEvidence::Kernel> codes;
    for (KernelEvidence& k : row.evidence) {
      codes.push_back(evidence.of(k.kernel));
      const CodeEvidence::Kernel& code = codes.back();
      k.source = code.source;
      k.instructions = code.instructions;
    }
    if (row.evidence.empty()) continue;  // it never came to run
    if (points[i].copies > 0 && codes.front().source == "sass") {
      row.remark +=
          (row.remark.empty() ? "" : "; ") + machine_code(codes.front(), points[i].copies);
    }
    for (const Claim& claim : points[i].claims) {
      const KernelEvidence& k = row.evidence[claim.kernel];
      Proof proof;
      proof.kernel = k.kernel;
      proof.in_loop = claim.in_loop;
      proof.source = k.source;
      proof.claimed = claim.count_in(k.source);
      proof.instruction = k.source == "ptx" ? claim.ptx : claim.sass;
      if (k.source == "sass" || k.source == "ptx") {
        const CodeEvidence::Kernel& code = codes[claim.kernel];
        const auto& counts = claim.in_loop ? code.in_loops : code.instructions;
        const auto found = counts.find(proof.instruction);
        proof.found = found == counts.end() ? 0 : found->second;
        const bool holds =
            claim.or_more ? *proof.found >= proof.claimed : *proof.found == proof.claimed;
        if (!holds && row.status == RowStatus::ok) {
          row.status = RowStatus::failed;
          row.reason = fmt::format(
              "{} {} in the {} ({}) where the method needs {}: it measured something else",
              *proof.found, proof.instruction, claim.in_loop ? "loops" : "kernel", k.source,
              proof.claimed);
          row.value.reset();
        }
      } else {
        const std::string unproved = "instructions not counted: " + k.source;
        if (row.remark.find(unproved) == std::string::npos) {
          row.remark += (row.remark.empty() ? "" : "; ") + unproved;
        }
      }
      row.proof.push_back(std::move(proof));
    }
  }
}

void find(MicrobenchmarkResult& result, const Device& device) {
  const Microbenchmark* m = find_microbenchmark(result.name);
  if (m == nullptr || !m->findings) return;
  std::vector<MeasuredPoint> measured;
  for (const MicrobenchmarkRow& row : result.rows) {
    if (row.value) measured.push_back({row.at, row.quantity, row.unit, row.value->median});
  }
  result.findings = m->findings(device, measured);
}

}  // namespace amasia
