// histogram/cub: CUB of the toolkit's CCCL, the library everybody would use.
#include "apps/histogram/cub_even.cuh"

namespace amasia::histogram {
namespace {

const bool registered = register_comparator<Problem>("histogram", "cub", all_even());

}  // namespace
}  // namespace amasia::histogram
