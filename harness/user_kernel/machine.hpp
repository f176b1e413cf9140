// What implementations loaded at run time run on: memory, and code loaded from files. CUDA's is in
// harness/gpu, a build without CUDA has none (harness/no_gpu), the stub of the tests has the
// host's.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "harness/user_kernel/drawn.hpp"
#include "variants/host_device.hpp"

namespace amasia {

/// Blocks of a grid, threads of a block, blocks of a cluster, dynamic shared memory.
struct UserLaunchShape {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::size_t shared_bytes = 0;
};

/// A cubin or PTX, loaded.
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  /// The kernel of that mangled name, made ready for launches of that shape. Throws
  /// std::runtime_error with the driver's reason.
  virtual const void* kernel(const std::string& name, const UserLaunchShape& shape) = 0;
  /// Enqueues it; arguments[i] points to the value of parameter i. Throws std::runtime_error.
  virtual void launch(const void* kernel, const UserLaunchShape& shape, void** arguments,
                      Stream stream) const = 0;
};

class Machine {
 public:
  virtual ~Machine() = default;
  /// Aligned to 256 bytes at least. Throws what the instrument knows as want of memory.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  /// Return when it is done.
  virtual void upload(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  /// The bytes as they are at the moment: waits for no other work.
  virtual void download(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  /// Asynchronous, in the order of the stream.
  virtual void fill(std::byte* at, unsigned char value, std::size_t bytes, Stream stream) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes, Stream stream) = 0;
  virtual void draw(std::byte* to, const Draws& draws, Stream stream) = 0;
  virtual void alter(std::byte* data, const Alteration& alteration, Stream stream) = 0;
  /// A stream that waits for no other, for runs before the timed ones.
  virtual Stream stream() = 0;
  virtual void wait_for_stream() = 0;
  /// Until all work of this process has ended, whatever stream it is on.
  virtual void wait_for_everything() = 0;
  /// Whether work that is enqueued on stream() from now on waits for release(), or for a second.
  /// False where nothing can hold a stream.
  virtual bool hold() = 0;
  /// False after that second: the thread that should release it was waiting for the stream.
  virtual bool release() = 0;
  virtual std::size_t free_bytes() const = 0;
  /// Throws std::runtime_error with the reason, a clause.
  virtual std::unique_ptr<LoadedModule> load(const std::string& file) = 0;
};

/// Of the device in use. Throws std::runtime_error where there is none.
std::unique_ptr<Machine> open_machine();

}  // namespace amasia
