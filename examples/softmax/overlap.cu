// softmax/overlap: the next rows travel by cp.async while this one is computed. A barrier of the
// block says that a stage is there, though each thread reads only what it has copied. The cost of
// that barrier is the difference to drop_off.
#include "async_rows.cuh"

namespace amasia::softmax {
namespace {

template <class S>
using TwoStages = AsyncRows<S, 2, 1, Waits::block>;
template <class S>
using ThreeStages = AsyncRows<S, 3, 2, Waits::block>;

template <class S>
ConfigOf<Problem> two_stages() {
  return config<S, TwoStages>(2, 2 * stage_bytes<S>, 1, "/2-stages");
}
template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, ThreeStages>(3, 3 * stage_bytes<S>, 2);
}

const bool registered = register_variant<Problem>(
    "softmax", Strategy::overlap,
    {three_stages<Iso>(), three_stages<Narrow>(), three_stages<Middle>(), three_stages<Wide>(),
     two_stages<Iso>(), two_stages<Narrow>(), two_stages<Middle>(), two_stages<Wide>()});

}  // namespace
}  // namespace amasia::softmax
