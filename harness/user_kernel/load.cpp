#include "harness/user_kernel/load.hpp"

#include <dlfcn.h>
#include <nettle/sha2.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/errors.hpp"
#include "harness/evidence/cubins.hpp"
#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"
#include "harness/user_kernel/buffers.hpp"

namespace amasia {
namespace {

constexpr std::size_t buffer_argument_bytes = 8;
constexpr std::uint64_t largest_description = 1 << 20;
/// What nvcc makes of the largest libraries has some 100 MB; it is held in memory.
constexpr std::uint64_t largest_code = 1 << 30;

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

template <class... Arguments>
[[noreturn]] void refuse(const Description& d, int line, fmt::format_string<Arguments...> what,
                         Arguments&&... arguments) {
  throw UsageError(d.place(line) + ": " + fmt::format(what, std::forward<Arguments>(arguments)...));
}

/// Integers that fit their types. What a GPU takes no block, grid or cluster of, it says itself.
void check_arguments(const Description& d, const LaunchDescription& launch, const Parameters& p) {
  for (const ArgumentDescription& a : launch.arguments) {
    if (a.buffer || a.real) continue;
    const std::int64_t value = d.value(a.integer, p, INT64_MIN);
    if (!holds(a.type, value)) {
      refuse(d, a.line, "{} is {}, which no {} holds", a.integer.text, value, word_of(a.type));
    }
  }
}

UserLaunchShape shape_of(const Description& d, const LaunchDescription& launch,
                         const Parameters& p) {
  UserLaunchShape s;
  const auto extent = [&](const std::vector<Quantity>& of, std::array<unsigned, 3>& into) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      into[i] = static_cast<unsigned>(d.value(of[i], p, 1, UINT32_MAX));
    }
  };
  extent(launch.grid, s.grid);
  extent(launch.block, s.block);
  extent(launch.cluster, s.cluster);
  s.shared_bytes = static_cast<std::size_t>(d.value(launch.shared, p, 0, 1 << 30));
  return s;
}

/// A launch reads as many bytes of its arguments as the kernel has parameters, whatever is given.
void check_parameters(const Description& d, const std::string& file,
                      const LaunchDescription& launch, const KernelSignature& kernel) {
  const auto& takes = kernel.parameters;
  if (launch.arguments.size() != takes.size()) {
    refuse(d, launch.line,
           "kernel '{}' of {} takes {} parameters ({} bytes), {} arguments are given", launch.entry,
           file, takes.size(), fmt::join(takes, ", "), launch.arguments.size());
  }
  for (std::size_t i = 0; i < takes.size(); ++i) {
    const ArgumentDescription& a = launch.arguments[i];
    const std::size_t has = a.buffer ? buffer_argument_bytes : bytes_of(a.type);
    if (has == takes[i]) continue;
    refuse(d, a.line,
           "argument {} of kernel '{}' has {} bytes ({}), the kernel's parameter has "
           "{}",
           i + 1, launch.entry, has,
           a.buffer ? "buffer '" + d.buffers[*a.buffer].name + "'" : std::string(word_of(a.type)),
           takes[i]);
  }
}

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
  std::optional<std::string> objection(const Device& device) const {
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
    return std::nullopt;
  }

 private:
  Launch kernel(const LaunchDescription& launch, const UserBuffers& buffers) const {
    const UserLaunchShape shape = shape_of(*description_, launch, buffers.parameters());
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
    refuse(d, b.line, "the last index of buffer '{}' is {} (at {}), which no {} holds", b.name,
           count - 1, at, word_of(b.type));
  }
}

std::string text_of_description(const std::string& path) {
  return InputFile(path).content(largest_description);
}

/// Finds each kernel in its file and checks arguments, launch shapes and buffers at these
/// parameters. Fills in mangled names. Throws UsageError "path:line: ..." for the first
/// contradiction.
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
    std::optional<CodeFile> code;
    if (!i.is_library) {
      const std::string bytes = read_code(i.file, d.place(i.line));
      try {
        code = read_code_file(bytes);
      } catch (const UsageError& error) {
        refuse(d, i.line, "{} {}", i.file, error.what());
      }
    }
    for (LaunchDescription& launch : i.launches) {
      check_arguments(d, launch, p);
      if (!code) continue;
      shape_of(d, launch, p);
      std::string reason;
      const KernelSignature* const kernel = code->find(launch.entry, reason);
      if (kernel == nullptr) {
        refuse(d, launch.line, "{} has no kernel '{}': {}", i.file, launch.entry, reason);
      }
      launch.kernel = kernel->name;
      check_parameters(d, i.file, launch, *kernel);
    }
  }
}

}  // namespace

Description read_description(const std::string& path) {
  return parse_description(text_of_description(path), path);
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
    implementation.unsupported = [one](const Instance&, const Device& device) {
      return one.objection(device);
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
