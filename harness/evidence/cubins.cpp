#include "harness/evidence/cubins.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/evidence/ptx.hpp"
#include "harness/text/file.hpp"

namespace amasia {
namespace {

/// What lies at `offset`, unless that is beyond the end.
template <class T>
std::optional<T> value_at(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Cubin {
  struct Section {
    std::string_view name;
    std::string_view content;  // empty for one without bytes in the file
  };
  int architecture = 0;  // 90 for sm_90 and sm_90a
  std::size_t end = 0;   // of the file, in what was read
  std::vector<Section> sections{};
};

/// Whether an ELF file for CUDA begins here.
bool begins_cubin(std::string_view bytes) {
  constexpr unsigned cuda_machine = 190;  // EM_CUDA
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  return header && header->e_machine == cuda_machine;
}

/// The cubin at the beginning of `bytes`; nothing for one that is damaged or cut. Never reads
/// beyond `bytes`.
std::optional<Cubin> read_cubin(std::string_view bytes) {
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > bytes.size() ||
      header->e_shstrndx >= header->e_shnum) {
    return std::nullopt;
  }
  Cubin cubin;
  // The capability stands in the lowest byte of the flags, in newer files in the next one.
  constexpr unsigned oldest = 50;
  const unsigned low = header->e_flags & 0xff, next = header->e_flags >> 8 & 0xff;
  cubin.architecture = static_cast<int>(low >= oldest ? low : next);
  std::vector<Elf64_Shdr> headers;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto section = value_at<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    const bool has_bytes = section->sh_type != SHT_NOBITS;
    if (has_bytes && (section->sh_offset > bytes.size() ||
                      bytes.size() - section->sh_offset < section->sh_size)) {
      return std::nullopt;
    }
    headers.push_back(*section);
  }
  const auto content_of = [bytes](const Elf64_Shdr& s) {
    return s.sh_type == SHT_NOBITS ? std::string_view() : bytes.substr(s.sh_offset, s.sh_size);
  };
  const std::string_view names = content_of(headers[header->e_shstrndx]);
  for (const Elf64_Shdr& s : headers) {
    if (s.sh_name >= names.size()) return std::nullopt;
    const std::string_view rest = names.substr(s.sh_name);
    cubin.sections.push_back({rest.substr(0, rest.find('\0')), content_of(s)});
  }
  cubin.end =
      std::max<std::size_t>(header->e_shoff + std::size_t{header->e_shnum} * sizeof(Elf64_Shdr),
                            header->e_phoff + std::size_t{header->e_phnum} * header->e_phentsize);
  if (cubin.end > bytes.size()) return std::nullopt;
  return cubin;
}

constexpr std::size_t most_names_listed = 8;

// Records of .nv.info.<kernel>, as `cuobjdump -elf` names them.
constexpr unsigned info_parameter = 0x17;
constexpr unsigned format_with_size = 0x04;  // a record whose value has its length before it

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
    }
  }
  for (const auto& [ordinal, size] : parameters) kernel.parameters.push_back(size);
}

CodeFile code_of_cubin(std::string_view bytes) {
  const auto cubin = read_cubin(bytes);
  if (value_at<Elf64_Ehdr>(bytes, 0) && !begins_cubin(bytes)) {
    throw UsageError(
        "is an ELF file, but no cubin: nvcc -cubin makes one, and a shared library "
        "goes under `library`");
  }
  if (!cubin) throw UsageError("is a cubin that is damaged or cut: compile it again");
  CodeFile file;
  file.architecture = cubin->architecture;
  constexpr std::string_view code = ".text.", info = ".nv.info.";
  for (const Cubin::Section& s : cubin->sections) {
    if (s.name.substr(0, code.size()) != code) continue;
    KernelSignature kernel;
    kernel.name = s.name.substr(code.size());
    bool is_kernel = false;  // a device function that was not inlined has code and no parameters
    for (const Cubin::Section& other : cubin->sections) {
      if (other.name.substr(0, info.size()) == info &&
          other.name.substr(info.size()) == kernel.name) {
        read_info(other.content, kernel);
        is_kernel = true;
      }
    }
    if (is_kernel) file.kernels.push_back(std::move(kernel));
  }
  return file;
}

CodeFile code_of_ptx(std::string_view text) {
  ptx::Module module = ptx::parse(text);
  CodeFile file;
  file.kind = CodeFile::Kind::ptx;
  file.architecture = module.target;
  for (ptx::Function& f : module.functions) {
    if (!f.entry) continue;
    file.kernels.push_back({std::move(f.name), std::move(f.parameters)});
  }
  return file;
}

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

/// The name as it stands in the source: "_Z5twiceIfEvPT_" -> "void twice<float>(float*)".
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

}  // namespace

Cubins::Cubins(const std::string& executable, int architecture) : text_(bytes_of_file(executable)) {
  constexpr std::string_view magic(
      "\x7f"
      "ELF\x02\x01",
      6);  // 64 bits, little-endian
  constexpr std::string_view code = ".text.";
  const std::string_view all = text_;
  for (std::size_t i = all.find(magic); i != std::string_view::npos;) {
    std::size_t next = i + magic.size();
    const auto cubin = begins_cubin(all.substr(i)) ? read_cubin(all.substr(i)) : std::nullopt;
    if (cubin) next = i + cubin->end;
    if (cubin && cubin->architecture == architecture) {
      for (const Cubin::Section& section : cubin->sections) {
        if (section.name.substr(0, code.size()) == code) {
          kernels_.emplace(section.name.substr(code.size()), modules_.size());
        }
      }
      modules_.push_back({i, cubin->end});
    }
    i = all.find(magic, next);
  }
}

std::vector<std::size_t> Cubins::of(const std::string& kernel) const {
  std::vector<std::size_t> modules;
  const auto [first, last] = kernels_.equal_range(kernel);
  for (auto it = first; it != last; ++it) modules.push_back(it->second);
  return modules;
}

std::vector<std::size_t> Cubins::with_any_of(const std::vector<std::string>& words) const {
  std::set<std::size_t> modules;
  for (const auto& [kernel, module] : kernels_) {
    if (modules.contains(module)) continue;
    const auto in_name = [&name = kernel](const std::string& word) {
      return name.find(word) != std::string::npos;
    };
    if (std::ranges::any_of(words, in_name)) modules.insert(module);
  }
  return {modules.begin(), modules.end()};
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
  if (bytes.substr(0, SELFMAG) == ELFMAG) return code_of_cubin(bytes);
  // Text begins with .version, after comments; nothing that is no text gets so far.
  const std::string start = ptx::without_comments(bytes.substr(0, 65536));
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && start.compare(first, 8, ".version") == 0) {
    return code_of_ptx(bytes);
  }
  throw UsageError("is neither a cubin nor PTX (nvcc -cubin -arch=sm_90, nvcc -ptx)");
}

}  // namespace amasia
