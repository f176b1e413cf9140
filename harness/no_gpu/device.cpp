// The host-only build (preset `cpu`): everything that would touch a GPU says why it cannot.
#include <stdexcept>

#include "harness/device.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/user_kernel/machine.hpp"

namespace amasia {
namespace {

constexpr const char* no_cuda =
    "this program was built without CUDA (preset cpu): rebuild with a GPU preset, e.g. sm90";

}  // namespace

int device_count(std::string& reason) {
  reason = no_cuda;
  return 0;
}

Device query_device(int) { throw std::logic_error(no_cuda); }

std::unique_ptr<Instrument> open_instrument(int) { throw std::runtime_error(no_cuda); }

std::unique_ptr<Machine> open_machine() { throw std::runtime_error(no_cuda); }

}  // namespace amasia
