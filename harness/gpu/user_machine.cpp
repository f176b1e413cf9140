// Memory and code of files on the CUDA device in use. Modules are the driver's libraries
// (cuLibraryLoadData): a CUkernel is the runtime's cudaKernel_t, which its functions take like a
// __global__ function.
#include "harness/user_kernel/machine.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>

#include "harness/text/file.hpp"
#include "harness/user_kernel/drawn.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"

namespace amasia {
namespace {

template <class Function>
Function required(const char* name) {
  const auto function = driver_function<Function>(name, 12000);  // CUDA's libraries of kernels
  if (function != nullptr) return function;
  throw std::runtime_error(fmt::format("the driver has no {}: update it", name));
}

struct DriverLibraries {
  decltype(&cuLibraryLoadData) load = required<decltype(&cuLibraryLoadData)>("cuLibraryLoadData");
  decltype(&cuLibraryUnload) unload = required<decltype(&cuLibraryUnload)>("cuLibraryUnload");
  decltype(&cuLibraryGetKernel) kernel =
      required<decltype(&cuLibraryGetKernel)>("cuLibraryGetKernel");
  decltype(&cuGetErrorString) describe = required<decltype(&cuGetErrorString)>("cuGetErrorString");

  void check(CUresult code, const std::string& what) const {
    if (code == CUDA_SUCCESS) return;
    const char* text = nullptr;
    describe(code, &text);
    throw std::runtime_error(fmt::format("{}: {}", what, text == nullptr ? "unknown error" : text));
  }
};

LaunchShape allowed_shape(const UserLaunchShape& s) {
  LaunchShape shape;
  shape.grid = dim3(s.grid[0], s.grid[1], s.grid[2]);
  shape.block = dim3(s.block[0], s.block[1], s.block[2]);
  shape.dynamic_shared_bytes = s.shared_bytes;
  shape.cluster_blocks = s.cluster[0] * s.cluster[1] * s.cluster[2];
  return shape;
}

class CudaModule : public LoadedModule {
 public:
  explicit CudaModule(const std::string& file) {
    const std::string code = bytes_of_file(file);
    if (code.empty()) throw std::runtime_error("cannot read " + file);
    // PTX is text that ends with a zero byte, which c_str() has.
    driver_.check(driver_.load(&library_, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                  "the driver does not load " + file);
  }
  ~CudaModule() override {
    if (library_ != nullptr) driver_.unload(library_);
  }
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  const void* kernel(const std::string& name, const UserLaunchShape& shape) override {
    CUkernel kernel = nullptr;
    driver_.check(driver_.kernel(&kernel, library_, name.c_str()),
                  "the driver finds no kernel " + name);
    allow_launch(kernel, allowed_shape(shape));
    return kernel;
  }

  void launch(const void* kernel, const UserLaunchShape& s, void** arguments,
              Stream stream) const override {
    const LaunchShape shape = allowed_shape(s);
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = s.cluster[0];
    cluster.val.clusterDim.y = s.cluster[1];
    cluster.val.clusterDim.z = s.cluster[2];
    cudaLaunchConfig_t config = {};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared_bytes;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = shape.cluster_blocks > 1 ? 1 : 0;
    AMASIA_CUDA(cudaLaunchKernelExC(&config, kernel, arguments));
  }

 private:
  DriverLibraries driver_{};
  CUlibrary library_ = nullptr;
};

/// A host function that blocks a stream until it is released, or for a second: by then the thread
/// that should release it is waiting for the stream itself.
class Gate {
 public:
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    gave_up_ = !changed_.wait_for(lock, std::chrono::seconds(1), [this] { return open_; });
  }
  /// False where it was open by then.
  bool open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
    return !gave_up_;
  }

 private:
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool open_ = false, gave_up_ = false;
};

class CudaMachine : public Machine {
 public:
  ~CudaMachine() override {
    // A gate must be there for as long as the stream may stop at it.
    if (gate_) gate_->open();
    cudaStreamSynchronize(stream_);
  }

  std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    const auto memory = std::make_shared<DeviceBytes>(bytes);
    return {memory, static_cast<std::byte*>(memory->data())};
  }
  void upload(std::byte* to, const std::byte* from, std::size_t bytes) override {
    AMASIA_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copies_));
    AMASIA_CUDA(cudaStreamSynchronize(copies_));
  }
  void download(std::byte* to, const std::byte* from, std::size_t bytes) override {
    AMASIA_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, copies_));
    AMASIA_CUDA(cudaStreamSynchronize(copies_));
  }
  void fill(std::byte* at, unsigned char value, std::size_t bytes, Stream stream) override {
    AMASIA_CUDA(cudaMemsetAsync(at, value, bytes, stream));
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes, Stream stream) override {
    AMASIA_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
  }
  void draw(std::byte* to, const Draws& draws, Stream stream) override {
    draw_on_device(to, draws, stream);
  }
  void alter(std::byte* data, const Alteration& alteration, Stream stream) override {
    alter_on_device(data, alteration, stream);
  }
  Stream stream() override { return stream_; }
  void wait_for_stream() override { AMASIA_CUDA(cudaStreamSynchronize(stream_)); }
  void wait_for_everything() override { AMASIA_CUDA(cudaDeviceSynchronize()); }

  bool hold() override {
    gate_ = std::make_unique<Gate>();
    AMASIA_CUDA(cudaLaunchHostFunc(
        stream_, [](void* gate) { static_cast<Gate*>(gate)->wait(); }, gate_.get()));
    return true;
  }
  bool release() override {
    if (!gate_) return true;
    const bool in_time = gate_->open();
    AMASIA_CUDA(cudaStreamSynchronize(stream_));
    gate_.reset();
    return in_time;
  }

  std::size_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    AMASIA_CUDA(cudaMemGetInfo(&free, &total));
    return free;
  }
  std::unique_ptr<LoadedModule> load(const std::string& file) override {
    return std::make_unique<CudaModule>(file);
  }

 private:
  OwnedStream stream_{}, copies_{};
  std::unique_ptr<Gate> gate_{};
};

}  // namespace

std::unique_ptr<Machine> open_machine() { return std::make_unique<CudaMachine>(); }

}  // namespace amasia
