// What `amasia bench` is told of a problem and of the implementations that it compares: a TOML file
// (docs/your-kernel.md has the format).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/app.hpp"
#include "harness/user_kernel/element.hpp"

namespace amasia {

/// What a buffer is to an implementation.
enum class BufferRole { input, output, in_place, scratch };
template <>
struct Words<BufferRole> {
  static constexpr std::string_view what = "role",
                                    list[] = {"input", "output", "in place", "scratch"};
};

constexpr bool is_read(BufferRole role) {
  return role == BufferRole::input || role == BufferRole::in_place;
}
constexpr bool is_written(BufferRole role) {
  return role == BufferRole::output || role == BufferRole::in_place;
}

/// What stands in a buffer before a run.
enum class Fill { zero, constant, index, uniform };
template <>
struct Words<Fill> {
  static constexpr std::string_view what = "fill",
                                    list[] = {"zero", "constant", "index", "uniform"};
};

/// By which norm an output may be off. `relative`: the largest difference over the largest
/// magnitude that is expected anywhere in the buffer.
enum class Norm { exact, relative, absolute };
template <>
struct Words<Norm> {
  static constexpr std::string_view what = "tolerance", list[] = {"exact", "relative", "absolute"};
};

/// An integer that may depend on the parameters, see evaluate().
struct Quantity {
  std::string text;
  int line = 0;
};

struct BufferDescription {
  std::string name;
  int line = 0;
  ElementType type = ElementType::f32;
  Quantity count{};  // elements
  BufferRole role = BufferRole::input;
  Fill fill = Fill::uniform;
  double low = 0, high = 1;  // uniform: of integers both are included; constant: `low`
  std::string file{};        // what is in it, instead of a fill
  bool fixed = false;        // of a file: its data are not to be changed
  std::string expected{};    // file of what an output must be; "" for the reference's output
  Norm norm = Norm::exact;
  double tolerance = 0;
};

/// A buffer, or a scalar by value.
struct ArgumentDescription {
  int line = 0;
  std::optional<std::size_t> buffer{};  // its place among the buffers
  ElementType type = ElementType::i32;  // of a scalar
  Quantity integer{};                   // its value, where that is one
  std::optional<double> real{};         // its value otherwise
};

/// One kernel, or one call of a library's function.
struct LaunchDescription {
  int line = 0;
  std::string entry;     // kernel or function, as it was written
  std::string kernel{};  // its mangled name, once the file has been read
  std::vector<Quantity> grid{}, block{}, cluster{};  // x, y, z
  Quantity shared{"0", 0};                           // dynamic bytes
  std::vector<ArgumentDescription> arguments{};
};

struct ImplementationDescription {
  std::string name;
  int line = 0;
  std::string file;         // as it is found from the working directory
  bool is_library = false;  // a shared library, not a cubin or PTX
  std::vector<LaunchDescription> launches{};
};

struct WorkDescription {
  Work::Kind kind = Work::Kind::fp32;
  Quantity operations{"0", 0}, bytes_read{"0", 0}, bytes_written{"0", 0},
      dependent_operations{"0", 0};
};

struct Description {
  std::string path;  // as given
  std::string name;
  std::string summary{};
  /// Parameters by name; each has a value for each size.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> parameters{};
  std::vector<BufferDescription> buffers{};
  std::vector<ImplementationDescription> implementations{};  // the baseline first
  std::size_t reference = 0;  // whose outputs are expected where no file has them
  std::optional<WorkDescription> work{};

  /// "saxpy.toml:14"
  std::string place(int line) const;
  std::vector<ParameterSpec> parameter_specs() const;
  std::vector<Parameters> sizes() const;
  /// Throws UsageError "path:line: ..." for what cannot be computed, and for a value that is less
  /// than `least` or more than `most`.
  std::int64_t value(const Quantity& quantity, const Parameters& of, std::int64_t least = 0,
                     std::int64_t most = INT64_MAX) const;
};

/// Reads a description without opening the files that it names; `path` says where they are. Throws
/// UsageError, one line "path:line: ...", for whatever is missing, unknown or of the wrong kind.
Description parse_description(std::string_view text, const std::string& path);

/// What a name stands for; nothing for one that is not known.
using ValueOf = std::function<std::optional<std::int64_t>(std::string_view name)>;

/// "(n + 255) / 256": decimal integers, names, + - * / (rounding towards zero), parentheses. Throws
/// UsageError, a clause that quotes the text, for anything else, for an unknown name, a division by
/// zero and a value beyond 64 bits.
std::int64_t evaluate(std::string_view text, const ValueOf& value_of);

}  // namespace amasia
