// lud/cusolver: the bar. cuSOLVER's Sgetrf without pivoting (no pivot array is passed). It is
// column-major: what is our matrix row by row is its transpose to cuSOLVER, whose A^T = L' U' with
// a unit diagonal in L' is our A = U'^T L'^T, with the unit diagonal in U. The verification accepts
// both and says which.
#include <cusolverDn.h>

#include <memory>

#include "apps/common/vendor_library.hpp"
#include "apps/lud/lud.hpp"
#include "harness/variant.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::lud {
namespace {

const Library& library() {
  static const Library found{"libcusolver.so.12", "libcusolver.so.11"};
  return found;
}

class Solver {
 public:
  explicit Solver(const Problem& p)
      : problem_(p),
        decompose_(AMASIA_LIBRARY_FUNCTION(library(), cusolverDnSgetrf)),
        set_stream_(AMASIA_LIBRARY_FUNCTION(library(), cusolverDnSetStream)) {
    AMASIA_LIBRARY_CALL(library(), cusolverDnCreate, &handle_);
    int elements = 0;
    AMASIA_LIBRARY_CALL(library(), cusolverDnSgetrf_bufferSize, handle_, order(), order(),
                        p.matrix.data, pitch(), &elements);
    workspace_ = DeviceArray<float>(static_cast<std::size_t>(elements));
    info_ = DeviceArray<int>(1);
  }
  ~Solver() { AMASIA_LIBRARY_FUNCTION(library(), cusolverDnDestroy)(handle_); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  void run(Stream stream) const {
    check_status(set_stream_(handle_, stream), "cusolverDnSetStream");
    check_status(decompose_(handle_, order(), order(), problem_.matrix.data, pitch(),
                            workspace_.data(), nullptr, info_.data()),
                 "cusolverDnSgetrf");
  }

 private:
  int order() const { return static_cast<int>(problem_.matrix.rows); }
  int pitch() const { return static_cast<int>(problem_.matrix.pitch); }

  Problem problem_;
  decltype(cusolverDnSgetrf)* decompose_;
  decltype(cusolverDnSetStream)* set_stream_;
  cusolverDnHandle_t handle_ = nullptr;
  DeviceArray<float> workspace_;
  DeviceArray<int> info_;
};

ConfigOf<Problem> sgetrf() {
  ConfigOf<Problem> config;
  config.info = {"sgetrf", {{"pivots", 0}}, {}};
  config.prepare = [](const Problem& p, const Device&) -> Launch {
    const auto solver = std::make_shared<const Solver>(p);
    return [solver](Stream stream) { solver->run(stream); };
  };
  config.unsupported = [](const Problem&, const Device&) { return objection_of(library()); };
  return config;
}

const bool registered = register_comparator<Problem>("lud", "cusolver", {sgetrf()});

}  // namespace
}  // namespace amasia::lud
