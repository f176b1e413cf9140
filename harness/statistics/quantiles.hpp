// Quantiles of the normal distribution and of Student's t.
#pragma once

namespace amasia {

/// The value that a standard normal variable, or Student's t with `degrees` of freedom, does not
/// exceed with this probability. Throw std::invalid_argument for a probability outside (0, 1) or
/// degrees that are not positive.
double normal_quantile(double probability);
double student_quantile(double probability, double degrees);

/// P(T > |t|) + P(T < -|t|) of Student's t.
double student_two_sided(double t, double degrees);

}  // namespace amasia
