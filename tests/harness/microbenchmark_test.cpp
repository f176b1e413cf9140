#include "harness/microbenchmark.hpp"

#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/plan/plan.hpp"
#include "harness/report/report.hpp"
#include "harness/session/completion.hpp"
#include "tests/sample_results.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

Point point(const std::string& footprint, const std::string& hint = "ca") {
  Point p;
  p.at = {{"footprint", footprint}, {"hint", hint}};
  p.quantity = "latency";
  p.unit = "cycles";
  p.kernels = {{nullptr, 32}};
  p.claims = {{"LDG", "ld.global", 32}};
  p.prepare = [](const Device&, Stream) { return [] { return Reading{33}; }; };
  return p;
}

std::vector<Point> two_points(const Device&, Scope scope) {
  if (scope == Scope::quick) return {point("1024")};
  return {point("1024"), point("2048"), point("2048", "cg")};
}

std::vector<Finding> one_finding(const Device&, const std::vector<MeasuredPoint>& measured) {
  if (measured.empty()) return {};
  return {{{{"level", "l1"}}, "capacity", "KiB", 1, 1, 2, "By\neye | hand"}};
}

std::vector<Point> asked_points(const Device&, const Coordinates& traits) {
  if (value_of(traits, "footprint").empty()) throw UsageError("no footprint was asked for");
  return {point(value_of(traits, "footprint")), point(value_of(traits, "footprint"), "cg")};
}

const bool registered =
    register_microbenchmark({"probe/first", "What is asked?", "So.", two_points, one_finding}) &&
    register_microbenchmark(
        {"probe/second", "What else?", "So, too.", two_points, {}, asked_points});

TEST(Microbenchmarks, MistakesOfARegistrationAreErrors) {
  for (const Microbenchmark& wrong : {Microbenchmark{"probe/first", "Again?", "m", two_points},
                                      Microbenchmark{"nofolder", "What?", "m", two_points},
                                      Microbenchmark{"a/b", "No question", "m", two_points},
                                      Microbenchmark{"a/b", "What?", "m", {}}}) {
    EXPECT_THROW(register_microbenchmark(wrong), std::logic_error) << wrong.question;
  }
}

TEST(Points, MustBeCompleteAndDifferent) {
  const Microbenchmark& m = *find_microbenchmark("probe/first");
  EXPECT_NO_THROW(check_points(m, two_points(Device{}, Scope::full)));
  EXPECT_THROW(check_points(m, {point("1"), point("1")}), std::logic_error);
  Point p = point("1");
  p.claims.clear();
  EXPECT_THROW(check_points(m, {p}), std::logic_error);
  p.unsupported = "there is no such unit";
  EXPECT_NO_THROW(check_points(m, {p}));
  p = point("1");
  p.claims[0].kernel = 1;
  EXPECT_THROW(check_points(m, {p}), std::logic_error);
}

TEST(Points, OfAStudyAreThoseItsConditionsSelect) {
  PlannedMicrobenchmark plan;
  plan.name = "probe/first";
  EXPECT_EQ(planned_points(plan, {}).size(), 3u);
  plan.only = {{{"hint", "cg"}}, {{"footprint", "1024"}, {"hint", "ca"}}};
  const auto points = planned_points(plan, {});
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(to_string(points[1].at), "footprint=2048,hint=cg");
  plan.scope = Scope::quick;
  EXPECT_EQ(planned_points(plan, {}).size(), 1u);
}

MicrobenchmarkResult measured() {
  MicrobenchmarkResult result;
  result.name = "probe/first";
  result.question = "What is asked?";
  result.method = "So.";
  result.scope = Scope::full;
  for (const Point& p : two_points({}, Scope::full)) {
    MicrobenchmarkRow row;
    row.at = p.at;
    row.quantity = p.quantity;
    row.unit = p.unit;
    KernelEvidence evidence;
    evidence.kernel = "_Z4loopv";
    row.evidence = {evidence};
    for (int i = 0; i < 7; ++i) row.samples.push_back({33.0 + 0.01 * i, 33.0, 16.5, 2000.0});
    result.rows.push_back(row);
  }
  return result;
}

/// A listing of a kernel whose loop has `loads` loads.
CodeEvidence code_with(int loads) {
  std::string text = "\t\tFunction : _Z4loopv\n        /*0000*/ MOV R1, R2 ; /* 0x1 */\n";
  for (int i = 0; i < loads; ++i) text += "        /*0010*/ LDG.E.64 R2, [R2] ; /* 0x1 */\n";
  return CodeEvidence::from_sass(text + "        /*0020*/ @P0 BRA 0x10 ; /* 0x1 */\n");
}

TEST(Points, OfTraitsThatAUserNamesAreInPlaceOfItsOwn) {
  PlannedMicrobenchmark plan;
  plan.name = "probe/second";
  plan.asked = {{{"footprint", "7"}}, {{"footprint", "9"}}};
  const auto points = planned_points(plan, {});
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(to_string(points[3].at), "footprint=9,hint=cg");
  plan.asked.push_back({{"size", "7"}});
  EXPECT_THROW(planned_points(plan, {}), UsageError);
  plan.asked = {{{"footprint", "7"}}, {{"footprint", "7"}}};
  EXPECT_THROW(planned_points(plan, {}), std::logic_error) << "the same point twice";
  plan.name = "probe/first";
  EXPECT_THROW(planned_points(plan, {}), UsageError) << "it takes none";
}

/// The result with proofs and findings, with this code in place of the executable's.
MicrobenchmarkResult proved(CodeEvidence code,
                            const std::vector<Point>& points = two_points({}, Scope::full)) {
  MicrobenchmarkResult result = measured();
  recompute(result, 0.95);
  Completion({}, {}, std::move(code)).complete(result, points);
  return result;
}

/// The points when this is changed in the claim of each.
template <class Change>
std::vector<Point> claiming(const Change& change) {
  auto points = two_points({}, Scope::full);
  for (Point& p : points) change(p, p.claims[0]);
  return points;
}

TEST(Measured, AProvenClaimKeepsItsValueAndAWrongOneLosesIt) {
  const MicrobenchmarkRow right = proved(code_with(32)).rows[0];
  EXPECT_EQ(right.status, RowStatus::ok);
  EXPECT_EQ(right.proof.at(0).found, 32);
  EXPECT_TRUE(right.value);
  const MicrobenchmarkRow wrong = proved(code_with(16)).rows[0];
  EXPECT_EQ(wrong.status, RowStatus::failed);
  EXPECT_TRUE(contains(wrong.reason, "16 LDG in the loops (sass)"));
  EXPECT_FALSE(wrong.value);
}

TEST(Measured, AnInstructionThatBecomesSeveralIsCountedByWhatWasRead) {
  const auto points = claiming([](Point&, Claim& c) { c = {"LDG", "ld.global", 32, true, 0, 16}; });
  EXPECT_EQ(proved(code_with(32), points).rows[0].status, RowStatus::ok);
  std::string text = ".target sm_90\n.visible .entry _Z4loopv()\n{\n$L0:\n";
  for (int i = 0; i < 16; ++i) text += "ld.global.u64 %rd1, [%rd1];\n";
  text += "@%p1 bra $L0;\nret;\n}\n";
  const MicrobenchmarkRow of_ptx = proved(CodeEvidence::from_ptx(text), points).rows[0];
  EXPECT_EQ(of_ptx.status, RowStatus::ok);
  EXPECT_EQ(of_ptx.proof.at(0).claimed, 16);
}

TEST(Measured, AClaimOfAtLeastSoManyHoldsForMore) {
  for (const auto& [least, status] :
       {std::pair{32, RowStatus::ok}, {40, RowStatus::ok}, {41, RowStatus::failed}}) {
    const auto points = claiming([count = least](Point&, Claim& c) {
      c.or_more = true;
      c.count = count;
    });
    EXPECT_EQ(proved(code_with(40), points).rows[0].status, status) << least;
  }
}

TEST(Measured, ARowListsWhatItsInstructionBecame) {
  const auto points = claiming([](Point& p, Claim&) { p.copies = 16; });
  EXPECT_EQ(proved(code_with(32), points).rows[0].remark, "SASS: 2 LDG.E.64");  // not the branch
}

TEST(Measured, CodeThatCannotBeReadIsSaid) {
  const MicrobenchmarkRow row = proved(CodeEvidence()).rows[0];
  EXPECT_EQ(row.status, RowStatus::ok);
  EXPECT_TRUE(contains(row.remark, "instructions not counted: none"));
  EXPECT_FALSE(row.proof.at(0).found);
}

MicrobenchmarkResult complete() {
  MicrobenchmarkResult result = proved(code_with(32));
  result.rows[2].status = RowStatus::skipped;
  result.rows[2].reason = "needs compute capability 9.0, this is 8.0";
  result.rows[2].samples.clear();
  recompute(result, 0.95);
  return result;
}

TEST(ResultFiles, HoldMicrobenchmarksOnlyWhereThereAreSome) {
  ResultFile file = sample_results();
  EXPECT_FALSE(to_json(file).contains("microbenchmarks"));
  file.microbenchmarks = {complete()};
  const auto json = to_json(file);
  EXPECT_EQ(to_json(result_from_json(json)), json);
  EXPECT_EQ(json["microbenchmarks"][0]["findings"][0]["quantity"], "capacity");
}

TEST(Exports, ShowPointsProofsAndFindings) {
  const ResultFile file{sample_provenance(), {}, {}, {complete()}};
  expect_golden("microbenchmarks.md", to_markdown(file));
  expect_golden("microbenchmarks.csv", to_csv(point_table(file)));
  EXPECT_TRUE(contains(to_markdown(file), "32 LDG per iteration (sass)"));
}

TEST(Journals, KeepMicrobenchmarksForResume) {
  TemporaryFolder folder;
  const std::string out = folder / "run.json";
  Provenance now = sample_provenance();
  {
    Journal journal(out, now, Existing::refuse);
    journal.append(complete());
  }
  EXPECT_THROW(Journal(out, now, Existing::refuse), UsageError);
  {
    Journal journal(out, now, Existing::resume);
    ASSERT_EQ(journal.finished().microbenchmarks.size(), 1u);
    ResultFile file;
    file.provenance = now;
    file.microbenchmarks = journal.finished().microbenchmarks;
    journal.finish(file);
  }
  EXPECT_EQ(Journal(out, now, Existing::resume).finished().microbenchmarks.size(), 1u);
  now.sources["probe/first"] = "other code";
  EXPECT_THROW(Journal(out, now, Existing::resume), ResultError);
}

TEST(Merge, TakesEachMicrobenchmarkOnce) {
  ResultFile a{sample_provenance(), {}, {}, {complete()}};
  ResultFile b = a;
  EXPECT_THROW(merge_files({a, b}, {"a", "b"}), ResultError);
  b.microbenchmarks[0].name = "probe/another";
  const ResultFile merged = merge_files({a, b}, {"a", "b"});
  ASSERT_EQ(merged.microbenchmarks.size(), 2u);
  EXPECT_EQ(merged.microbenchmarks[0].name, "probe/another");
}

}  // namespace
}  // namespace amasia
