// transpose/register_bypass: a tile comes by cp.async, and all wait for it at once. Two stages, so
// that one barrier per tile is enough.
#include "async_tiles.cuh"

namespace amasia::transpose {
namespace {

template <class S, int N>
using Pipeline = AsyncTiles<S, N, 2, 0>;

template <class S>
ConfigOf<Problem> at_once() {
  return config<S, Pipeline>(2, 2 * S::tile_bytes, 1);
}

const bool registered = register_variant<Problem>(
    "transpose", Strategy::register_bypass, {at_once<Iso>(), at_once<Two>(), at_once<Half>()});

}  // namespace
}  // namespace amasia::transpose
