// Results to JSON (result.hpp says how).
#include <charconv>
#include <stdexcept>

#include "harness/results/content_digest.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/result.hpp"
#include "harness/results/written.hpp"

namespace amasia {

using Json = nlohmann::ordered_json;

std::string GroupKey::to_string() const {
  return app + ' ' + size.to_string() + ' ' + std::string(word_of(cache)) + ' ' +
         std::string(word_of(launch));
}

Json written(const Parameters& value, const Rules&, const Place&) {
  Json object = Json::object();
  for (const auto& [name, text] : value.values()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // "007" and "-0" stay text: a number would not read back as the same characters.
    const bool integer =
        error == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text;
    object[name] = integer ? Json(number) : Json(text);
  }
  return object;
}

Json to_json(const Parameters& parameters) { return written(parameters, any_value, Place()); }
Json to_json(const GroupKey& key) { return written(key, any_value, Place()); }
Json to_json(const Ceiling& ceiling) { return written(ceiling, any_value, Place()); }
Json to_json(const Provenance& provenance) { return written(provenance, any_value, Place()); }
Json to_json(const GroupResult& group) { return written(group, any_value, Place()); }
Json to_json(const MicrobenchmarkResult& result) { return written(result, any_value, Place()); }

Json to_json(const ResultFile& file) {
  if (file.provenance.digests != DigestKind::by_content) {
    throw std::logic_error("digests of version 1 in a newer file: upgrade() comes first");
  }
  Json json = {{"schema", "amasia-result"}, {"version", result_schema_version}};
  json.update(written(file, any_value, Place()));
  // What is no UTF-8 becomes U+FFFD when it is written, and the digest is over what can be read.
  return with_digest(parse_json(dump_json(json), "the result"));
}

void write_result_file(const std::string& path, const ResultFile& file) {
  write_text_file(path, dump_json(to_json(file)));
}

}  // namespace amasia
