#include "harness/user_kernel/load.hpp"

#include <dlfcn.h>
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/errors.hpp"
#include "harness/evidence/kernel_signature.hpp"
#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"
#include "harness/text/input_file.hpp"
#include "harness/text/output.hpp"
#include "harness/user_kernel/buffers.hpp"

namespace amasia {
namespace {

// What every GPU since Volta takes (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability").
constexpr std::int64_t most_grid_x = 2147483647, most_grid_yz = 65535;
constexpr std::int64_t most_threads_per_block = 1024, most_block_z = 64;
constexpr std::int64_t most_cluster_blocks = 16;  // more than 8 is a request that a GPU may refuse
constexpr int first_with_clusters = 90;
constexpr std::size_t buffer_argument_bytes = 8;
constexpr std::uint64_t largest_description = 1 << 20;
/// What nvcc makes of the largest libraries has some 100 MB; it is held in memory.
constexpr std::uint64_t largest_code = 1 << 30;

/// Opt-in shared memory of a block, in bytes; of an architecture that is not known, the most that
/// one has. The same source.
std::size_t shared_limit(int architecture) {
  switch (architecture) {
    case 70:
    case 72:
      return 96 << 10;
    case 75:
      return 64 << 10;
    case 80:
    case 87:
      return 163 << 10;
    case 86:
    case 89:
    case 120:
    case 121:
      return 99 << 10;
    default:
      return 227 << 10;
  }
}

std::string read_code(const std::string& file, const std::string& place) {
  return InputFile(file, place).content(largest_code);
}

class Sha256 {
 public:
  Sha256() { sha256_init(&state_); }
  void add(std::string_view bytes) {
    // With its length, so that no two lists of pieces are the same.
    const std::string length = fmt::format("{}:", bytes.size());
    update(length);
    update(bytes);
  }
  /// A file that may be too large to be held.
  void add_file(const std::string& file, const std::string& place) {
    InputFile in(file, place);
    std::vector<char> piece(1 << 20);
    for (std::size_t n = 0; (n = in.read(piece.data(), piece.size())) > 0;) {
      update({piece.data(), n});
    }
  }
  std::string hexadecimal() {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> bytes{};
    sha256_digest(&state_, bytes.size(), bytes.data());
    return fmt::format("{:02x}", fmt::join(bytes, ""));
  }

 private:
  void update(std::string_view bytes) {
    sha256_update(&state_, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  }
  sha256_ctx state_{};
};

// --- the description against the code ---------------------------------------------------------

/// Checks one launch. `file` is the code it is launched from; of a library there is none.
class LaunchCheck {
 public:
  LaunchCheck(const Description& d, const ImplementationDescription& i, const Parameters& p)
      : d_(d), i_(i), p_(p) {}

  void arguments(const LaunchDescription& launch) const {
    for (const ArgumentDescription& a : launch.arguments) {
      if (a.buffer || a.real) continue;
      const std::int64_t value = d_.value(a.integer, p_, INT64_MIN);
      if (!holds(a.type, value)) {
        refuse(a.line,
               fmt::format("{} is {}, which no {} holds", a.integer.text, value, word_of(a.type)));
      }
    }
  }

  UserLaunchShape shape(const LaunchDescription& launch) const {
    UserLaunchShape s;
    const auto extent = [&](const std::vector<Quantity>& of, std::array<unsigned, 3>& into,
                            const std::array<std::int64_t, 3>& most) {
      for (std::size_t i = 0; i < of.size(); ++i) {
        into[i] = static_cast<unsigned>(d_.value(of[i], p_, 1, most[i]));
      }
    };
    extent(launch.grid, s.grid, {most_grid_x, most_grid_yz, most_grid_yz});
    extent(launch.block, s.block, {most_threads_per_block, most_threads_per_block, most_block_z});
    extent(launch.cluster, s.cluster,
           {most_cluster_blocks, most_cluster_blocks, most_cluster_blocks});
    s.shared_bytes = static_cast<std::size_t>(d_.value(launch.shared, p_, 0, 1 << 30));
    return s;
  }

  void against(const LaunchDescription& launch, const KernelSignature& kernel,
               const CodeFile& code) const {
    const UserLaunchShape s = shape(launch);
    const auto product = [](const std::array<unsigned, 3>& e) {
      return std::uint64_t{e[0]} * e[1] * e[2];
    };
    const std::uint64_t threads = product(s.block);
    if (threads > static_cast<std::uint64_t>(most_threads_per_block)) {
      refuse(launch.block.front().line,
             fmt::format("a block of {} threads{} is more than the {} that a GPU takes", threads,
                         at_size(), most_threads_per_block));
    }
    if (kernel.most_threads > 0 && threads > kernel.most_threads) {
      refuse(launch.block.front().line,
             fmt::format("a block of {} threads{} is more than the {} that __launch_bounds__ of "
                         "kernel '{}' allows",
                         threads, at_size(), kernel.most_threads, launch.entry));
    }
    for (std::size_t i = 0; i < kernel.exact_block.size(); ++i) {
      if (kernel.exact_block[i] != s.block[i]) {
        refuse(launch.block.front().line,
               fmt::format("a block is {}{}, and kernel '{}' was compiled for one of {}",
                           fmt::join(s.block, " x "), at_size(), launch.entry,
                           fmt::join(kernel.exact_block, " x ")));
      }
    }
    const std::size_t shared = s.shared_bytes + kernel.static_shared_bytes;
    if (shared > shared_limit(code.architecture)) {
      refuse(launch.shared.line,
             fmt::format("{} bytes of shared memory{}, {} of them in the kernel, are more than the "
                         "{} that a block of sm_{} has",
                         shared, at_size(), kernel.static_shared_bytes,
                         shared_limit(code.architecture), code.architecture));
    }
    check_cluster(launch, s, product(s.cluster), code);
    check_parameters(launch, kernel);
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& what) const {
    throw UsageError(fmt::format("{}: {}", d_.place(line), what));
  }

  std::string at_size() const {
    const std::string size = p_.to_string();
    return size.empty() ? "" : fmt::format(" (at {})", size);
  }

  void check_cluster(const LaunchDescription& launch, const UserLaunchShape& s,
                     std::uint64_t blocks, const CodeFile& code) const {
    if (blocks == 1) return;
    const int line = launch.cluster.front().line;
    if (code.architecture < first_with_clusters) {
      refuse(line, fmt::format("{} is for sm_{}, and clusters need sm_{}", i_.file,
                               code.architecture, first_with_clusters));
    }
    if (blocks > static_cast<std::uint64_t>(most_cluster_blocks)) {
      refuse(line, fmt::format("a cluster of {} blocks is more than the {} that a GPU takes",
                               blocks, most_cluster_blocks));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (s.grid[i] % s.cluster[i] != 0) {
        refuse(line, fmt::format("a grid of {}{} does not consist of clusters of {}",
                                 fmt::join(s.grid, " x "), at_size(), fmt::join(s.cluster, " x ")));
      }
    }
  }

  void check_parameters(const LaunchDescription& launch, const KernelSignature& kernel) const {
    const auto& takes = kernel.parameters;
    if (launch.arguments.size() != takes.size()) {
      refuse(launch.line,
             fmt::format("kernel '{}' of {} takes {} parameters ({} bytes), {} arguments "
                         "are given",
                         launch.entry, i_.file, takes.size(), fmt::join(takes, ", "),
                         launch.arguments.size()));
    }
    for (std::size_t i = 0; i < takes.size(); ++i) {
      const ArgumentDescription& a = launch.arguments[i];
      const std::size_t has = a.buffer ? buffer_argument_bytes : bytes_of(a.type);
      if (has == takes[i]) continue;
      refuse(a.line,
             fmt::format("argument {} of kernel '{}' has {} bytes ({}), the kernel's parameter "
                         "has {}",
                         i + 1, launch.entry, has,
                         a.buffer ? "buffer '" + d_.buffers[*a.buffer].name + "'"
                                  : std::string(word_of(a.type)),
                         takes[i]));
    }
  }

  const Description& d_;
  const ImplementationDescription& i_;
  const Parameters& p_;
};

// --- implementations --------------------------------------------------------------------------

using LibraryFunction = int (*)(Stream stream, void** arguments);

/// A shared library, loaded for as long as the process lives: what it registered with CUDA cannot
/// be taken back.
class Library {
 public:
  explicit Library(const std::string& file)
      // A name without a slash would be looked for in the system's folders.
      : handle_(dlopen(file.find('/') == std::string::npos ? ("./" + file).c_str() : file.c_str(),
                       RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      throw std::runtime_error(fmt::format("cannot load it: {}", in_one_line(dlerror())));
    }
  }
  LibraryFunction function(const std::string& name, const std::string& file) const {
    void* const found = dlsym(handle_, name.c_str());
    if (found == nullptr) {
      throw std::runtime_error(fmt::format(
          "{} has no function '{}' (extern \"C\" int {}(cudaStream_t, void**))", file, name, name));
    }
    return reinterpret_cast<LibraryFunction>(found);
  }

 private:
  void* handle_ = nullptr;
};

/// The values that a launch's arguments point to. Never moves.
class ArgumentValues {
 public:
  ArgumentValues(const LaunchDescription& launch, const UserBuffers& buffers)
      : user_buffers_(buffers), values_(launch.arguments.size()) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const ArgumentDescription& a = launch.arguments[i];
      std::byte* const at = values_[i].data();
      pointers_.push_back(at);
      if (a.buffer) {
        buffers_.emplace_back(at, *a.buffer);
      } else if (a.real) {
        set_element(a.type, at, 0, *a.real);
      } else {
        set_element(a.type, at, 0,
                    buffers.description().value(a.integer, buffers.parameters(), INT64_MIN));
      }
    }
  }
  ArgumentValues(const ArgumentValues&) = delete;
  ArgumentValues& operator=(const ArgumentValues&) = delete;

  /// With the buffers where they are at the moment.
  void** now() {
    for (const auto& [at, buffer] : buffers_) {
      std::byte* const data = user_buffers_.data(buffer);
      std::memcpy(at, &data, sizeof data);
    }
    return pointers_.data();
  }

 private:
  const UserBuffers& user_buffers_;
  std::vector<std::array<std::byte, 8>> values_;
  std::vector<void*> pointers_{};
  std::vector<std::pair<std::byte*, std::size_t>> buffers_{};
};

/// What an implementation's file became in this process.
struct LoadedImplementation {
  std::unique_ptr<LoadedModule> module{};
  std::unique_ptr<Library> library{};
  std::vector<KernelUse> kernels{};
};

/// One implementation of a description, loaded when it is prepared first.
class DescribedImplementation {
 public:
  DescribedImplementation(std::shared_ptr<const Description> description, std::size_t place)
      : description_(std::move(description)), place_(place) {}

  const ImplementationDescription& about() const { return description_->implementations[place_]; }

  /// The run without what try_out() finds.
  Launch launch_on(const UserBuffers& buffers) const {
    const ImplementationDescription& i = about();
    if (i.is_library) {
      if (!loaded_->library) loaded_->library = std::make_unique<Library>(i.file);
    } else if (!loaded_->module) {
      loaded_->module = buffers.machine().load(i.file);
    }
    loaded_->kernels.clear();
    std::vector<Launch> steps;
    for (const LaunchDescription& launch : i.launches) {
      steps.push_back(i.is_library ? call(launch, buffers) : kernel(launch, buffers));
    }
    return [steps](Stream stream) {
      for (const Launch& step : steps) step(stream);
    };
  }

  Launch prepare(const Instance& instance) const {
    const auto& buffers = dynamic_cast<const UserBuffers&>(instance);
    Launch launch = launch_on(buffers);
    buffers.try_out(launch);
    return launch;
  }

  std::vector<KernelUse> kernels() const { return loaded_->kernels; }

  /// Why the code of the file does not run on this device.
  std::optional<std::string> objection(const Instance& instance, const Device& device) const {
    const ImplementationDescription& i = about();
    if (i.is_library) return std::nullopt;
    const CodeFile code = read_code_file(read_code(i.file, description_->place(i.line)));
    const int has = device.compute_capability;
    const bool runs = code.kind == CodeFile::Kind::ptx
                          ? code.architecture <= has
                          : code.architecture / 10 == has / 10 && code.architecture <= has;
    if (!runs) {
      return fmt::format(
          "{} is for sm_{}, this GPU has compute capability {}.{}: compile it with "
          "-arch=sm_{}",
          i.file, code.architecture, has / 10, has % 10, has);
    }
    const auto& buffers = dynamic_cast<const UserBuffers&>(instance);
    const LaunchCheck check(*description_, i, buffers.parameters());
    for (const LaunchDescription& launch : i.launches) {
      const UserLaunchShape s = check.shape(launch);
      if (s.shared_bytes > device.shared_per_block) {
        return fmt::format("needs {} bytes of shared memory per block, this GPU has {}",
                           s.shared_bytes, device.shared_per_block);
      }
    }
    return std::nullopt;
  }

 private:
  Launch kernel(const LaunchDescription& launch, const UserBuffers& buffers) const {
    const UserLaunchShape shape =
        LaunchCheck(*description_, about(), buffers.parameters()).shape(launch);
    const void* const function = loaded_->module->kernel(launch.kernel, shape);
    KernelUse use;
    use.function = function;
    use.threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
    use.dynamic_shared_bytes = shape.shared_bytes;
    use.cluster_blocks = static_cast<int>(shape.cluster[0] * shape.cluster[1] * shape.cluster[2]);
    loaded_->kernels.push_back(use);
    return [loaded = loaded_, function, shape,
            arguments = std::make_shared<ArgumentValues>(launch, buffers)](Stream stream) {
      loaded->module->launch(function, shape, arguments->now(), stream);
    };
  }

  Launch call(const LaunchDescription& launch, const UserBuffers& buffers) const {
    const LibraryFunction function = loaded_->library->function(launch.entry, about().file);
    return [function, arguments = std::make_shared<ArgumentValues>(launch, buffers),
            entry = launch.entry, file = about().file](Stream stream) {
      // What it throws ends the process, as it should in a function that is extern "C".
      const int status = function(stream, arguments->now());
      if (status != 0) {
        throw std::runtime_error(fmt::format("'{}' of {} returned {}: 0 says that all is enqueued",
                                             entry, file, status));
      }
    };
  }

  std::shared_ptr<const Description> description_;
  std::size_t place_;
  std::shared_ptr<LoadedImplementation> loaded_ = std::make_shared<LoadedImplementation>();
};

/// Over everything that can change what an implementation does or how it is judged.
std::string digest_of(const Description& d, const ImplementationDescription& i,
                      const std::string& text) {
  Sha256 hash;
  hash.add(text);
  hash.add(i.name);
  hash.add_file(i.file, d.place(i.line));
  const ImplementationDescription& reference = d.implementations[d.reference];
  hash.add_file(reference.file, d.place(reference.line));
  for (const BufferDescription& b : d.buffers) {
    if (!b.file.empty()) hash.add_file(b.file, d.place(b.line));
    if (!b.expected.empty()) hash.add_file(b.expected, d.place(b.line));
  }
  return hash.hexadecimal();
}

/// Whether what stands in a buffer, or is to, fits it at this size. Of files only the length is
/// looked at.
void check_contents(const Description& d, const BufferDescription& b, const Parameters& p) {
  const std::int64_t count = d.value(b.count, p, 1);
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * bytes_of(b.type);
  const std::string at = p.to_string();
  const auto expect = [&](const std::string& file, const std::string& what) {
    if (file.empty()) return;
    InputFile(file, d.place(b.line)).expect_size(bytes, fmt::format("{} (at {})", what, at));
  };
  expect(b.file, fmt::format("buffer '{}'", b.name));
  expect(b.expected, fmt::format("what is expected in '{}'", b.name));
  if (is_read(b.role) && b.file.empty() && b.fill == Fill::index &&
      !reaches(b.type, static_cast<double>(count - 1))) {
    throw UsageError(
        fmt::format("{}: the last index of buffer '{}' is {} (at {}), which no {} holds",
                    d.place(b.line), b.name, count - 1, at, word_of(b.type)));
  }
}

std::string text_of_description(const std::string& path) {
  return InputFile(path).content(largest_description);
}

}  // namespace

Description read_description(const std::string& path) {
  return parse_description(text_of_description(path), path);
}

void check_description(Description& d, const Parameters& p) {
  buffer_bytes(d, p);
  for (const BufferDescription& b : d.buffers) check_contents(d, b, p);
  if (d.work) {
    for (const Quantity* q : {&d.work->operations, &d.work->bytes_read, &d.work->bytes_written,
                              &d.work->dependent_operations}) {
      d.value(*q, p);
    }
  }
  for (ImplementationDescription& i : d.implementations) {
    const LaunchCheck check(d, i, p);
    std::optional<CodeFile> code;
    if (!i.is_library) {
      const std::string bytes = read_code(i.file, d.place(i.line));
      try {
        code = read_code_file(bytes);
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("{}: {} {}", d.place(i.line), i.file, error.what()));
      }
    }
    for (LaunchDescription& launch : i.launches) {
      check.arguments(launch);
      if (!code) continue;
      std::string reason;
      const KernelSignature* const kernel = code->find(launch.entry, reason);
      if (kernel == nullptr) {
        throw UsageError(fmt::format("{}: {} has no kernel '{}': {}", d.place(launch.line), i.file,
                                     launch.entry, reason));
      }
      launch.kernel = kernel->name;
      check.against(launch, *kernel, *code);
    }
  }
}

UserApp load_user_app(Description d) {
  const std::string text = text_of_description(d.path);
  for (const Parameters& size : d.sizes()) check_description(d, size);
  UserApp app;
  app.name = d.name;
  app.summary = d.summary.empty() ? "loaded from " + d.path : d.summary;
  app.parameters = d.parameter_specs();
  app.sizes = d.sizes();
  app.description = d.path;
  const auto shared = std::make_shared<const Description>(std::move(d));
  if (shared->work) {
    app.work = [shared](const Parameters& p) {
      const auto value = [&](const Quantity& q) {
        return static_cast<double>(shared->value(q, p));
      };
      const WorkDescription& w = *shared->work;
      return Work{value(w.operations), w.kind, value(w.bytes_read), value(w.bytes_written),
                  value(w.dependent_operations)};
    };
  }
  app.device_bytes = [shared](const Parameters& p) {
    Description at_this_size = *shared;
    check_description(at_this_size, p);
    return buffer_bytes(*shared, p);
  };
  std::vector<DescribedImplementation> all;
  for (std::size_t i = 0; i < shared->implementations.size(); ++i) {
    const ImplementationDescription& about = shared->implementations[i];
    const DescribedImplementation& one = all.emplace_back(shared, i);
    UserImplementation implementation;
    implementation.name = about.name;
    implementation.prepare = [one](const Instance& instance, const Device&) {
      return one.prepare(instance);
    };
    implementation.unsupported = [one](const Instance& instance, const Device& device) {
      return one.objection(instance, device);
    };
    implementation.kernels = [one](const Instance&, const Device&) { return one.kernels(); };
    if (!about.is_library) implementation.code = about.file;
    implementation.digest = digest_of(*shared, about, text);
    implementation.place = shared->place(about.line);
    app.implementations.push_back(std::move(implementation));
  }
  app.instance = [shared, reference = all[shared->reference]](const Parameters& p,
                                                              std::uint64_t seed) {
    auto buffers = std::make_unique<UserBuffers>(*shared, p, seed, open_machine());
    const ImplementationDescription& about = reference.about();
    try {
      buffers->expect_outputs_of(reference.launch_on(*buffers), about.name);
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {
      const std::string what = error.what();
      if (what.starts_with(shared->path)) throw;  // it says where already
      throw std::runtime_error(
          fmt::format("{}: the reference {}: {}", shared->place(about.line), about.name, what));
    }
    return buffers;
  };
  return app;
}

std::string objection_to_library(const ImplementationDescription& implementation) {
  try {
    const Library library(implementation.file);
    for (const LaunchDescription& launch : implementation.launches) {
      library.function(launch.entry, implementation.file);
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::string digest_of_user_app(const std::string& app) {
  std::string all;
  for (const Variant* v : variants_of(app)) all += source_digest(v->name());
  return all;
}

void load_user_app_again(const std::string& app, const std::string& path,
                         const std::string& digest) {
  if (find_app(app) != nullptr) return;
  // Never destroyed: what it would take itself out of may be gone by then.
  static auto& loaded = *new std::vector<UserRegistration>;
  loaded.push_back(register_user_app(load_user_app(read_description(path))));
  if (loaded.back().app() != app || digest_of_user_app(app) != digest) {
    throw UsageError(fmt::format(
        "{} or a file that it names changed while it was measured: measure it again", path));
  }
}

}  // namespace amasia
