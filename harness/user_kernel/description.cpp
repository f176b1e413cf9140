#include "harness/user_kernel/description.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "harness/errors.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"
#include "harness/user_kernel/user_app.hpp"

namespace amasia {
namespace {

constexpr std::size_t most_sizes = 64;
constexpr std::size_t most_arguments = 1024;  // a kernel takes 4 KiB of them, later ones 32

/// Reads one document: each function takes a node or a table and says where it is wrong.
class DescriptionReader {
 public:
  explicit DescriptionReader(Description& into) : d_(into) {}

  void read(const toml::table& root) {
    allow(root, "the file",
          {"name", "summary", "reference", "parameters", "buffers", "implementation", "work"});
    d_.name = text_at(root, "name", "the file");
    check_name(line_of(*root.get("name")), "name", d_.name);
    if (const toml::node* summary = root.get("summary")) d_.summary = text_of(*summary, "summary");
    read_parameters(root);
    read_buffers(root);
    read_implementations(root);
    read_work(root);
  }

 private:
  int line_of(const toml::node& node) const { return static_cast<int>(node.source().begin.line); }

  template <class... Arguments>
  [[noreturn]] void refuse(int line, fmt::format_string<Arguments...> what,
                           Arguments&&... arguments) const {
    throw UsageError(d_.place(line) + ": " +
                     fmt::format(what, std::forward<Arguments>(arguments)...));
  }
  template <class... Arguments>
  [[noreturn]] void refuse(const toml::node& node, fmt::format_string<Arguments...> what,
                           Arguments&&... arguments) const {
    refuse(line_of(node), what, std::forward<Arguments>(arguments)...);
  }

  /// What a node is, in the words of a person.
  static std::string_view kind_of(const toml::node& node) {
    constexpr std::string_view by_type[] = {"nothing",    "a table",  "a list",       "a text",
                                            "an integer", "a number", "true or false"};
    const auto type = static_cast<std::size_t>(node.type());
    return type < std::size(by_type) ? by_type[type] : "a date or time";
  }

  /// Refuses a member that nobody reads: it would be a slip that goes unseen.
  void allow(const toml::table& table, const std::string& of,
             const std::vector<std::string>& names) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::ranges::find(names, name) != names.end()) continue;
      refuse(static_cast<int>(key.source().begin.line), "{} has no '{}': {}", of, name,
             suggestion(name, names));
    }
  }

  struct Member {
    std::string name;
    int line = 0, column = 0;
    const toml::node* node = nullptr;
  };
  /// The library sorts members; the order of the file is the order that people see.
  static std::vector<Member> in_order_of_file(const toml::table& table) {
    std::vector<Member> members;
    for (const auto& [key, node] : table) {
      const toml::source_position at = key.source().begin;
      members.push_back(
          {std::string(key.str()), static_cast<int>(at.line), static_cast<int>(at.column), &node});
    }
    std::ranges::sort(members, {}, [](const Member& m) { return std::pair(m.line, m.column); });
    return members;
  }

  const toml::node& member(const toml::table& table, const char* name,
                           const std::string& of) const {
    const toml::node* node = table.get(name);
    if (node == nullptr) refuse(table, "{} needs '{}'", of, name);
    return *node;
  }

  std::string text_of(const toml::node& node, const std::string& name) const {
    const auto* text = node.as_string();
    if (text == nullptr) refuse(node, "'{}' is a text in quotes, not {}", name, kind_of(node));
    return text->get();
  }
  std::string text_at(const toml::table& table, const char* name, const std::string& of) const {
    return text_of(member(table, name, of), name);
  }

  double number_of(const toml::node& node, const std::string& name) const {
    double value = 0;
    if (const auto* real = node.as_floating_point()) {
      value = real->get();
    } else if (const auto* integer = node.as_integer()) {
      value = static_cast<double>(integer->get());
    } else {
      refuse(node, "'{}' is a number, not {}", name, kind_of(node));
    }
    if (!std::isfinite(value)) refuse(node, "'{}' is not finite", name);
    return value;
  }

  /// A number that an element of this type can have.
  double value_of_type(const toml::node& node, const std::string& name, ElementType type) const {
    const double value = number_of(node, name);
    if (!reaches(type, value)) {
      refuse(node, "'{}' is {}, which no {} holds", name, value, word_of(type));
    }
    return value;
  }

  /// An integer, or a text that computes one.
  Quantity quantity_of(const toml::node& node, const std::string& name) const {
    if (const auto* integer = node.as_integer()) {
      return {fmt::format("{}", integer->get()), line_of(node)};
    }
    if (const auto* text = node.as_string()) return {text->get(), line_of(node)};
    refuse(node, "'{}' is an integer or a text like \"(n + 255) / 256\", not {}", name,
           kind_of(node));
  }
  Quantity optional_quantity(const toml::table& table, const char* name) const {
    const toml::node* node = table.get(name);
    return node == nullptr ? Quantity{"0", line_of(table)} : quantity_of(*node, name);
  }

  /// One for x, or up to three for x, y, z.
  std::vector<Quantity> extent_of(const toml::node& node, const std::string& name) const {
    std::vector<Quantity> extent;
    if (const auto* list = node.as_array()) {
      if (list->empty() || list->size() > 3) {
        refuse(node, "'{}' has x, or x and y, or x, y and z, not {} entries", name, list->size());
      }
      for (const toml::node& entry : *list) extent.push_back(quantity_of(entry, name));
    } else {
      extent.push_back(quantity_of(node, name));
    }
    extent.resize(3, {"1", line_of(node)});
    return extent;
  }

  const toml::table& table_of(const toml::node& node, const std::string& name) const {
    const auto* table = node.as_table();
    if (table == nullptr) refuse(node, "'{}' is a table, not {}", name, kind_of(node));
    return *table;
  }

  const toml::array& list_of(const toml::node& node, const std::string& what,
                             const char* written) const {
    const auto* list = node.as_array();
    if (list == nullptr || list->empty()) {
      refuse(node, "{} are written {}, in double brackets", what, written);
    }
    return *list;
  }

  template <class Enum>
  Enum word_at(const toml::node& node, const std::string& name) const {
    const std::string word = text_of(node, name);
    const auto value = find_word<Enum>(word);
    if (!value) {
      refuse(node, "no {} '{}': expected {}", Words<Enum>::what, word, list_of_words<Enum>());
    }
    return *value;
  }

  void check_name(int line, std::string_view what, const std::string& name) const {
    const std::string objection = objection_to_name(name);
    if (!objection.empty()) refuse(line, "{} '{}': {}", what, name, objection);
  }

  /// Names in a file are found from the folder it lies in.
  std::string file_of(const toml::node& node, const std::string& name) const {
    const std::string given = text_of(node, name);
    if (given.empty()) refuse(node, "'{}' is empty", name);
    if (given.find('\0') != std::string::npos) refuse(node, "'{}' has a zero byte in it", name);
    return (std::filesystem::path(d_.path).parent_path() / given).lexically_normal().string();
  }

  void read_parameters(const toml::table& root) {
    const toml::node* node = root.get("parameters");
    if (node == nullptr || (node->is_table() && node->as_table()->empty())) {
      d_.parameters = {{"case", {1}}};  // a row of a result has a size
      return;
    }
    const toml::table& table = table_of(*node, "parameters");
    std::size_t sizes = 1;
    for (const auto& [name, line, column, value] : in_order_of_file(table)) {
      const bool is_word =
          !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) != 0) &&
          std::ranges::all_of(name,
                              [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
      if (!is_word) refuse(line, "parameter '{}': a letter, then letters, digits and '_'", name);
      std::vector<std::int64_t> values;
      const auto take = [&, name = name](const toml::node& one) {
        const auto* integer = one.as_integer();
        if (integer == nullptr) {
          refuse(one, "parameter '{}' is an integer or a list of them, not {}", name, kind_of(one));
        }
        values.push_back(integer->get());
      };
      if (const auto* list = value->as_array()) {
        for (const toml::node& one : *list) take(one);
        if (values.empty()) refuse(*value, "parameter '{}' has no value", name);
      } else {
        take(*value);
      }
      if (values.size() > most_sizes) {
        refuse(*value, "{} sizes are more than the {} that a file may have", values.size(),
               most_sizes);
      }
      if (values.size() > 1 && sizes > 1 && values.size() != sizes) {
        refuse(*value,
               "parameter '{}' has {} values, and another one {}: a size takes "
               "one of each, in order",
               name, values.size(), sizes);
      }
      sizes = std::max(sizes, values.size());
      d_.parameters.emplace_back(name, std::move(values));
    }
    for (auto& [name, values] : d_.parameters) values.resize(sizes, values.front());
  }

  void read_buffers(const toml::table& root) {
    const toml::table& table = table_of(member(root, "buffers", "the file"), "buffers");
    for (const auto& [name, line, column, node] : in_order_of_file(table)) {
      check_name(line, "buffer", name);
      read_buffer(name, line, table_of(*node, name));
    }
    const bool any =
        std::ranges::any_of(d_.buffers, [](const auto& b) { return is_written(b.role); });
    if (!any) {
      refuse(root, "no buffer has the role 'output' or 'in place': there is nothing to verify");
    }
  }

  void read_buffer(const std::string& name, int line, const toml::table& table) {
    BufferDescription b;
    const std::string of = fmt::format("buffer '{}'", name);
    b.name = name;
    b.line = line;
    allow(table, of,
          {"type", "count", "role", "fill", "low", "high", "value", "file", "fixed", "expected",
           "tolerance"});
    b.type = word_at<ElementType>(member(table, "type", of), "type");
    b.count = quantity_of(member(table, "count", of), "count");
    b.role = word_at<BufferRole>(member(table, "role", of), "role");
    read_contents(b, of, table);
    if (const toml::node* expected = table.get("expected")) {
      b.expected = file_of(*expected, "expected");
    }
    if (const toml::node* tolerance = table.get("tolerance")) read_tolerance(b, *tolerance);
    d_.buffers.push_back(std::move(b));
  }

  void read_contents(BufferDescription& b, const std::string& of, const toml::table& table) const {
    const toml::node* file = table.get("file");
    const toml::node* fill = table.get("fill");
    if (is_read(b.role) && (file == nullptr) == (fill == nullptr)) {
      refuse(fill == nullptr ? b.line : line_of(*fill), "{} needs either 'fill' ({}) or 'file'", of,
             list_of_words<Fill>());
    }
    if (fill != nullptr) b.fill = word_at<Fill>(*fill, "fill");
    const bool uniform = fill != nullptr && b.fill == Fill::uniform;
    const bool constant = fill != nullptr && b.fill == Fill::constant;
    for (const auto& [name, belongs] :
         {std::pair{"fill", is_read(b.role)}, std::pair{"low", uniform}, std::pair{"high", uniform},
          std::pair{"value", constant}, std::pair{"file", is_read(b.role)},
          std::pair{"fixed", file != nullptr}, std::pair{"expected", is_written(b.role)},
          std::pair{"tolerance", is_written(b.role)}}) {
      if (belongs || table.get(name) == nullptr) continue;
      refuse(*table.get(name), "{}: '{}' does not belong to role \"{}\"{}", of, name,
             word_of(b.role), fill == nullptr ? "" : fmt::format(", fill \"{}\"", word_of(b.fill)));
    }
    if (!is_read(b.role)) return;
    if (file != nullptr) b.file = file_of(*file, "file");
    if (const toml::node* fixed = table.get("fixed")) {
      if (!fixed->is_boolean()) refuse(*fixed, "'fixed' is true or false");
      b.fixed = fixed->value_or(false);
    }
    if (constant) b.low = value_of_type(member(table, "value", of), "value", b.type);
    if (!uniform) return;
    // Integers are drawn from a range that no sum of a few of them overflows.
    b.high = is_float(b.type) ? 1 : 100;
    if (const toml::node* low = table.get("low")) b.low = value_of_type(*low, "low", b.type);
    if (const toml::node* high = table.get("high")) b.high = value_of_type(*high, "high", b.type);
    if (!(b.low < b.high)) {
      refuse(*fill, "{} is drawn from {} to {}: 'low' must be less than 'high'", of, b.low, b.high);
    }
    const double apart = b.high - b.low;
    if (!std::isfinite(apart) || (!is_float(b.type) && apart >= 0x1p32)) {
      refuse(*fill, "{}: 'low' and 'high' are too far apart", of);
    }
  }

  void read_tolerance(BufferDescription& b, const toml::node& node) const {
    if (node.is_string()) {
      if (word_at<Norm>(node, "tolerance") != Norm::exact) {
        refuse(node, "a tolerance is \"exact\" or a table: {{ relative = 1e-6 }}");
      }
      return;
    }
    const toml::table& table = table_of(node, "tolerance");
    allow(table, "a tolerance", {"relative", "absolute"});
    if (table.size() != 1) refuse(node, "a tolerance is either relative or absolute");
    for (const Norm norm : {Norm::relative, Norm::absolute}) {
      const std::string name(word_of(norm));
      const toml::node* bound = table.get(name);
      if (bound == nullptr) continue;
      b.norm = norm;
      b.tolerance = number_of(*bound, name);
      if (b.tolerance <= 0) {
        refuse(*bound, "a tolerance is more than 0; \"exact\" is what takes no difference");
      }
      if (norm == Norm::relative && b.tolerance >= 1) {
        refuse(*bound, "a relative tolerance of 1 or more would take an output of zeros");
      }
    }
  }

  void read_implementations(const toml::table& root) {
    const toml::node& node = member(root, "implementation", "the file");
    for (const toml::node& one : list_of(node, "implementations", "[[implementation]]")) {
      read_implementation(table_of(one, "implementation"));
    }
    const toml::node* named = root.get("reference");
    if (named == nullptr) return;
    std::vector<std::string> names;
    for (const ImplementationDescription& i : d_.implementations) names.push_back(i.name);
    const std::string name = text_of(*named, "reference");
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      refuse(*named, "reference '{}' is no implementation: {}", name, suggestion(name, names));
    }
    d_.reference = static_cast<std::size_t>(found - names.begin());
  }

  void read_implementation(const toml::table& table) {
    ImplementationDescription i;
    i.line = line_of(table);
    i.name = text_at(table, "name", "an implementation");
    const std::string of = fmt::format("implementation '{}'", i.name);
    const toml::node* file = table.get("file");
    const toml::node* library = table.get("library");
    if ((file == nullptr) == (library == nullptr)) {
      refuse(table, "{} needs either 'file' (a cubin or PTX) or 'library'", of);
    }
    i.is_library = library != nullptr;
    i.file = i.is_library ? file_of(*library, "library") : file_of(*file, "file");
    if (const toml::node* launches = table.get("launch")) {
      allow(table, of, {"name", "file", "library", "launch"});
      for (const toml::node& one :
           list_of(*launches, of + ": launches", "[[implementation.launch]]")) {
        const toml::table& launch = table_of(one, "launch");
        allow(launch, "a launch of " + of, launch_members(i.is_library));
        read_launch(i, launch, "a launch of " + of);
      }
    } else {
      std::vector<std::string> members = launch_members(i.is_library);
      members.insert(members.end(), {"name", i.is_library ? "library" : "file"});
      allow(table, of, members);
      read_launch(i, table, of);
    }
    d_.implementations.push_back(std::move(i));
  }

  static std::vector<std::string> launch_members(bool is_library) {
    if (is_library) return {"function", "arguments"};
    return {"kernel", "grid", "block", "shared", "cluster", "arguments"};
  }

  void read_launch(ImplementationDescription& i, const toml::table& table, const std::string& of) {
    LaunchDescription launch;
    const char* entry = i.is_library ? "function" : "kernel";
    launch.entry = text_at(table, entry, of);
    launch.line = line_of(*table.get(entry));
    if (launch.entry.empty() || launch.entry.find('\0') != std::string::npos) {
      refuse(launch.line, "'{}' has no name in it", entry);
    }
    launch.kernel = launch.entry;
    if (!i.is_library) {
      launch.grid = extent_of(member(table, "grid", of), "grid");
      launch.block = extent_of(member(table, "block", of), "block");
      if (const toml::node* cluster = table.get("cluster")) {
        launch.cluster = extent_of(*cluster, "cluster");
      }
      launch.shared = optional_quantity(table, "shared");
    }
    const toml::node& arguments = member(table, "arguments", of);
    const auto* list = arguments.as_array();
    if (list == nullptr) refuse(arguments, "'arguments' is a list");
    if (list->size() > most_arguments) {
      refuse(arguments, "{} arguments are more than a kernel takes", list->size());
    }
    for (const toml::node& one : *list) launch.arguments.push_back(argument_of(one));
    i.launches.push_back(std::move(launch));
  }

  ArgumentDescription argument_of(const toml::node& node) const {
    ArgumentDescription a;
    a.line = line_of(node);
    if (const auto* name = node.as_string()) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < d_.buffers.size(); ++i) {
        names.push_back(d_.buffers[i].name);
        if (names.back() == name->get()) a.buffer = i;
      }
      if (!a.buffer) {
        refuse(node,
               "argument '{}' is no buffer: {}; a scalar is written {{ i32 = "
               "\"n\" }}",
               name->get(), suggestion(name->get(), names));
      }
      return a;
    }
    const auto* table = node.as_table();
    if (table == nullptr || table->size() != 1) {
      refuse(node,
             "an argument is the name of a buffer or a scalar with its type, {{ i32 = \"n\" }} "
             "or {{ f32 = 0.5 }}");
    }
    const auto only = table->begin();
    const std::string type(only->first.str());
    const toml::node& value = only->second;
    const auto known = find_word<ElementType>(type);
    if (!known) refuse(node, "no type '{}': expected {}", type, list_of_words<ElementType>());
    a.type = *known;
    if (is_float(a.type) && !value.is_string()) {
      a.real = value_of_type(value, type, a.type);
    } else {
      a.integer = quantity_of(value, type);
    }
    return a;
  }

  void read_work(const toml::table& root) {
    const toml::node* node = root.get("work");
    if (node == nullptr) return;
    const toml::table& table = table_of(*node, "work");
    allow(table, "work",
          {"kind", "operations", "bytes_read", "bytes_written", "dependent_operations"});
    WorkDescription work;
    if (const toml::node* kind = table.get("kind")) work.kind = word_at<Work::Kind>(*kind, "kind");
    work.operations = optional_quantity(table, "operations");
    work.bytes_read = optional_quantity(table, "bytes_read");
    work.bytes_written = optional_quantity(table, "bytes_written");
    work.dependent_operations = optional_quantity(table, "dependent_operations");
    d_.work = std::move(work);
  }

  Description& d_;
};

constexpr int deepest = 100;  // parentheses and signs within each other

class Calculation {
  using Wide = __int128;  // holds what two integers of 64 bits give

 public:
  Calculation(std::string_view text, const ValueOf& value_of) : text_(text), value_of_(value_of) {}

  std::int64_t result() {
    const std::int64_t value = sum();
    if (at_ < text_.size()) refuse(fmt::format("'{}' is not expected there", text_[at_]));
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("\"{}\": {}", text_, why));
  }

  std::int64_t in_64_bits(Wide value) const {
    if (value < INT64_MIN || value > INT64_MAX) refuse("its value is beyond 64 bits");
    return static_cast<std::int64_t>(value);
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  /// Operands with operators of one rank between them, from left to right.
  template <class Operand>
  std::int64_t chain(std::string_view operators, const Operand& operand) {
    std::int64_t value = operand();
    for (char c = peek(); operators.find(c) != std::string_view::npos; c = peek()) {
      ++at_;
      const Wide other = operand();
      if (c == '/' && other == 0) refuse("it divides by zero");
      value = in_64_bits(c == '+'   ? value + other
                         : c == '-' ? value - other
                         : c == '*' ? value * other
                                    : value / other);
    }
    return value;
  }
  std::int64_t product() {
    return chain("*/", [this] { return operand(); });
  }
  std::int64_t sum() {
    return chain("+-", [this] { return product(); });
  }

  std::int64_t operand() {
    if (++depth_ > deepest) refuse("it is nested too deeply");
    const std::int64_t value = operand_within();
    --depth_;
    return value;
  }

  std::int64_t operand_within() {
    const char c = peek();
    if (c == '(') {
      ++at_;
      const std::int64_t value = sum();
      if (peek() != ')') refuse("a parenthesis is not closed");
      ++at_;
      return value;
    }
    if (c == '-') {
      ++at_;
      return in_64_bits(-Wide{operand()});
    }
    const std::size_t begin = at_;
    const auto is_word = [&] {
      return at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_');
    };
    while (is_word()) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      refuse(c == '\0' ? "it ends where a number or a parameter is expected"
                       : fmt::format("'{}' is not expected there", c));
    }
    std::int64_t value = 0;
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) {
      const auto known = value_of_(word);
      if (!known) refuse(fmt::format("'{}' is no parameter", word));
      return *known;
    }
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range) refuse("a number in it is beyond 64 bits");
    if (end != word.data() + word.size()) refuse(fmt::format("'{}' is no integer", word));
    return value;
  }

  std::string_view text_;
  const ValueOf& value_of_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string Description::place(int line) const { return fmt::format("{}:{}", path, line); }

std::vector<ParameterSpec> Description::parameter_specs() const {
  std::vector<ParameterSpec> specs;
  for (const auto& [parameter, values] : parameters) {
    ParameterSpec spec;
    spec.name = parameter;
    spec.help = "of " + path;
    spec.default_value = fmt::format("{}", values.front());
    spec.minimum = INT64_MIN;
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<Parameters> Description::sizes() const {
  const std::size_t count = parameters.empty() ? 1 : parameters.front().second.size();
  std::vector<Parameters> all;
  for (std::size_t i = 0; i < count; ++i) {
    std::map<std::string, std::string> given;
    for (const auto& [parameter, values] : parameters)
      given[parameter] = fmt::format("{}", values[i]);
    all.emplace_back(parameter_specs(), given);
  }
  return all;
}

std::int64_t Description::value(const Quantity& quantity, const Parameters& of, std::int64_t least,
                                std::int64_t most) const {
  const auto value_of = [&](std::string_view wanted) -> std::optional<std::int64_t> {
    for (const auto& [known, values] : parameters) {
      if (known == wanted) return of.integer(known);
    }
    return std::nullopt;
  };
  std::int64_t result = 0;
  try {
    result = evaluate(quantity.text, value_of);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", place(quantity.line), error.what()));
  }
  if (result < least || result > most) {
    const std::string at = of.to_string(), number = fmt::format("{}", result);
    const std::string computed = quantity.text == number
                                     ? number
                                     : fmt::format("{} is {}{}, which", quantity.text, number,
                                                   at.empty() ? "" : " at " + at);
    throw UsageError(fmt::format("{}: {} is {} than {}", place(quantity.line), computed,
                                 result < least ? "less" : "more", result < least ? least : most));
  }
  return result;
}

Description parse_description(std::string_view text, const std::string& path) {
  Description d;
  d.path = path;
  try {
    DescriptionReader(d).read(toml::parse(text, std::string_view(path)));
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}: {}", d.place(static_cast<int>(error.source().begin.line)),
                                 in_one_line(std::string(error.description()))));
  }
  return d;
}

std::int64_t evaluate(std::string_view text, const ValueOf& value_of) {
  return Calculation(text, value_of).result();
}

}  // namespace amasia
