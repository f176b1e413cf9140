// The device of the programs around the stub: a file of its own, because the tests that make a stub
// of their own are linked beside the real one.
#include "tests/harness/stub_device/stub_device.hpp"

namespace amasia {

std::unique_ptr<Instrument> open_instrument(int index) {
  if (index > 0) throw UsageError("this stub has one device");
  return make_stub_instrument(stub_script());
}

}  // namespace amasia
