// A field of a result, declared once. From a declaration such as
//
//   template <>
//   struct Fields<Floor> {
//     static constexpr std::string_view name = "floor";
//     static constexpr auto list = fields(field("bytes_ms", &Floor::bytes_ms, not_negative), ...);
//   };
//
// come its place in the file, the check when it is read (both in codec.hpp), its entry in
// schema/result.schema.json (schema.hpp) and, through that file, its column in Python. The
// declarations of a result file are in fields.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

namespace amasia {

/// What is asked of a value, and how it stands in the file. Of a list or map: of each item.
struct Rules {
  std::string_view meaning{};  // in the schema, where the name does not say it
  bool optional = false;       // left out of the file where it is none, empty, 0 or false
  double least = std::numeric_limits<double>::lowest();
  bool above = false;  // more than `least`, not equal to it
  double most = std::numeric_limits<double>::max();
  std::int64_t least_integer = 0;
  // A rule for text that only the schema checks: files of tests leave most fields empty.
  bool not_empty = false;
  std::string_view pattern{};
  std::size_t most_items = 0;     // of a list, in the schema; 0: any number
  bool infinite_is_null = false;  // a number that may be none: written null, read infinite
  bool counts = false;            // a column that is left out where it is 0, 1, 2, ...
  bool shared = false;            // a list of indices into the file's `kernels`
};

inline constexpr Rules any_value{};
inline constexpr Rules not_negative{.least = 0};
inline constexpr Rules positive{.least = 0, .above = true};
inline constexpr Rules share{.least = 0, .most = 1};

template <class Struct, class T>
struct Field {
  using Value = T;
  static constexpr bool derived = false;
  std::string_view name;
  T Struct::*member;
  Rules rules;
};

/// Written for readers' convenience: it follows from the other members, and is checked against them
/// when it is read.
template <class Struct, class T>
struct Derived {
  using Value = T;
  static constexpr bool derived = true;
  std::string_view name;
  T (Struct::*value)() const;
  Rules rules;
};

template <class Struct, class T>
consteval Field<Struct, T> field(std::string_view name, T Struct::*member, Rules rules = {}) {
  return {name, member, rules};
}

template <class Struct, class T>
consteval Derived<Struct, T> derived(std::string_view name, T (Struct::*value)() const,
                                     Rules rules = {}) {
  return {name, value, rules};
}

/// The fields of a struct in the order of the file. A second one of a name does not compile: the
/// error names the line of this call.
template <class... Field>
consteval std::tuple<Field...> fields(Field... field) {
  const std::string_view names[] = {field.name...};
  for (std::size_t i = 0; i < sizeof...(Field); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) throw std::logic_error("a field is declared a second time");
    }
  }
  return {field...};
}

/// Specialized with `list`, the `name` that it has in the schema, where it is in one, and for a
/// struct of which a file has one list for each member, as of samples, `columns` = true. A column
/// of truth values is the list of the indices that are true; one that is optional is left out where
/// it says nothing. `meaning` is optional.
template <class Struct>
struct Fields;

template <class T>
concept HasFields = requires {
  Fields<T>::list;
};

template <class T>
concept IsColumns = requires {
  Fields<T>::columns;
};

/// Calls visit(field) for each field of Struct.
template <class Struct, class Visit>
void for_each_field(const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Fields<Struct>::list);
}

/// A link to the place around it, which must outlive it: nothing is put together until a message
/// needs it, because a file has hundreds of thousands of places.
class Place {
 public:
  Place() = default;  // the document
  Place(const Place& around, std::string_view name) : around_(&around), name_(name) {}
  Place(const Place& around, std::size_t index)
      : around_(&around), index_(index), is_index_(true) {}

  std::string to_string() const {
    if (around_ == nullptr) return "";
    std::string text = around_->to_string();
    if (is_index_) return text + '[' + std::to_string(index_) + ']';
    if (!text.empty()) text += '.';
    return text.append(name_);
  }

 private:
  const Place* around_ = nullptr;
  std::string_view name_{};
  std::size_t index_ = 0;
  bool is_index_ = false;
};

}  // namespace amasia
