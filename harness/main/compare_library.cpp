#include "harness/main/compare_library.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/implementations/compare.hpp"
#include "harness/session/session.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t text_size = 1024;

/// One call back; true where it was done, false where it found something wrong, which is in `text`.
bool called(amasia_callback callback, int what, Stream stream, std::array<char, text_size>& text) {
  switch (callback(what, stream, text.data(), text.size())) {
    case AMASIA_DONE:
      return true;
    case AMASIA_WRONG:
      text.back() = '\0';
      return false;
    default:
      throw ImplementationFailed("the caller ended it");
  }
}

Implementations implementations_of(const Json& request, amasia_callback callback) {
  Implementations c;
  const auto call = [callback](int what, Stream stream) {
    std::array<char, text_size> text{};
    called(callback, what, stream, text);
  };
  c.name = request.at("name").get<std::string>();
  c.names = request.at("names").get<std::vector<std::string>>();
  c.enqueue = [call](std::size_t i, Stream stream) { call(static_cast<int>(i), stream); };
  if (request.at("reset").get<bool>()) {
    c.reset = [call](Stream stream) { call(AMASIA_RESET, stream); };
  }
  if (request.at("inputs").get<bool>()) {
    c.inputs = [callback](Stream stream, std::uint64_t seed) {
      if (callback(AMASIA_INPUTS, stream, nullptr, seed) != AMASIA_DONE) {
        throw ImplementationFailed("the caller ended it");
      }
    };
  }
  if (request.at("verify").get<bool>()) {
    c.verify = [callback]() -> std::string {
      std::array<char, text_size> text{};
      if (called(callback, AMASIA_VERIFY, nullptr, text)) return "";
      return text.front() == '\0' ? "wrong" : text.data();
    };
  }
  if (request.at("progress").get<bool>()) {
    c.progress = [callback](const std::string& line) {
      std::array<char, text_size> text{};
      line.copy(text.data(), text.size() - 1);
      called(callback, AMASIA_PROGRESS, nullptr, text);
    };
  }
  if (const Json& stream = request.at("stream"); !stream.is_null()) {
    // A handle travels through JSON as a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    c.stream = reinterpret_cast<Stream>(stream.get<std::uintptr_t>());
  }
  c.size.clear();
  for (const auto& [name, value] : request.at("size").items()) {
    c.size.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (const Json& work = request.at("work"); !work.is_null()) {
    c.work.emplace();
    c.work->operations = work.at("operations").get<double>();
    c.work->bytes_read = work.at("bytes_read").get<double>();
    c.work->bytes_written = work.at("bytes_written").get<double>();
  }
  c.cache = from_word<CacheMode>(request.at("cache").get<std::string>());
  c.effort.min_rounds = request.at("min_rounds").get<int>();
  c.effort.max_rounds = request.at("max_rounds").get<int>();
  c.effort.seconds = request.at("seconds").get<double>();
  c.effort.precision = request.at("precision").get<double>();
  c.effort.confidence = request.at("confidence").get<double>();
  c.device = request.at("device").get<int>();
  c.argv = request.at("argv").get<std::vector<std::string>>();
  return c;
}

Json compared(const Implementations& implementations) {
  const ResultFile file = compare_implementations(implementations);
  Json answers = Json::array();
  for (const Comparison& c : file.groups.front().comparisons) {
    answers.push_back(answer(c, implementations.names.front()));
  }
  return {{"result", to_text(file)}, {"answers", std::move(answers)}};
}

Json error(const char* kind, const std::exception& e) {
  return {{"error", kind}, {"message", e.what()}};
}

Json answer_to(const char* request, amasia_callback callback) {
  try {
    return compared(implementations_of(Json::parse(request), callback));
  } catch (const ImplementationFailed& e) {
    return error("stopped", e);
  } catch (const UsageError& e) {
    return error("usage", e);
  } catch (const NoDevice& e) {
    return error("no device", e);
  } catch (const std::exception& e) {
    return error("failed", e);
  }
}

}  // namespace
}  // namespace amasia

const char* amasia_compare_version() { return AMASIA_VERSION; }

char* amasia_compare(const char* request, amasia_callback callback) {
  std::string text;
  try {
    // A message may quote what is no UTF-8.
    text = amasia::answer_to(request, callback)
               .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  } catch (const std::exception&) {
    return nullptr;
  }
  auto* answer = static_cast<char*>(std::malloc(text.size() + 1));
  if (answer != nullptr) std::memcpy(answer, text.c_str(), text.size() + 1);
  return answer;
}

void amasia_compare_free(char* answer) { std::free(answer); }
