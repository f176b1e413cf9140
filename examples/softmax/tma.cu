// softmax/tma: a row is one run of bytes, which one thread asks the copy engine for; an mbarrier
// counts them. The stages are as in overlap.
#include "bulk_rows.cuh"

namespace amasia::softmax {
namespace {

template <class S>
using TwoStages = BulkRows<S, 2>;
template <class S>
using ThreeStages = BulkRows<S, 3>;

template <class S>
ConfigOf<Problem> two_stages() {
  return config<S, TwoStages>(2, bulk_bytes<S, 2>, 1, "/2-stages");
}
template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, ThreeStages>(3, bulk_bytes<S, 3>, 2);
}

const bool registered = register_variant<Problem>(
    "softmax", Strategy::tma,
    {three_stages<Iso>(), three_stages<Narrow>(), three_stages<Middle>(), three_stages<Wide>(),
     two_stages<Iso>(), two_stages<Narrow>(), two_stages<Middle>(), two_stages<Wide>()});

}  // namespace
}  // namespace amasia::softmax
