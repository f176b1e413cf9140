// amasia-stub-gbench: amasia-gbench around the stub device, for tests/cli.
#include "harness/gbench/gbench.hpp"
#include "tests/harness/stub_device/stub_device.hpp"

int main(int argc, char** argv) {
  amasia::register_stub_apps();
  return amasia::gbench_main(argc, argv);
}
