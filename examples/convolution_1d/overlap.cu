// convolution_1d/overlap: the next tiles travel by cp.async while this one is computed.
#include "async_tiles.cuh"

namespace amasia::convolution_1d {
namespace {

template <class S>
using TwoAhead = AsyncTiles<S, 3, 2>;
template <class S>
using ThreeAhead = AsyncTiles<S, 4, 3>;

template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, TwoAhead>(3, 3 * stage_bytes<S>, 2 * tile_bytes<S>);
}
template <class S>
ConfigOf<Problem> four_stages() {
  return config<S, ThreeAhead>(4, 4 * stage_bytes<S>, 3 * tile_bytes<S>, "/4-stages");
}

const bool registered = register_variant<Problem>(
    "convolution_1d", Strategy::overlap,
    {three_stages<Iso>(), three_stages<Lanes>(), three_stages<One>(), three_stages<Two>(),
     three_stages<Four>(), four_stages<Lanes>(), four_stages<One>(), four_stages<Two>()});

}  // namespace
}  // namespace amasia::convolution_1d
