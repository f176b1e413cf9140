// libamasia_compare_stub: implementations around the stub device. The script is read anew for each
// comparison, because many are made in one process.
#include <cstdlib>

#include "harness/errors.hpp"
#include "tests/harness/stub_device/stub_device.hpp"

namespace amasia {

std::unique_ptr<Instrument> open_instrument(int index) {
  if (index > 0) throw UsageError("this stub has one device");
  const char* script = std::getenv("AMASIA_STUB");
  return make_stub_instrument(nlohmann::ordered_json::parse(script == nullptr ? "{}" : script));
}

}  // namespace amasia
