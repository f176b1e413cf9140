// Where the next session falls: a nested model over repeated sessions (docs/methodology.md,
// "Between runs"). The logarithm of a median, or of a ratio, is the row's mean + an effect of the
// GPU + an effect of the session on that GPU + the error within the run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace amasia {

/// What a pool counts at most beside the own deviations of a row, in degrees of freedom: rows of
/// one kind differ in how much they move, so that a row with some sessions of its own must be able
/// to say so.
inline constexpr int pool_degrees = 3;
/// No row counts with more than so many times the typical standard deviation of its kind: a single
/// row that moved for a reason of its own must not widen the intervals of all others.
inline constexpr double pool_winsor = 5;
/// With fewer rows that were measured on two GPUs, or on fewer GPUs in all, a kind has no
/// components of its own. Two GPUs are one difference, however many rows show it: two that happen
/// to be alike say that all are.
inline constexpr int least_pool_rows = 5;
inline constexpr int least_pool_gpus = 3;

/// One session of a row.
struct SessionValue {
  std::string gpu;   // which one: the hash of its UUID
  double value = 0;  // logarithm of what was measured
  double error = 0;  // standard deviation of that logarithm within the run
};

/// Variances of logarithms, pooled over the rows of a kind. The degrees of freedom are what the
/// rows have; a row counts no more than pool_degrees of them.
struct Components {
  double gpu_variance = 0;
  double session_variance = 0;  // between sessions on one GPU, the error within a run included
  int gpu_rows = 0;             // rows measured on two GPUs or more; 0: not known
  int session_rows = 0;         // rows measured twice on one GPU; 0: no more known than the errors
  /// Of freedom, of gpu_variance. All rows of a kind lie on the same few GPUs, and what a GPU does
  /// to one it may do to all: they count for as many as move by themselves.
  double gpu_degrees = 0;
  double session_degrees = 0;  // of session_variance
  /// What the rows count at most where they say how GPUs differ.
  double most_gpu_degrees = pool_degrees;
};

/// What the rows of a kind say together, and what is left of it when one is taken out: what a row
/// says of itself must not count again as what others say of it.
class Pool {
 public:
  Pool() = default;
  /// Rows of one session say nothing but their error, those of none nothing.
  explicit Pool(const std::vector<std::vector<SessionValue>>& rows);

  /// The same for rows of an app that is not among these; it may move otherwise.
  Pool of_others() const;

  /// The same without a row, which must be of the pool, as it is in it. A row of no session leaves
  /// the pool as it is.
  Pool without(const std::vector<SessionValue>& sessions) const;

  /// What all of them say.
  Components components() const;

  /// Whether enough rows were measured on enough GPUs to say how GPUs differ.
  bool suffices() const {
    return gpu_.rows >= least_pool_rows && static_cast<int>(rows_on_.size()) >= least_pool_gpus;
  }

 private:
  /// Mean of the rows' variances, weighted by their degrees of freedom, none with more than
  /// pool_winsor times the typical standard deviation.
  struct Variance {
    double squares = 0;
    int degrees = 0;
    int rows = 0;
    double most = 0;  // that the variance of a row counts
    double mean() const { return degrees > 0 ? squares / degrees : 0; }
    void take_out(double row_squares, int row_degrees);
  };
  struct Squares {
    double sum = 0;
    int degrees = 0;
  };
  static Variance pooled(const std::vector<Squares>& rows);
  double gpu_degrees() const;

  int rows_ = 0;
  double errors_ = 0;  // sum over the rows
  Variance session_{}, gpu_{};
  double shares_ =
      0;  // sum over the rows on two GPUs or more, weighted by their degrees of freedom
  std::map<std::string, int> rows_on_{};  // of those rows, by GPU
  double correlation_ = 0;                // of what a GPU does to two rows
  double most_gpu_degrees_ = pool_degrees;
};

/// Where a new session falls with this confidence. No logarithms.
struct Prediction {
  double value = 1, low = 1, high = 1;
  double confidence = 0;
  double degrees = 0;  // of freedom, of the t-quantile
  int sessions = 0, gpus = 0;
};

/// Half the width as a share of the middle.
double half_width(const Prediction& prediction);

/// The components of a kind of rows, for a row that is not among them.
Components pooled_components(const std::vector<std::vector<SessionValue>>& rows);

/// A session on another GPU of the model, from the row and from what the others of its kind say
/// (Pool::without); nothing where neither it nor another was measured on two. Throws
/// std::invalid_argument for a row of no session or a confidence outside (0, 1).
std::optional<Prediction> predict(const std::vector<SessionValue>& sessions, const Components& kind,
                                  double confidence);

/// A further session on this very GPU; nothing where the row was not measured on it, or neither it
/// nor another of the kind twice on one. Throws as predict().
std::optional<Prediction> predict_on(const std::string& gpu,
                                     const std::vector<SessionValue>& sessions,
                                     const Components& kind, double confidence);

/// The difference of the logarithms of two rows, as far as sessions tell it from none.
struct Difference {
  double value = 0;
  double deviation = 0;  // standard deviation
  double degrees = 0;    // of freedom
};

/// Of the mean of `a` less that of `b`; each kind is what the others say (Pool::without). On the
/// same GPUs their effects cancel; on others they do not, and then it must be known of both sides
/// how GPUs differ. Nothing where that is not known. Throws as predict().
std::optional<Difference> difference(const std::vector<SessionValue>& a,
                                     const Components& kind_of_a,
                                     const std::vector<SessionValue>& b,
                                     const Components& kind_of_b);

/// The probability of a difference as large as this one, or larger, where there is none.
double p_value(const Difference& difference);
/// The same of a session whose logarithm is `value` where a prediction was made.
double p_value(const Prediction& prediction, double value);

/// Standard deviation of the logarithm of an estimate whose interval covers so much; 0 where it
/// covers nothing or everything.
double log_error(double low, double high, double coverage);

}  // namespace amasia
