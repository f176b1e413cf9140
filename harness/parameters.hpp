// The parameters of an app at one size: named integers, choices and files, validated against the
// app's own table before anything is allocated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inputs/errors.hpp"
#include "inputs/sizes.hpp"

namespace amasia {

struct ParameterSpec {
  enum class Kind { integer, choice, file };
  std::string name;
  Kind kind = Kind::integer;
  std::string help;  // with the unit
  std::string default_value;
  std::int64_t minimum = 1;  // integers only
  std::int64_t maximum = INT64_MAX;
  std::vector<std::string> choices{};  // choices only
};

/// Values by name, always complete: every parameter of the app is present. Compares and prints in
/// the order of the app's table.
class Parameters {
 public:
  Parameters() = default;
  /// Takes defaults for what `given` leaves out. Throws UsageError for an unknown name (with the
  /// nearest valid one), a value that is no integer, out of range, or no valid choice.
  Parameters(const std::vector<ParameterSpec>& specs,
             const std::map<std::string, std::string>& given);

  /// As read from a result file: values that some app's table accepted when they were measured.
  static Parameters from_values(std::vector<std::pair<std::string, std::string>> values);

  /// Both throw std::logic_error for a name the app's table does not have, or a value of another
  /// kind.
  std::int64_t integer(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }
  /// "rows=10000,cols=10000,..."; what --size accepts. Empty values (files not given) are left out.
  std::string to_string() const;
  friend bool operator==(const Parameters& a, const Parameters& b) {
    return a.values_ == b.values_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

/// Splits "a=1,b=2". Throws UsageError, which calls the text what it is, a "size" or "traits", and
/// names an example of what is expected.
std::map<std::string, std::string> parse_size(std::string_view text, std::string_view what = "size",
                                              std::string_view example = "name=value,name=value");

}  // namespace amasia
