// The host-only build (preset `cpu`): everything that would touch a GPU says why it cannot.
#include <stdexcept>

#include "harness/device.hpp"

namespace amasia {

int device_count(std::string& reason) {
  reason = "this program was built without CUDA (preset cpu): rebuild with a GPU preset, e.g. sm90";
  return 0;
}

Device query_device(int) {
  std::string reason;
  device_count(reason);
  throw std::logic_error(reason);
}

}  // namespace amasia
