#include "harness/evidence/disassembler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
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

#include "harness/evidence/sass.hpp"
#include "harness/text/tool.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

std::size_t cores() { return std::max(1U, std::thread::hardware_concurrency()); }

/// Runs a program without a shell and hands its output over line by line. False when it cannot be
/// started or fails.
template <class OnLine>
bool run_program(const std::vector<std::string>& arguments, OnLine on_line) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return false;
  }
  std::unique_ptr<FILE, int (*)(FILE*)> output(fdopen(ends[0], "r"), fclose);
  char* line = nullptr;
  std::size_t capacity = 0;
  for (ssize_t n = 0; (n = getline(&line, &capacity, output.get())) >= 0;) {
    std::string_view text(line, static_cast<std::size_t>(n));
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    on_line(text);
  }
  std::free(line);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Whether `work` succeeds for each of `count` parts, as many at a time as there are cores.
bool in_parallel(std::size_t count, const std::function<bool(std::size_t part)>& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::future<bool>> workers;
  for (std::size_t i = std::min<std::size_t>(count, cores()); i > 0; --i) {
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

/// The SASS of some kernels (none: all) that `command` lists; false when it fails or lists nothing.
bool list_kernels(std::vector<std::string> command, const std::string& executable,
                  const std::vector<std::string>& kernels, KernelCodes& found) {
  if (!kernels.empty()) {
    std::string names;
    for (const std::string& kernel : kernels) names += (names.empty() ? "" : ",") + kernel;
    command.insert(command.end(), {"-fun", names});
  }
  command.push_back(executable);
  SassReader reader(found);
  const bool ran = run_program(command, [&reader](std::string_view line) { reader.line(line); });
  reader.finish();
  return ran && !found.empty();  // one that was killed may have listed half a kernel
}

}  // namespace

std::string find_cuobjdump() { return find_tool("cuobjdump", "CUOBJDUMP"); }

bool list_kernels_in_parallel(const std::vector<std::string>& command,
                              const std::string& executable,
                              const std::vector<std::string>& kernels, KernelCodes& found) {
  const std::size_t count = std::min(kernels.size(), cores());
  if (count <= 1) return list_kernels(command, executable, kernels, found);
  std::vector<KernelCodes> listed(count);
  const bool all = in_parallel(count, [&](std::size_t part) {
    std::vector<std::string> share;
    for (std::size_t i = part; i < kernels.size(); i += count) share.push_back(kernels[i]);
    return list_kernels(command, executable, share, listed[part]);
  });
  for (KernelCodes& part : listed) found.merge(part);
  return all;
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
    return list_kernels({cuobjdump, "-sass"}, path, {}, listed[i]);
  });
  for (auto& kernels : listed) found.merge(kernels);
  return all;
}

}  // namespace amasia
