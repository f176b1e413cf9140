#include "harness/plan/effort.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace amasia {

Effort effort_of(const EffortAsked& asked, Effort own) {
  own.max_rounds = asked.max_rounds.value_or(own.max_rounds);
  own.min_rounds = asked.min_rounds.value_or(std::min(own.min_rounds, own.max_rounds));
  if (own.min_rounds > own.max_rounds) {
    throw UsageError(fmt::format("--min-rounds {} is more than --max-rounds {}{}", own.min_rounds,
                                 own.max_rounds, asked.max_rounds ? "" : ", the default here"));
  }
  own.seconds = asked.seconds.value_or(own.seconds);
  if (asked.seconds) own.patience = 1;  // a cap that was asked for is one
  own.precision = asked.precision.value_or(own.precision);
  own.confidence = asked.confidence.value_or(own.confidence);
  own.energy = own.energy || asked.energy;
  return own;
}

}  // namespace amasia
