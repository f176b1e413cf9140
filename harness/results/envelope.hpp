// The text of a file of results or of a profile: its first line says what it is, with a digest over
// every byte behind that line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/text/json_file.hpp"

namespace amasia {

/// "sha256:" and 64 hexadecimal digits.
std::string digest_of(std::string_view bytes);

/// `members` on a line each, of long lists every item; `schema`, `version` and the digest in front.
std::string sealed(std::string_view schema, int version, const Json& members);

/// All of a document that sealed() made. Throws ResultError: "path:line:column: what" in the
/// syntax, "path: what" for another schema or version, and where a byte differs from what was
/// written.
Json unsealed(const std::string& text, const std::string& path, std::string_view schema,
              int version);

/// Throws ResultError unless the document is of this schema and version.
void check_kind(const Json& document, std::string_view schema, int version);

/// One line of a journal, with a digest over what is in front of it.
std::string sealed_line(const Json& members);
bool is_whole_line(std::string_view line);

/// Text of a file, unpacked where it is a gzip file. Throws ResultError "path: what".
std::string read_packed_file(const std::string& path);
/// The first lines of it.
std::string read_first_lines(const std::string& path, std::size_t lines);
/// As write_text_file(); packed where the name ends in .gz.
void write_packed_file(const std::string& path, const std::string& text);

// gzip files in memory (RFC 1952), by zlib.

/// Told by its first two bytes.
bool is_gzip(std::string_view bytes);

/// One member without name and time: the same text gives the same bytes.
std::string gzip(std::string_view text);

/// The text of one member. Throws ResultError for what is damaged or ends early, for bytes behind
/// it, and as soon as there are more than `most_bytes` of text. With `lines`: what is behind so
/// many of them is neither unpacked nor checked.
std::string gunzip(std::string_view bytes, std::size_t most_bytes, std::size_t lines = 0);

}  // namespace amasia
