// softmax/drop_off: each thread copies the elements that it computes on into slots of its own, by
// cp.async, and waits for nobody else's. The reduction has a barrier; that a row is there needs
// none.
#include "async_rows.cuh"

namespace amasia::softmax {
namespace {

template <class S>
using TwoStages = AsyncRows<S, 2, 1, Waits::thread>;
template <class S>
using ThreeStages = AsyncRows<S, 3, 2, Waits::thread>;

template <class S>
ConfigOf<Problem> two_stages() {
  return config<S, TwoStages>(2, 2 * stage_bytes<S>, 1, "/2-stages");
}
template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, ThreeStages>(3, 3 * stage_bytes<S>, 2);
}

const bool registered = register_variant<Problem>(
    "softmax", Strategy::drop_off,
    {three_stages<Iso>(), three_stages<Narrow>(), three_stages<Middle>(), three_stages<Wide>(),
     two_stages<Iso>(), two_stages<Narrow>(), two_stages<Middle>(), two_stages<Wide>()});

}  // namespace
}  // namespace amasia::softmax
