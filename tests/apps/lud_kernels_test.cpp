// The blocked schedule's device code, run on the CPU (tests/emulated/block.hpp): the decomposition
// of diagonal blocks and the solution of panels, on matrices that tell a backward stable
// method from one that is not. Large products, which are plain sums, are made by a loop.
#include "tests/emulated/block.hpp"
#include "tests/test.hpp"

// Device code stands below both.
#include "apps/lud/cpu_reference.hpp"
#include "apps/lud/diagonal.cuh"
#include "apps/lud/panel.cuh"
#include "apps/lud/tiles.cuh"
#include "tests/apps/lud_matrices.hpp"
#include "tests/apps/tf32x3_replay.hpp"

namespace amasia::lud {
namespace {

constexpr float nothing = std::numeric_limits<float>::quiet_NaN();  // never to be read as data

/// Slices are brought by nobody in particular.
struct NothingBetween {
  void operator()(int) const {}
  void all() const {}
};

/// A matrix with the pitch that the strategies have, and the scratch blocks.
class Run {
 public:
  /// `products`: of trailing updates, by tensor cores; FFMA where there are none.
  Run(const HostMatrix& m, bool small_panels, std::optional<matrix::Products> products = {})
      : n_(static_cast<int>(m.n)),
        pitch_((n_ + 31) / 32 * 32),
        cells_(static_cast<std::size_t>(n_) * pitch_, nothing),
        lower_(panel_width * panel_width, nothing),
        upper_(panel_width * panel_width, nothing) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) at(i, j) = m.elements[static_cast<std::size_t>(i) * n_ + j];
    }
    for (int step = 0; step < blocks_of(n_); ++step) {
      decompose(step);
      if (step + 1 == blocks_of(n_)) break;
      const Products panels{Region::panels, n_, step, 1, step + 1, 0, small_panels};
      for (int block = 0; block < panels.blocks(1); ++block) {
        if (small_panels) {
          solve(panels.tile(1, block));
        } else {
          solve_whole(panels.tile(1, block));
        }
      }
      update((step + 1) * panel_width, products);
    }
  }
  const float* data() const { return cells_.data(); }
  std::int64_t pitch() const { return pitch_; }

 private:
  float& at(int i, int j) { return cells_[static_cast<std::size_t>(i) * pitch_ + j]; }

  void decompose(int step) {
    const int first = step * panel_width, size = std::min(panel_width, n_ - first);
    auto& d = *reinterpret_cast<DiagonalBlock*>(emulated::shared);
    for (int i = 0; i < panel_width; ++i) {
      for (int j = 0; j < panel_width; ++j) {
        const bool inside = i < size && j < size;
        d.lu[i * block_pitch + j] = inside ? at(first + i, first + j) : i == j ? 1.0f : 0.0f;
      }
    }
    const DiagonalResult to{&at(first, first),        pitch_,        size,
                            first + panel_width < n_, lower_.data(), upper_.data()};
    emulated::run_block(block_threads, [&](int thread) { factor_block(d, to, thread, [] {}); });
  }

  float operand(Source source, int i, int j) {
    if (source == Source::matrix) return i < n_ && j < pitch_ ? at(i, j) : nothing;
    return (source == Source::lower ? lower_ : upper_)[i * panel_width + j];
  }
  /// A square in shared memory: rows as they are, or permuted as those of A.
  void store_box(unsigned at, Source source, int row, int column, bool permuted) {
    for (int i = 0; i < warp_edge; ++i) {
      for (int j = 0; j < warp_edge; ++j) {
        const float v = operand(source, row + i, column + j);
        const int chunk = permuted ? swizzled_chunk(i, j / 4) : j / 4;
        emulated::store(at + i * SolveTile::k * 4 + 16 * chunk + 4 * (j % 4), v);
      }
    }
  }
  void load_slice(const TileProduct& t, int k) {
    const auto place = [](int box) {
      return static_cast<unsigned>(SolveTile::scratch_bytes + box * SolveTile::box_bytes);
    };
    const int of_a = SolveTile::boxes_of_a(t), of_b = SolveTile::boxes_of_b(t);
    for (int box = 0; box < of_a; ++box) {
      store_box(place(box), t.a_source, t.a_row + box * warp_edge, t.a_column + k, true);
    }
    for (int box = 0; box < of_b; ++box) {
      store_box(place(of_a + box), t.b_source, t.b_row + k, t.b_column + box * warp_edge, false);
    }
  }
  void solve(const TileProduct& t) {
    std::vector<float> solved(static_cast<std::size_t>(t.rows) * t.columns);
    emulated::run_block(SolveTile::threads, [&](int thread) {
      SolveTile::Accumulator acc;
      acc.clear();
      for (int slice = 0; slice < t.depth / SolveTile::k; ++slice) {
        __syncthreads();
        if (thread == 0) load_slice(t, slice * SolveTile::k);
        __syncthreads();
        SolveTile::advance(acc, SolveTile::scratch_bytes, slice, 0, t, thread, NothingBetween{});
      }
      const int row = SolveTile::first_row(t, thread) - t.c_row;
      const int column = SolveTile::first_column(t, thread) - t.c_column;
      for (int i = 0; i < SolveTile::rows_per_thread; ++i) {
        for (int j = 0; j < SolveTile::columns_per_thread; ++j) {
          solved[(row + 8 * i) * t.columns + column + j / 4 * 16 + j % 4] = -acc.c[i][j];
        }
      }
    });
    for (int i = 0; i < t.rows && t.c_row + i < n_; ++i) {
      for (int j = 0; j < t.columns && t.c_column + j < pitch_; ++j) {
        at(t.c_row + i, t.c_column + j) = solved[i * t.columns + j];
      }
    }
  }
  /// As a mover of PanelTile: thread 0 brings a step's squares, each warp stores its own.
  struct WholeTile {
    Run& run;
    const TileProduct& t;
    int thread;
    void wait(int step) {
      __syncthreads();
      for (int i = 0; thread == 0 && i < PanelTile::squares(step); ++i) {
        const PanelSquare s = PanelTile::square(t, step, i);
        EXPECT_LE(PanelTile::place(step, i) + PanelTile::square_bytes, PanelTile::all_bytes + 0u);
        run.store_box(PanelTile::place(step, i), s.source, s.row, s.column, s.permuted);
      }
      __syncthreads();
    }
    void store(int step) {
      const PanelSquare to = PanelTile::x(t, step, thread / 32);
      const int i = thread % 32, row = to.row + i;
      for (int j = 0; j < warp_edge && row < run.n_ && to.column + j < run.pitch_; ++j) {
        const unsigned from = ChainTile::place(PanelTile::place_of_x(step, thread / 32), i, j / 4);
        run.at(row, to.column + j) = emulated::load<float>(from + 4 * (j % 4));
      }
    }
  };
  void solve_whole(const TileProduct& t) {
    std::fill(emulated::shared, emulated::shared + PanelTile::all_bytes, 0xff);  // NaN
    emulated::run_block(PanelTile::threads, [&](int thread) {
      WholeTile mover{*this, t, thread};
      if (PanelTile::is_beside(t)) {
        PanelTile::solve<true>(mover, 0, thread);
      } else {
        PanelTile::solve<false>(mover, 0, thread);
      }
    });
  }
  /// What lies behind `next` loses the product of the panels before it.
  void update(int next, std::optional<matrix::Products> products) {
    if (products) return update_by_parts(next, *products);
    std::vector<float> sum(n_);
    for (int i = next; i < n_; ++i) {
      std::ranges::fill(sum, 0.0f);
      for (int k = next - panel_width; k < next; ++k) {
        for (int j = next; j < n_; ++j) sum[j] = std::fma(at(i, k), at(k, j), sum[j]);
      }
      for (int j = next; j < n_; ++j) at(i, j) -= sum[j];
    }
  }

  /// The same as tensor_update.cuh computes it.
  void update_by_parts(int next, matrix::Products products) {
    std::vector<std::vector<float>> columns(n_);
    for (int j = next; j < n_; ++j) {
      for (int k = next - panel_width; k < next; ++k) columns[j].push_back(at(k, j));
    }
    for (int i = next; i < n_; ++i) {
      const std::vector<float> row(&at(i, next - panel_width), &at(i, next));
      for (int j = next; j < n_; ++j) at(i, j) -= matrix::three_products(row, columns[j], products);
    }
  }

  int n_, pitch_;
  std::vector<float> cells_, lower_, upper_;
};

void expect_as_stable_as_elimination(const HostMatrix& m, const std::string& what) {
  const Verdict plain = compare(eliminated(m).data(), m.n, m, Normalisation::unit_lower);
  const auto check = [&](const Run& run, const char* how) {
    const Verdict v = compare(run.data(), run.pitch(), m, Normalisation::unit_lower);
    EXPECT_TRUE(v.passed) << what << how << ": " << v.error << " > " << v.bound;
    EXPECT_LE(v.error, 4 * plain.error) << what << how;
  };
  check(Run(m, true), ", small tiles");
  if (m.n > panel_width) {
    check(Run(m, false, matrix::Products::three), ", whole tiles, three products");
  }
}

TEST(LudKernels, DecomposeAsStablyAsElimination) {
  for (const char* input : {"random", "uniform", "graded"}) {
    expect_as_stable_as_elimination(generated(161, input), input);
  }
  // The first step cancels all but a thousandth of an element of Rodinia's matrix. So plain
  // elimination rounds few large numbers while there are few steps: from order 129 to about 230 its
  // errors are a fourth to a sixth of those of sums of 128 terms.
  for (const char* input : {"rodinia", "ill_conditioned"}) {
    expect_as_stable_as_elimination(generated(300, input), input);
  }
  for (std::int64_t n : {32, 64, 256}) {  // as Rodinia's files
    expect_as_stable_as_elimination(product_of_triangles(n, 3), std::to_string(n));
  }
  for (std::int64_t n : {1, 33, 100, 129}) {  // the last block is incomplete
    expect_as_stable_as_elimination(generated(n, "ill_conditioned"), std::to_string(n));
  }
}

/// A dominant matrix whose leading square is the product of triangles with elements in [-1, 1) and
/// unit pivots, but the last one 1 / condition.
TEST(LudKernels, AreStableBehindNearlySingularLeadingBlocks) {
  for (int edge : {4, 32}) {
    for (double condition : {1e4, 1e6}) {
      HostMatrix m = generated(160, "random");
      const auto element = [&](int i, int j) {
        return static_cast<double>(uniform_element(5, edge, i, j));
      };
      for (int i = 0; i < edge; ++i) {
        for (int j = 0; j < edge; ++j) {
          double sum = 0;
          for (int k = 0; k <= std::min(i, j); ++k) {
            const double pivot = k == edge - 1 ? 1 / condition : 1;
            sum += (k == i ? 1 : element(i, k)) * (k == j ? pivot : element(k, j));
          }
          m.elements[i * m.n + j] = static_cast<float>(sum);
        }
      }
      expect_as_stable_as_elimination(m, "leading_" + std::to_string(edge));
    }
  }
}

TEST(LudKernels, AForgottenProductOfUpdatesIsRefused) {
  const HostMatrix m = generated(160, "ill_conditioned");
  const lud::Run run(m, false, matrix::Products::without_lo_hi);
  EXPECT_FALSE(compare(run.data(), run.pitch(), m, Normalisation::unit_lower).passed);
}

}  // namespace
}  // namespace amasia::lud
