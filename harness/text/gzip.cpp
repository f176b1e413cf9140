#include "harness/text/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace amasia {
namespace {

constexpr int gzip_window = 15 + 16;  // the largest, in a gzip envelope

Bytef* input_of(std::string_view bytes) {  // zlib does not write to it
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
}

}  // namespace

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
    enough =
        lines > 0 && static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= lines;
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
