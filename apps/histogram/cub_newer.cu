// histogram/cub_newer: CUB of a CCCL that is newer than the toolkit's, where the build is given one
// (AMASIA_NEWER_CCCL, cmake/comparators.cmake).
#include "apps/histogram/cub_even.cuh"

namespace amasia::histogram {
namespace {

const bool registered = register_comparator<Problem>("histogram", "cub_newer", all_even());

}  // namespace
}  // namespace amasia::histogram
