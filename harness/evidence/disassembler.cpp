#include "harness/evidence/disassembler.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "harness/text/shell.hpp"
#include "harness/text/tool.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

/// Whether `work` succeeds for each of `count` parts, as many at a time as there are cores.
bool in_parallel(std::size_t count, const std::function<bool(std::size_t part)>& work) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next = 0;
  std::vector<std::future<bool>> workers;
  for (std::size_t i = std::min(count, cores); i > 0; --i) {
    workers.push_back(std::async(std::launch::async, [&] {
      bool all = true;
      for (std::size_t part = next++; part < count; part = next++) all = work(part) && all;
      return all;
    }));
  }
  bool all = true;
  for (auto& worker : workers) all = worker.get() && all;
  return all;
}

/// The SASS that a command lists; false when it fails or lists nothing.
bool list_kernels(const std::vector<std::string>& command, KernelCodes& found) {
  const auto close = [](FILE* pipe) { return pclose(pipe); };
  std::unique_ptr<FILE, int (*)(FILE*)> output(
      popen(("exec " + in_shell(command) + " 2>/dev/null").c_str(), "re"), close);
  if (!output) return false;
  SassReader reader(found);
  char* line = nullptr;
  std::size_t capacity = 0;
  for (ssize_t n = 0; (n = getline(&line, &capacity, output.get())) >= 0;) {
    std::string_view text(line, static_cast<std::size_t>(n));
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    reader.line(text);
  }
  std::free(line);
  reader.finish();
  // One that was killed may have listed half a kernel.
  return pclose(output.release()) == 0 && !found.empty();
}

}  // namespace

std::string find_cuobjdump() { return find_tool("cuobjdump", "CUOBJDUMP"); }

bool list_file(const std::string& cuobjdump, const std::string& file,
               const std::string& architecture, KernelCodes& found) {
  return list_kernels({cuobjdump, "-sass", "-arch", architecture, file}, found);
}

bool list_modules(const std::string& cuobjdump, const Cubins& cubins,
                  const std::vector<std::size_t>& modules, KernelCodes& found) {
  const ScratchFolder folder;
  if (folder.path().empty()) return false;
  // The largest first, so that no core is left with one of them at the end.
  std::vector<std::size_t> order = modules;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cubins.bytes(a).size() > cubins.bytes(b).size();
  });
  std::vector<KernelCodes> listed(order.size());
  const bool all = in_parallel(order.size(), [&](std::size_t i) {
    const fs::path path = folder.path() / (std::to_string(order[i]) + ".cubin");
    std::ofstream(path, std::ios::binary) << cubins.bytes(order[i]);
    return list_kernels({cuobjdump, "-sass", path.string()}, listed[i]);
  });
  for (auto& kernels : listed) found.merge(kernels);
  return all;
}

}  // namespace amasia
