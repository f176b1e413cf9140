// Whether a result file is what was written: a digest over its content, not over its text, so that
// a file may be indented anew or passed through another program that keeps every value.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace amasia {

/// Where it stands in the file.
inline constexpr const char* digest_member = "digest";

/// "sha256:" and 64 hexadecimal digits, over every member of the document but `digest_member`:
/// names, values and their order. Each value goes into the hash with its kind and length, numbers
/// exactly: a whole number as its digits (1.0 is 1), any other as the bits of its double.
/// plots/data/content_digest.py does the same.
std::string content_digest(const nlohmann::ordered_json& document);

/// The document with its digest as the last member. Text that is no UTF-8 must not be in it.
nlohmann::ordered_json with_digest(nlohmann::ordered_json document);

}  // namespace amasia
