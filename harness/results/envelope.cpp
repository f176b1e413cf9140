#include "harness/results/envelope.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>
#include <nettle/sha2.h>
#include <nlohmann/json.hpp>

#include "harness/results/codec.hpp"

namespace amasia {
namespace {

constexpr std::size_t most_text = std::size_t{1} << 30;

/// A list of these gets a line for each item.
bool has_lines(std::string_view name, const Json& value) {
  for (const char* const list : {"kernels", "groups", "microbenchmarks", "rows", "comparisons"}) {
    if (name == list) return value.is_array() && !value.empty();
  }
  return false;
}

void append_members(std::string& text, const Json& object, std::string_view separator);

void append_value(std::string& text, std::string_view name, const Json& value) {
  if (!has_lines(name, value)) {
    text += compact(value);
    return;
  }
  const char* before = "[\n";
  for (const Json& item : value) {
    text += before;
    before = ",\n";
    if (item.is_object()) {
      text += '{';
      append_members(text, item, ",");
      text += '}';
    } else {
      text += compact(item);
    }
  }
  text += ']';
}

void append_members(std::string& text, const Json& object, std::string_view separator) {
  std::string_view before;
  for (const auto& [name, value] : object.items()) {
    text += before;
    before = separator;
    text += compact(name) + ':';
    append_value(text, name, value);
  }
}

void check_digest(const std::string& stored, std::string_view text) {
  const std::string digest = digest_of(text.substr(std::min(text.find('\n'), text.size() - 1) + 1));
  if (stored == digest) return;
  throw ResultError("digest: expected " + digest + ", as the bytes have it, found " +
                    stored.substr(0, 80) +
                    ": the file was changed or damaged after it was written; get it from where "
                    "it came from again, or measure again");
}

/// A line of a journal, up to its last brace, with the digest behind it.
std::string with_digest(std::string_view members) {
  return fmt::format(R"({},"digest":"{}"}})", members, digest_of(members));
}

constexpr int gzip_window = 15 + 16;  // the largest, in a gzip envelope

Bytef* input_of(std::string_view bytes) {  // zlib does not write to it
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  sha256_ctx state;
  sha256_init(&state);
  sha256_update(&state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_digest(&state, sizeof digest, digest);
  std::string text = "sha256:";
  for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sealed(std::string_view schema, int version, const Json& members) {
  std::string rest;
  append_members(rest, members, ",\n");
  rest += "\n}\n";
  return fmt::format("{{\"schema\":\"{}\",\"version\":{},\"digest\":\"{}\",\n", schema, version,
                     digest_of(rest)) +
         rest;
}

void check_kind(const Json& document, std::string_view schema, int version) {
  const At at(document);
  const At name = at.member("schema");
  if (name.text() != schema) name.expected(fmt::format("\"{}\"", schema));
  const auto found = static_cast<std::int64_t>(at.member("version").integer(INT64_MIN, INT64_MAX));
  if (found > version) {
    throw ResultError(fmt::format(
        "version: {} is newer than this program, which reads {}: read the file with the version "
        "of Amasia that wrote it, or a later one",
        found, version));
  }
  if (found < 1) at.member("version").expected(std::to_string(version));
  if (found < version) {
    throw ResultError(
        fmt::format("is a {} file of format {}, which Amasia 0.1.0 reads (commit 8a85fa0f); this "
                    "program reads {}",
                    schema.substr(schema.find('-') + 1), found, version));
  }
}

Json unsealed(const std::string& text, const std::string& path, std::string_view schema,
              int version) {
  Json document = parse_json(text, path);
  naming(path, [&] {
    check_kind(document, schema, version);
    check_digest(At(document).member("digest").text(), text);
  });
  return document;
}

std::string sealed_line(const Json& members) {
  std::string text = compact(members);
  text.pop_back();
  return with_digest(text) + '\n';
}

bool is_whole_line(std::string_view line) {
  return with_digest(line.substr(0, line.rfind(R"(,"digest":")"))) == line;
}

std::string read_packed_file(const std::string& path) {
  std::string bytes = read_text_file(path);
  return is_gzip(bytes) ? naming(path, [&] { return gunzip(bytes, most_text); }) : bytes;
}

std::string read_first_lines(const std::string& path, std::size_t lines) {
  const std::string bytes = read_text_file(path);
  const std::string text =
      is_gzip(bytes) ? naming(path, [&] { return gunzip(bytes, most_text, lines); }) : bytes;
  std::size_t end = 0;
  for (std::size_t line = 0; line < lines && end != std::string::npos; ++line) {
    end = text.find('\n', end);
    if (end != std::string::npos) ++end;
  }
  return text.substr(0, end);
}

void write_packed_file(const std::string& path, const std::string& text) {
  write_text_file(path, path.ends_with(".gz") ? gzip(text) : text);
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int memory_level = 8;  // zlib's default
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib cannot begin to compress");
  }
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = input_of(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int status = deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("zlib cannot compress");
  return bytes;
}

std::string gunzip(std::string_view bytes, std::size_t most_bytes, std::size_t lines) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) {
    throw std::runtime_error("zlib cannot begin to decompress");
  }
  stream.next_in = input_of(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text, wrong;
  char buffer[1 << 16];
  int status = Z_OK;
  bool enough = false;
  while (status == Z_OK && wrong.empty() && !enough) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer, sizeof buffer - stream.avail_out);
    if (text.size() > most_bytes) {
      wrong = fmt::format("unpacks to more than {} MiB", most_bytes >> 20);
    }
    enough = lines > 0 && static_cast<std::size_t>(std::ranges::count(text, '\n')) >= lines;
  }
  if (wrong.empty() && !enough) {
    if (status == Z_BUF_ERROR) {
      wrong = "ends in the middle of its gzip data";
    } else if (status != Z_STREAM_END) {
      wrong = fmt::format("is no whole gzip file ({})",
                          stream.msg != nullptr ? stream.msg : "no gzip data");
    } else if (stream.avail_in > 0) {
      wrong = "has more data after its gzip stream";
    }
  }
  inflateEnd(&stream);
  if (!wrong.empty()) throw ResultError(wrong);
  return text;
}

}  // namespace amasia
