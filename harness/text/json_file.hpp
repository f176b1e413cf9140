// JSON documents as text and as files.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "harness/errors.hpp"

namespace amasia {

/// Members in the order of the file.
using Json = nlohmann::ordered_json;

/// What `read` returns; a ResultError of it begins with the path.
template <class Read>
auto naming(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const ResultError& error) {
    throw ResultError(path + ": " + error.what());
  }
}

/// Throws ResultError for more than 64 levels of arrays and objects, which no file of the suite
/// has: what goes through a document calls itself for each.
void check_nesting(std::string_view text);
/// In one line. Bytes that are no UTF-8 become U+FFFD.
std::string compact(const Json& json);
/// `name` says where the text is from. Syntax errors are ResultError "name:line:column: what", and
/// so are too many levels.
Json parse_json(const std::string& text, const std::string& name);
/// All of a file of at most 256 MiB. A pipe is read to its end, and not waited for where nobody
/// writes. Throws ResultError.
std::string read_text_file(const std::string& path);
/// Any JSON document of at most 256 MiB, a hundred times what a result has: in memory it may take
/// 24 times its size. In UTF-8, with or without a byte-order mark. Throws ResultError.
Json read_json_file(const std::string& path);
/// Writes a new file beside it, fsyncs, renames: the file is the old one or the new one, never half
/// of it, also while others write to the same path. A link stays a link, its target is replaced; a
/// device or FIFO is written to, and a file with a mount on it is rewritten in place. Throws
/// ResultError.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace amasia
