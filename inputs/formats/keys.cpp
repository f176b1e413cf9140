#include "inputs/formats/keys.hpp"

#include <string_view>

#include "inputs/formats/text_reader.hpp"

namespace amasia::formats {
namespace {

constexpr std::string_view content = "of keys";

}  // namespace

std::vector<std::int32_t> read_byte_keys(const std::string& path, std::int64_t count) {
  TextReader file(path, content);
  const std::string expected = "expected " + std::to_string(count) + " bytes, as many as keys, ";
  std::vector<std::int32_t> keys;  // grows with the file, so that a short one costs no memory
  while (const std::optional<unsigned char> key = file.byte()) {
    if (static_cast<std::int64_t>(keys.size()) == count) {
      file.fail_file(expected + "the file has more");
    }
    keys.push_back(*key);
  }
  if (static_cast<std::int64_t>(keys.size()) < count) {
    file.fail_file(expected + "the file has " + std::to_string(keys.size()));
  }
  return keys;
}

std::vector<std::int32_t> read_text_keys(const std::string& path, std::int64_t count) {
  TextReader file(path, content);
  const Column column{count, std::to_string(count) + " keys", "one integer", "an integer"};
  return read_column<std::int32_t>(file, column, [&](std::string_view text, std::int64_t line) {
    const auto [key, error] = parse_number<std::int32_t>(text, LeadingPlus::refused);
    if (error == std::errc::result_out_of_range) {
      file.fail(line, "expected an integer of 32 bits, found " + in_quotes(text));
    }
    if (error != std::errc{}) file.fail(line, "expected one integer, found " + in_quotes(text));
    return key;
  });
}

}  // namespace amasia::formats
