// amasia-stub: the suite's program around the stub device, for tests/cli.
#include "harness/cli/command_line.hpp"
#include "tests/harness/stub_device/stub_device.hpp"

namespace amasia {

std::unique_ptr<Instrument> open_instrument(int index) {
  if (index > 0) throw UsageError("this stub has one device");
  return make_stub_instrument(stub_script());
}

}  // namespace amasia

int main(int argc, char** argv) {
  amasia::register_stub_apps();
  return amasia::amasia_main(argc, argv);
}
