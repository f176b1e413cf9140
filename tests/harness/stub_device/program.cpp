// amasia-stub: the suite's program around the stub device, for tests/cli.
#include "harness/cli/command_line.hpp"
#include "tests/harness/stub_device/stub_device.hpp"

int main(int argc, char** argv) {
  amasia::register_stub_apps();
  return amasia::amasia_main(argc, argv);
}
