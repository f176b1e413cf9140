// transpose/overlap: the next tiles travel by cp.async while this one is turned.
#include "async_tiles.cuh"

namespace amasia::transpose {
namespace {

template <class S, int N>
using TwoStages = AsyncTiles<S, N, 2, 1>;
template <class S, int N>
using ThreeStages = AsyncTiles<S, N, 3, 2>;

template <class S>
ConfigOf<Problem> two_stages() {
  return config<S, TwoStages>(2, 2 * S::tile_bytes, 1, "/2-stages");
}
template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, ThreeStages>(3, 3 * S::tile_bytes, 2);
}

const bool registered =
    register_variant<Problem>("transpose", Strategy::overlap,
                              {three_stages<Iso>(), three_stages<Two>(), three_stages<Half>(),
                               two_stages<Iso>(), two_stages<Two>(), two_stages<Half>()});

}  // namespace
}  // namespace amasia::transpose
