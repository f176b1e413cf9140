#include "harness/results/content_digest.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nettle/sha2.h>

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

class Hash {
 public:
  Hash() { sha256_init(&state_); }

  void add(std::string_view text) {
    sha256_update(&state_, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  }

  void add_text(const std::string& text) {
    add(fmt::format("s{}:", text.size()));
    add(text);
  }

  void add_number(double value) {
    // Up to here every whole number is a double of its own, and one spelling is as good as another.
    constexpr double most = 9007199254740992.0;  // 2^53
    if (std::abs(value) < most && value == std::floor(value)) {
      add(fmt::format("i{};", static_cast<std::int64_t>(value)));
    } else {
      add(fmt::format("d{:016x};", std::bit_cast<std::uint64_t>(value)));
    }
  }

  void add_value(const Json& value) {
    switch (value.type()) {
      case Json::value_t::object:
        add_members(value, "");
        break;
      case Json::value_t::array:
        add(fmt::format("a{}:", value.size()));
        for (const Json& item : value) add_value(item);
        break;
      case Json::value_t::string:
        add_text(value.get_ref<const std::string&>());
        break;
      case Json::value_t::boolean:
        add(value.get<bool>() ? "t" : "f");
        break;
      case Json::value_t::number_integer:
        add(fmt::format("i{};", value.get<std::int64_t>()));
        break;
      case Json::value_t::number_unsigned:
        add(fmt::format("i{};", value.get<std::uint64_t>()));
        break;
      case Json::value_t::number_float:
        add_number(value.get<double>());
        break;
      default:  // null; a parsed document has no other kind
        add("n");
    }
  }

  void add_members(const Json& object, std::string_view without) {
    add(fmt::format("o{}:", object.size() - (without.empty() ? 0 : object.count(without))));
    for (const auto& [name, item] : object.items()) {
      if (!without.empty() && name == without) continue;
      add_text(name);
      add_value(item);
    }
  }

  std::string hexadecimal() {
    std::uint8_t bytes[SHA256_DIGEST_SIZE];
    sha256_digest(&state_, sizeof bytes, bytes);
    std::string text;
    for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  sha256_ctx state_{};
};

}  // namespace

std::string content_digest(const Json& document) {
  Hash hash;
  hash.add_members(document, digest_member);
  return "sha256:" + hash.hexadecimal();
}

Json with_digest(Json document) {
  document.erase(digest_member);
  std::string digest = content_digest(document);
  document[digest_member] = std::move(digest);
  return document;
}

}  // namespace amasia
