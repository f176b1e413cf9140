#include "inputs/formats/sequences.hpp"

#include <cctype>
#include <optional>

#include "inputs/formats/text_reader.hpp"

namespace amasia::formats {

std::vector<signed char> read_sequence_file(const std::string& path, std::string_view alphabet,
                                            std::int64_t count) {
  TextReader file(path, "of letters");
  std::vector<signed char> sequence;  // grows with the file, so that a short one costs no memory
  while (const std::optional<unsigned char> byte = file.byte()) {
    if (*byte == '\n' || *byte == '\r') continue;
    const std::size_t letter = alphabet.find(static_cast<char>(std::toupper(*byte)));
    if (letter == std::string_view::npos) {
      const std::string shown = *byte > ' ' && *byte <= '~'
                                    ? std::string("'") + static_cast<char>(*byte) + "'"
                                    : "byte " + std::to_string(*byte);
      file.fail("expected a letter of " + std::string(alphabet) + ", found " + shown);
    }
    if (static_cast<std::int64_t>(sequence.size()) == count) {
      file.fail("expected the end of the file after " + std::to_string(count) + " letters");
    }
    sequence.push_back(static_cast<signed char>(letter));
  }
  if (static_cast<std::int64_t>(sequence.size()) < count) {
    file.fail("expected " + std::to_string(count) + " letters, the file ends after " +
              std::to_string(sequence.size()));
  }
  return sequence;
}

}  // namespace amasia::formats
