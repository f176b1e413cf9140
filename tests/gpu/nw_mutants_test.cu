// Proves that the verification of nw can fail (tests/gpu/mutants.hpp); one anti-diagonal per
// launch. Beside the faults that all apps have, faults that happen once, in one cell.
#include "apps/nw/cpu_reference.hpp"
#include "apps/nw/geometry.hpp"
#include "apps/nw/nw.hpp"
#include "apps/nw/scores.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::nw_mutants_test {
namespace {

using NwMutants = OnDevice<>;

constexpr int tile = 16;  // the tile that a fault pretends to have
constexpr int band_columns = nw::ColumnBands<1>::columns;

/// What goes wrong in one cell, once.
enum class Once {
  nothing,
  score,     // its score, and all that is computed from it is computed from the wrong one
  misread,   // its element of ref is read as a better one
  stale,     // its neighbour above is read from before the run: poison
  leftover,  // it was right, and is overwritten when all others have been computed
};

/// `early`: band 1 of `columns-128` takes the words of band 0 without looking whose run they are
/// of.
__global__ void nw_diagonal(nw::Problem p, std::int64_t diagonal, Fault fault, Single<Once> once,
                            bool early) {
  const std::int64_t r = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  const std::int64_t c = diagonal - r;
  if (r >= p.ref.rows || c < 0 || c >= p.ref.columns) return;
  if (fault == Fault::skipped_tile && r / tile == 2 && c / tile == 3) return;
  const Once here = once.at(r, c);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    if (row < 0) return nw::border(column + (fault == Fault::edge ? 2 : 1), p.penalty);
    if (column < 0) return nw::border(row + 1, p.penalty);
    if (early && column == band_columns - 1 && c == band_columns) {
      return static_cast<int>(p.handover.words[row]);
    }
    // A tile's left neighbour from before the run: poison
    const bool halo = fault == Fault::stale_halo && column / tile != c / tile && r / tile == 1;
    return halo ? -1 : p.score.at(row, column);
  };
  // Better than any match, so that it decides whatever the neighbours are
  const int more = here == Once::misread ? 30 : 0;
  const int north = here == Once::stale ? 1000 : at(r - 1, c);
  const int diagonal_step = at(r - 1, c - 1) + p.ref.at(r, c) + more;
  const int gap = max(north, at(r, c - 1)) - p.penalty;
  p.score.at(r, c) = max(diagonal_step, gap) + (here == Once::score ? 1 : 0);
}

__global__ void overwrite(nw::Problem p, Single<Once> once) {
  p.score.at(once.row, once.column) -= 1;
}

void compute(const nw::Problem& p, Fault fault, const Single<Once>& once = {}, bool early = false) {
  for (std::int64_t d = 0; d < p.ref.rows + p.ref.columns - 1; ++d) {
    nw_diagonal<<<static_cast<unsigned>((p.ref.rows + 127) / 128), 128>>>(p, d, fault, once, early);
  }
  if (once.what == Once::leftover) overwrite<<<1, 1>>>(p, once);
  synchronize();
}

TEST_F(NwMutants, AreCaught) {
  const auto i = instance("nw", {{"rows", "67"}, {"cols", "301"}});
  expect_caught(*i, [&](Fault fault) { compute(problem_of<nw::Problem>(*i), fault); });
}

using NwFaultsOnce = OnDevice<>;

// One cell, at random places and in the corners, in a matrix that only the recurrence is asked
// about (beyond 2^20 cells the CPU is not): each is caught and named by its place.
TEST_F(NwFaultsOnce, IsCaughtAtItsPlace) {
  constexpr std::int64_t rows = 1203, cols = 1501;
  const auto i = instance("nw", {{"rows", std::to_string(rows)}, {"cols", std::to_string(cols)}});
  const nw::Problem& p = problem_of<nw::Problem>(*i);
  std::vector<Single<Once>> all;
  for (const Once what : {Once::score, Once::misread, Once::stale, Once::leftover}) {
    for (const std::int64_t row : {std::int64_t{0}, rows - 1}) {
      for (const std::int64_t col : {std::int64_t{0}, cols - 1}) all.push_back({what, 0, row, col});
    }
    for (std::uint64_t n = 0; n < 20; ++n) {
      all.push_back({what, 0, anywhere(1, n, rows), anywhere(2, n, cols)});
    }
  }
  for (const Single<Once>& once : all) {
    i->reset(nullptr);
    compute(p, Fault::none, once);
    const Verdict v = i->verify();
    const std::string place =
        "(" + std::to_string(once.row) + ", " + std::to_string(once.column) + "):";
    EXPECT_FALSE(v.passed) << place << " fault " << static_cast<int>(once.what);
    // A cell that is wrong alone is also wrong for up to three neighbours that follow from it.
    EXPECT_LE(v.mismatches, once.what == Once::leftover ? 4 : 1) << place;
    bool named = false;
    for (const std::string& m : v.first_mismatches) named = named || m.find(place) == 0;
    EXPECT_TRUE(named) << place;
  }
}

// The check agrees with the CPU's scores, where the matrix is right and where one cell is not. So
// it is trusted beyond the sizes that the CPU looks at.
using NwRecurrence = OnDevice<>;

TEST_F(NwRecurrence, AgreesWithTheReference) {
  constexpr int rows = 7, cols = 9;
  for (const char* penalty : {"0", "1", "10"}) {
    const auto i = instance("nw", {{"rows", "7"}, {"cols", "9"}, {"penalty", penalty}}, 3);
    const nw::Problem& p = problem_of<nw::Problem>(*i);
    compute(p, Fault::none);
    const auto& source = dynamic_cast<const nw::ScoreSource&>(*i);
    const std::vector<std::int64_t> expected =
        nw::scores_by_relaxation(source.sequences(), p.penalty);
    const std::vector<int> got = source.score_rows(0, rows);
    ASSERT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
    EXPECT_TRUE(i->verify().passed);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        compute(p, Fault::none, {Once::score, 0, r, c});
        EXPECT_FALSE(i->verify().passed) << r << " " << c << " penalty " << penalty;
      }
    }
  }
}

// Words that bands hand over are poisoned before each verified run: who takes one too early does
// not find the right score of the run before.
TEST_F(NwRecurrence, SeesWordsThatWereTakenTooEarly) {
  const auto i = instance("nw", {{"rows", "67"}, {"cols", "301"}});
  const nw::Problem& p = problem_of<nw::Problem>(*i);
  const Variant& variant = *variants_of("nw").front();
  EXPECT_TRUE(verdict_of(*config_of(variant, "columns-128"), *i, device).passed);
  compute(p, Fault::none, {}, true);
  EXPECT_TRUE(i->verify().passed);  // the words of the run before, which was the same
  i->reset(nullptr);
  compute(p, Fault::none, {}, true);
  EXPECT_FALSE(i->verify().passed);
}

/// All strategies are right there, and one wrong cell is seen. It takes the memory of an H100.
TEST_F(NwRecurrence, HoldsPastTwoToTheThirtyOneCells) {
  const Size size{{"rows", "46001"}, {"cols", "46811"}};
  if (find_app("nw")->device_bytes(Parameters(find_app("nw")->parameters(), size)) >
      static_cast<std::int64_t>(device.free_bytes)) {
    GTEST_SKIP() << "needs more memory than " << device.name << " has free";
  }
  const auto i = instance("nw", size);
  const nw::Problem& p = problem_of<nw::Problem>(*i);
  ASSERT_GT(p.score.rows * p.score.columns, std::int64_t{1} << 31);
  for (const Variant* variant : variants_of("nw")) {
    if (device.compute_capability < variant->traits.runs_from) continue;
    const Config* config = config_of(*variant, "columns-128");
    ASSERT_NE(config, nullptr);
    const Verdict right = verdict_of(*config, *i, device);
    EXPECT_TRUE(right.passed) << variant->name();
    EXPECT_EQ(right.checked, p.score.rows * p.score.columns);
  }
  for (const std::int64_t row : {std::int64_t{0}, p.score.rows - 1}) {
    overwrite<<<1, 1>>>(p, {Once::leftover, 0, row, p.score.columns - 1});
    synchronize();
    const Verdict wrong = i->verify();
    EXPECT_FALSE(wrong.passed) << row;
    ASSERT_FALSE(wrong.first_mismatches.empty());
  }
}

}  // namespace
}  // namespace amasia::nw_mutants_test
