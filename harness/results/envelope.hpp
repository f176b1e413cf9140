// The text of a file of results or of a profile: its first line says what it is, with a digest over
// every byte behind that line.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace amasia {

/// "sha256:" and 64 hexadecimal digits.
std::string digest_of(std::string_view bytes);

/// `members` on a line each, of long lists every item; `schema`, `version` and the digest in front.
std::string sealed(std::string_view schema, int version, const nlohmann::ordered_json& members);

/// All of a document that sealed() made. Throws ResultError: "path:line:column: what" in the
/// syntax, "path: what" for another schema or version, and where a byte differs from what was
/// written.
nlohmann::ordered_json unsealed(const std::string& text, const std::string& path,
                                std::string_view schema, int version);

/// Throws ResultError unless the document is of this schema and version.
void check_kind(const nlohmann::ordered_json& document, std::string_view schema, int version);

/// One line of a journal, with a digest over what is in front of it.
std::string sealed_line(const nlohmann::ordered_json& members);
bool is_whole_line(std::string_view line);

/// Text of a file, unpacked where it is a gzip file. Throws ResultError "path: what".
std::string read_packed_file(const std::string& path);
/// The first lines of it.
std::string read_first_lines(const std::string& path, std::size_t lines);
/// As write_text_file(); packed where the name ends in .gz.
void write_packed_file(const std::string& path, const std::string& text);

}  // namespace amasia
