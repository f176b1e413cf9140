// What takes the place of harness_gpu in programs and in libamasia_compare_stub: the device, and
// where implementations loaded at run time run: memory of the host, a stream that is always at its
// end, and no code for a device.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "harness/errors.hpp"
#include "tests/harness/stub_device/stub_device.hpp"

namespace amasia {
namespace {

/// What the process may have beside its own: as a device, 1 GiB.
constexpr std::size_t memory_bytes = std::size_t{1} << 30;
/// Work beside the stream is a thread here, and nobody knows of it: it has this long.
constexpr std::chrono::milliseconds everything_done(20);

/// Address space of this process, which is what malloc takes, touched or not.
std::size_t bytes_in_use() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class HostMachine : public HostMemory {
 public:
  void enqueue(std::function<void()> work) override { work(); }
  void wait_for_stream() override {}
  void wait_for_everything() override { std::this_thread::sleep_for(everything_done); }
  bool hold() override { return false; }
  bool release() override { return true; }
  std::size_t free_bytes() const override {
    const std::size_t used = bytes_in_use() - std::min(bytes_in_use(), at_first_);
    return memory_bytes - std::min(memory_bytes, used);
  }
  std::unique_ptr<LoadedModule> load(const std::string& file) override {
    throw std::runtime_error("the stub cannot load " + file);
  }

 private:
  std::size_t at_first_ = bytes_in_use();
};

}  // namespace

/// The script is read anew for each comparison, because the library makes many in one process.
std::unique_ptr<Instrument> open_instrument(int index) {
  if (index > 0) throw UsageError("this stub has one device");
  const char* script = std::getenv("AMASIA_STUB");
  return make_stub_instrument(nlohmann::ordered_json::parse(script == nullptr ? "{}" : script));
}

std::unique_ptr<Machine> open_machine() { return std::make_unique<HostMachine>(); }

}  // namespace amasia
