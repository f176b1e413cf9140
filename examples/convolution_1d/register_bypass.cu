// convolution_1d/register_bypass: a tile comes by cp.async, and all wait for it at once. Two
// stages, as in baseline, so that one barrier per tile is enough.
#include "async_tiles.cuh"

namespace amasia::convolution_1d {
namespace {

template <class S>
using Pipeline = AsyncTiles<S, 2, 0>;

template <class S>
ConfigOf<Problem> at_once() {
  return config<S, Pipeline>(2, 2 * stage_bytes<S>, tile_bytes<S>);
}

const bool registered = register_variant<Problem>(
    "convolution_1d", Strategy::register_bypass,
    {at_once<Iso>(), at_once<Lanes>(), at_once<One>(), at_once<Two>(), at_once<Four>()});

}  // namespace
}  // namespace amasia::convolution_1d
