#include "harness/evidence/kernel_signature.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace amasia {
namespace {

constexpr std::size_t most_names_listed = 8;

// --- cubin ------------------------------------------------------------------------------------

constexpr unsigned elf_machine_cuda = 190;  // EM_CUDA
// Records of .nv.info.<kernel>, as `cuobjdump -elf` names them.
constexpr unsigned info_max_threads = 0x05, info_required_block = 0x10, info_parameter = 0x17;
constexpr unsigned format_with_size = 0x04;  // a record whose value has its length before it
// Of each block; from sm_90 on the section has it, too.
constexpr std::size_t reserved_shared_bytes = 1024;

template <class T>
std::optional<T> value_at(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

[[noreturn]] void refuse_damaged() {
  throw UsageError("is a cubin that is damaged or cut: compile it again");
}

struct Section {
  std::string_view name;
  std::string_view content;  // empty for one without bytes in the file
  std::size_t size = 0;
};

std::vector<Section> sections_of_cubin(std::string_view bytes, const Elf64_Ehdr& header) {
  const auto section_at = [&](std::size_t i) {
    const auto section = value_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) refuse_damaged();
    return *section;
  };
  const auto content_of = [&](const Elf64_Shdr& s) -> std::string_view {
    if (s.sh_type == SHT_NOBITS) return {};
    if (s.sh_offset > bytes.size() || bytes.size() - s.sh_offset < s.sh_size) refuse_damaged();
    return bytes.substr(s.sh_offset, s.sh_size);
  };
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum ||
      header.e_shoff > bytes.size()) {
    refuse_damaged();
  }
  const std::string_view names = content_of(section_at(header.e_shstrndx));
  std::vector<Section> sections;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = section_at(i);
    if (s.sh_name >= names.size()) refuse_damaged();
    const std::string_view rest = names.substr(s.sh_name);
    sections.push_back({rest.substr(0, rest.find('\0')), content_of(s), s.sh_size});
  }
  return sections;
}

void read_info(std::string_view info, KernelSignature& kernel) {
  std::map<unsigned, std::size_t> parameters;  // by ordinal
  for (std::size_t at = 0; at + 4 <= info.size();) {
    const auto format = static_cast<unsigned char>(info[at]);
    const auto attribute = static_cast<unsigned char>(info[at + 1]);
    const std::size_t size = *value_at<std::uint16_t>(info, at + 2);
    at += 4;
    if (format != format_with_size) continue;  // its value is in the two bytes just read
    const std::string_view value = info.substr(at, std::min(size, info.size() - at));
    at += size;
    const auto word = [&](std::size_t i) { return value_at<std::uint32_t>(value, 4 * i); };
    if (attribute == info_parameter && value.size() >= 12) {
      // Index, ordinal and offset, flags with the size from bit 18 on.
      parameters[*word(1) & 0xffff] = *word(2) >> 18;
    } else if (attribute == info_max_threads && value.size() >= 12) {
      kernel.most_threads = std::uint64_t{*word(0)} * *word(1) * *word(2);
    } else if (attribute == info_required_block && value.size() >= 12) {
      kernel.exact_block = {*word(0), *word(1), *word(2)};
    }
  }
  for (const auto& [ordinal, size] : parameters) kernel.parameters.push_back(size);
}

CodeFile read_cubin(std::string_view bytes) {
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  if (!header) refuse_damaged();
  if (header->e_machine != elf_machine_cuda) {
    throw UsageError(
        "is an ELF file, but no cubin: nvcc -cubin makes one, and a shared library "
        "goes under `library`");
  }
  CodeFile file;
  // The capability stands in the lowest byte of the flags, in newer files in the next one.
  constexpr unsigned oldest = 50;
  const unsigned low = header->e_flags & 0xff, next = header->e_flags >> 8 & 0xff;
  file.architecture = static_cast<int>(low >= oldest ? low : next);
  const std::vector<Section> sections = sections_of_cubin(bytes, *header);
  constexpr std::string_view code = ".text.", info = ".nv.info.", shared = ".nv.shared.";
  for (const Section& s : sections) {
    if (s.name.substr(0, code.size()) != code) continue;
    KernelSignature kernel;
    kernel.name = s.name.substr(code.size());
    bool is_kernel = false;  // a device function that was not inlined has code and no parameters
    for (const Section& other : sections) {
      if (other.name.substr(0, info.size()) == info &&
          other.name.substr(info.size()) == kernel.name) {
        read_info(other.content, kernel);
        is_kernel = true;
      }
      if (other.name.substr(0, shared.size()) == shared &&
          other.name.substr(shared.size()) == kernel.name) {
        kernel.static_shared_bytes =
            other.size -
            (file.architecture >= 90 ? std::min(other.size, reserved_shared_bytes) : 0);
      }
    }
    if (is_kernel) file.kernels.push_back(std::move(kernel));
  }
  return file;
}

// --- PTX --------------------------------------------------------------------------------------

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// The text without comments, each a blank, and without what strings hold.
std::string uncommented(std::string_view text) {
  std::string out;
  bool in_string = false;  // which ends with its line
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"' || text[i] == '\n') {
      in_string = text[i] == '"' && !in_string;
      out += text[i++];
      continue;
    }
    if (in_string) {
      ++i;
      continue;
    }
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      out += text[i++];
      continue;
    }
    out += ' ';
  }
  return out;
}

/// Words and single characters of punctuation.
class PtxWords {
 public:
  explicit PtxWords(std::string_view text) : text_(text) {}
  std::string_view next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const std::size_t begin = at_;
    const auto in_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
             std::string_view("._$%").find(c) != std::string_view::npos;
    };
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    if (at_ == begin && at_ < text_.size()) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// Behind the brace that closes the one just read.
  void skip_body() {
    for (int depth = 1; depth > 0 && at_ < text_.size(); ++at_) {
      if (text_[at_] == '{') ++depth;
      if (text_[at_] == '}') --depth;
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint64_t number_in(std::string_view word) {
  std::uint64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

/// ".f32" -> 4: the digits behind the letter are bits. 0 for what is no type.
std::size_t bytes_of_type(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' ||
      std::string_view("bsuf").find(word[1]) == std::string_view::npos) {
    return 0;
  }
  return number_in(word.substr(2)) / 8;
}

/// `.param .align 8 .b8 name[48], ...)`, behind the opening parenthesis.
void read_parameters(PtxWords& words, KernelSignature& kernel) {
  std::size_t each = 0;
  std::uint64_t count = 1;
  bool any = false;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == ".param") any = true;
    if (word == ".align") {
      words.next();
    } else if (word == "[") {
      count = number_in(words.next());
    } else if (word == "," || word == ")") {
      if (any) kernel.parameters.push_back(each * count);
      each = 0;
      count = 1;
      any = false;
      if (word == ")") return;
    } else if (const std::size_t bytes = bytes_of_type(word); bytes > 0 && each == 0) {
      each = bytes;
    }
  }
}

std::vector<std::uint64_t> read_dimensions(PtxWords& words, std::string_view& word) {
  std::vector<std::uint64_t> dimensions;
  for (word = words.next(); dimensions.size() < 3; word = words.next()) {
    if (word == ",") continue;
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) == 0) break;
    dimensions.push_back(number_in(word));
  }
  dimensions.resize(3, 1);
  return dimensions;
}

CodeFile read_ptx(std::string_view text) {
  CodeFile file;
  file.kind = CodeFile::Kind::ptx;
  const std::string code = uncommented(text);
  PtxWords words(code);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == ".target") {
      const std::string_view target = words.next();
      if (target.substr(0, 3) == "sm_") {
        file.architecture =
            static_cast<int>(std::min<std::uint64_t>(number_in(target.substr(3)), 9999));
      }
    } else if (word == "{") {
      words.skip_body();
    } else if (word == ".entry") {
      KernelSignature kernel;
      kernel.name = words.next();
      for (word = words.next(); !word.empty() && word != "{" && word != ";";) {
        if (word == "(") read_parameters(words, kernel);
        if (word == ".maxntid") {
          const auto most = read_dimensions(words, word);
          kernel.most_threads = most[0] * most[1] * most[2];
        } else if (word == ".reqntid") {
          kernel.exact_block = read_dimensions(words, word);
        } else if (word == ".pragma") {  // ends with a semicolon, as a declaration does
          while (!word.empty() && word != ";") word = words.next();
          word = words.next();
        } else {
          word = words.next();
        }
      }
      if (word == "{") words.skip_body();
      if (word != ";") file.kernels.push_back(std::move(kernel));
    }
  }
  return file;
}

// --- names ------------------------------------------------------------------------------------

/// "void lib::twice<float>(float*)" -> "lib::twice<float>".
std::string without_signature(const std::string& name) {
  std::size_t begin = 0, end = name.size();
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth > 0) continue;
    if (name[i] == '(' && name.compare(i, 11, "(anonymous ") != 0) {
      end = i;
      break;
    }
    // What stands before a blank outside of brackets is the type that a template returns.
    if (name[i] == ' ' && (i < 10 || name.compare(i - 10, 10, "(anonymous") != 0)) begin = i + 1;
  }
  return name.substr(begin, end - begin);
}

std::string without_arguments(const std::string& name) { return name.substr(0, name.find('<')); }

std::string last_part(const std::string& name) {
  const std::size_t colon = without_arguments(name).rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

const KernelSignature* CodeFile::find(std::string_view name, std::string& reason) const {
  std::vector<const KernelSignature*> meant;
  for (const KernelSignature& k : kernels) {
    if (k.name == name) return &k;
    const std::string full = without_signature(demangled(k.name));
    for (const std::string& spelt :
         {full, without_arguments(full), last_part(full), without_arguments(last_part(full))}) {
      if (spelt == name) {
        meant.push_back(&k);
        break;
      }
    }
  }
  if (meant.size() == 1) return meant.front();
  const auto list = [](const auto& all) {
    std::string names;
    for (std::size_t i = 0; i < all.size() && i < most_names_listed; ++i) {
      names += (i == 0 ? "" : ", ") + all[i];
    }
    if (all.size() > most_names_listed) {
      names += fmt::format(" and {} more", all.size() - most_names_listed);
    }
    return names;
  };
  std::vector<std::string> names;
  if (meant.empty()) {
    for (const KernelSignature& k : kernels) names.push_back(without_signature(demangled(k.name)));
    reason = names.empty() ? "there is no kernel in it" : "there are " + list(names);
  } else {
    for (const KernelSignature* k : meant) names.push_back(k->name);
    reason = "it may be " + list(names) + ": give one of these";
  }
  return nullptr;
}

CodeFile read_code_file(std::string_view bytes) {
  if (bytes.substr(0, SELFMAG) == ELFMAG) return read_cubin(bytes);
  // Text begins with .version, after comments; nothing that is no text gets so far.
  const std::string start = uncommented(bytes.substr(0, 65536));
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && start.compare(first, 8, ".version") == 0) {
    return read_ptx(bytes);
  }
  throw UsageError("is neither a cubin nor PTX (nvcc -cubin -arch=sm_90, nvcc -ptx)");
}

}  // namespace amasia
