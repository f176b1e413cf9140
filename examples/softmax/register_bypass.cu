// softmax/register_bypass: a row comes by cp.async into shared memory, and all wait for it at once.
// One stage: the reduction's barrier says that a row has been read.
#include "async_rows.cuh"

namespace amasia::softmax {
namespace {

template <class S>
using Pipeline = AsyncRows<S, 1, 0, Waits::block>;

template <class S>
ConfigOf<Problem> at_once() {
  return config<S, Pipeline>(1, stage_bytes<S>, 1);
}

const bool registered = register_variant<Problem>(
    "softmax", Strategy::register_bypass,
    {at_once<Iso>(), at_once<Narrow>(), at_once<Middle>(), at_once<Wide>()});

}  // namespace
}  // namespace amasia::softmax
