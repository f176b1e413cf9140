#include "harness/results/schema.hpp"

#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/results/fields.hpp"
#include "harness/results/profile.hpp"

namespace amasia {
namespace {

/// The schema of a value under these rules. Structs go to `definitions` under the name of their
/// Fields, once, and are referred to.
template <class T>
struct SchemaOf;
template <class T>
Json schema_of(const Rules& rules, Json& definitions) {
  return SchemaOf<T>::of(rules, definitions);
}

Json text_schema(const Rules& rules) {
  Json schema = {{"type", "string"}};
  if (rules.not_empty) schema["minLength"] = 1;
  if (!rules.pattern.empty()) schema["pattern"] = rules.pattern;
  return schema;
}

Json number_schema(const Rules& rules, bool or_null) {
  Json schema = {{"type", "number"}};
  if (or_null) schema["type"] = {"number", "null"};
  if (rules.least > any_value.least) {
    schema[rules.above ? "exclusiveMinimum" : "minimum"] = static_cast<std::int64_t>(rules.least);
  }
  if (rules.most < any_value.most) schema["maximum"] = static_cast<std::int64_t>(rules.most);
  return schema;
}

Json integer_schema(const Rules& rules, bool or_null) {
  Json schema = {{"type", "integer"}};
  if (or_null) schema["type"] = {"integer", "null"};
  if (rules.least_integer > INT64_MIN) schema["minimum"] = rules.least_integer;
  return schema;
}

Json array_schema(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

template <class Enum>
Json word_schema(bool or_none) {
  std::vector<std::string_view> words(std::begin(Words<Enum>::list), std::end(Words<Enum>::list));
  if (or_none) words.insert(words.begin(), "");
  return {{"enum", words}};
}

/// The members of an object so far.
struct Members {
  Json required = Json::array();
  Json properties = Json::object();

  void add(std::string_view name, const Rules& rules, Json member) {
    if (!rules.meaning.empty()) member["description"] = rules.meaning;
    if (!rules.optional) required.push_back(name);
    properties[std::string(name)] = std::move(member);
  }

  Json schema(std::string_view meaning) && {
    Json object = Json::object();
    if (!meaning.empty()) object["description"] = meaning;
    object["type"] = "object";
    object["required"] = std::move(required);
    object["additionalProperties"] = false;
    object["properties"] = std::move(properties);
    return object;
  }
};

/// A reference to a definition, which `make` makes unless it is there.
Json reference_to(std::string_view of, Json& definitions, Json (*make)(Json&)) {
  const std::string name(of);
  if (!definitions.contains(name)) {
    definitions[name] = nullptr;  // its place, before those of its members
    definitions[name] = make(definitions);
  }
  return {{"$ref", "#/$defs/" + name}};
}

/// A member, or with `column` the list of it.
template <class Value>
Json member_schema(const Rules& rules, bool column, Json& definitions) {
  if (rules.shared || (column && std::is_same_v<Value, bool>)) {
    return array_schema({{"type", "integer"}, {"minimum", 0}});  // indices
  }
  if (column) return array_schema(schema_of<Value>(rules, definitions));
  if constexpr (requires(Value value) { value.has_value(); }) {
    // What is none is left out.
    if (rules.optional) return schema_of<typename Value::value_type>(rules, definitions);
  }
  return schema_of<Value>(rules, definitions);
}

/// The members of a struct; with `columns` a list of each.
template <class Struct>
Json struct_schema(Json& definitions) {
  Members members;
  for_each_field<Struct>([&](const auto& field) {
    using Value = typename std::decay_t<decltype(field)>::Value;
    members.add(field.name, field.rules,
                member_schema<Value>(field.rules, IsColumns<Struct>, definitions));
  });
  std::string_view meaning;
  if constexpr (requires { Fields<Struct>::meaning; }) meaning = Fields<Struct>::meaning;
  return std::move(members).schema(meaning);
}

template <class T>
struct SchemaOf {
  static Json of(const Rules& rules, Json& definitions) {
    if constexpr (HasFields<T>) {
      return reference_to(Fields<T>::name, definitions, struct_schema<T>);
    } else if constexpr (HasWords<T>::value) {
      return word_schema<T>(false);
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_floating_point_v<T>) {
      Json schema = number_schema(rules, rules.infinite_is_null);
      if (std::is_same_v<T, float>) schema["format"] = "float32";
      return schema;
    } else if constexpr (std::is_integral_v<T>) {
      return integer_schema(rules, false);
    } else {
      static_assert(std::is_same_v<T, std::string>, "a shape that results have not had yet");
      return text_schema(rules);
    }
  }
};

template <class T>
struct SchemaOf<std::optional<T>> {
  static Json of(const Rules& rules, Json& definitions) {
    if constexpr (HasWords<T>::value) {
      return word_schema<T>(true);
    } else if constexpr (std::is_floating_point_v<T>) {
      return number_schema(rules, true);
    } else if constexpr (std::is_integral_v<T>) {
      return integer_schema(rules, true);
    } else {
      return {{"oneOf", {{{"type", "null"}}, schema_of<T>(rules, definitions)}}};
    }
  }
};

template <class T>
struct SchemaOf<std::vector<T>> {
  static Json of(const Rules& rules, Json& definitions) {
    if constexpr (IsColumns<T>) {
      return reference_to(Fields<T>::name, definitions, struct_schema<T>);
    } else {
      Json schema = array_schema(schema_of<T>(rules, definitions));
      if (rules.most_items > 0) schema["maxItems"] = rules.most_items;
      return schema;
    }
  }
};

template <class T>
struct SchemaOf<std::map<std::string, T>> {
  static Json of(const Rules& rules, Json& definitions) {
    return {{"type", "object"}, {"additionalProperties", schema_of<T>(rules, definitions)}};
  }
};

template <class T>
struct SchemaOf<std::vector<std::pair<std::string, T>>> : SchemaOf<std::map<std::string, T>> {};

template <>
struct SchemaOf<Parameters> {
  static Json of(const Rules&, Json&) {
    return {{"type", "object"},
            {"minProperties", 1},
            {"additionalProperties", {{"type", {"string", "integer"}}}}};
  }
};

/// The schema of a kind of file: `schema`, `version` and `digest`, then the members of File.
template <class File>
Json file_schema(std::string_view schema, int version, Json& definitions) {
  Json file = struct_schema<File>(definitions);
  Json required = {"schema", "version", "digest"};
  for (const Json& name : file["required"]) required.push_back(name);
  Json properties = {
      {"schema", {{"const", schema}}},
      {"version", {{"const", version}}},
      {"digest",
       {{"type", "string"},
        {"pattern", "^sha256:[0-9a-f]{64}$"},
        {"description", "SHA-256 of every byte of the text behind its first line"}}}};
  properties.update(file["properties"]);
  return {{"type", "object"},
          {"required", std::move(required)},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

/// JSON on one line, with `lines` a member a line; so are always those of `properties` and `$defs`.
void append(std::string& text, const Json& value, std::size_t depth, bool lines) {
  if (!value.is_object()) {
    text += value.dump();
    return;
  }
  const std::string indent = lines ? '\n' + std::string(depth + 1, ' ') : "";
  const char* separator = "{";
  for (const auto& [name, member] : value.items()) {
    text += separator + indent + Json(name).dump() + ": ";
    append(text, member, depth + (lines ? 1 : 0), name == "properties" || name == "$defs");
    separator = lines ? "," : ", ";
  }
  if (lines) text += '\n' + std::string(depth, ' ');
  text += '}';
}

Json result_schema() {
  Json definitions = Json::object();
  Json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", fmt::format("{}-{}", result_schema_name, result_schema_version)},
      {"title", fmt::format("Amasia result file, version {}", result_schema_version)},
      {"description",
       "One run of the suite: provenance, the ceilings measured in it and every comparison group "
       "with every sample. Written by `amasia schema` from harness/results/fields.hpp. A member "
       "that is not required is absent where it is unknown, empty, 0 or false. A profile is the "
       "definition profile_file."}};
  schema.update(file_schema<ResultFile>(result_schema_name, result_schema_version, definitions));
  definitions[Fields<ProfileFile>::name] =
      file_schema<ProfileFile>(profile_schema_name, profile_schema_version, definitions);
  schema["$defs"] = std::move(definitions);
  return schema;
}

}  // namespace

std::string result_schema_text() {
  std::string text;
  append(text, result_schema(), 0, true);
  return text + '\n';
}

}  // namespace amasia
