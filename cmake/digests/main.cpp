// amasia_digests suite ROOT OPTIONS FOLDER
// amasia_digests app NAME ROOT MANIFESTS APP_FOLDER OPTIONS OUTPUT SOURCE...
//
// Digests that tell whether a recorded result was made by the code that is here. Each covers what
// can change what is timed, judged or bounded.
//
// A variant or comparator (an apps/<app>/*.cu that registers one) has:
//   (a) itself and what it includes.
//   (b) The .cu and .cpp files of the app's folder that register nothing, and what they include.
//   (c) The ceilings, which bound every row: microbench/ceilings, what it includes, and those that
//       the app's folder registers for itself.
//   (d) The flags that every kernel is compiled with: apps/<app>/options.cmake and OPTIONS.
// A microbenchmark (a microbench/<question>/*.cu that registers one) has:
//   (a) itself, what it includes, and the files of its folder that register nothing.
//   (b) The flags: microbench/<question>/options.cmake and OPTIONS.
// The harness: all of harness/ and inputs/, and what they include.
// An app outside the tree (amasia_add_app): as one inside, the same where the suite is installed.
// One more covers all its sources, for variants whose file has not their name.
//
// `suite` writes to FOLDER what harness/results/provenance.cpp includes, and three lists.
//   `source_manifest.txt`: which file is in which digest.
//   `ceiling_manifest.txt`: "hash path", a line for each file of the ceilings' part.
//   `ground_manifest.txt`: "hash path included-path...", for each .cpp of variants/ and inputs/.
// `app` reads the last two: MANIFESTS is that folder or its installed copy.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "cmake/digests/sources.hpp"

namespace amasia::digests {
namespace {
namespace fs = std::filesystem;

/// What is the same keeps its time, so that nothing is compiled again.
void write_if_changed(const fs::path& file, const std::string& text) {
  if (fs::exists(file) && read_file(file) == text) return;
  if (!(std::ofstream(file, std::ios::binary) << text))
    throw std::runtime_error(file.string() + " cannot be written");
}

void add(Paths& to, const Paths& more) { to.insert(more.begin(), more.end()); }

std::string line_of(const std::string& name, const std::string& digest) {
  return fmt::format("{{\"{}\", \"{}\"}},\n", name, digest);
}

bool has_variant(Sources& sources, const std::string& path) {
  return sources.registers(path, "variant") || sources.registers(path, "comparator");
}

class Suite {
 public:
  Suite(const fs::path& root, const std::string& options)
      : sources_(root), root_(root), options_(fmt::format("options: {}", options)) {
    Paths folders;
    for (const std::string& path : sources_.files_of("microbench", {".cu"})) {
      if (!sources_.registers(path, "ceiling")) continue;
      add(ceilings_, sources_.closure_of({path}));
      folders.insert(fs::path(path).parent_path().generic_string());
    }
    for (const std::string& folder : folders) add(ceilings_, shared_of(folder, false));
  }

  void write(const fs::path& folder) {
    write_if_changed(folder / "source_digests.inc", of_apps());
    write_if_changed(folder / "microbenchmark_digests.inc", of_microbenchmarks());
    write_if_changed(folder / "harness_digest.inc", fmt::format("\"{}\"\n", of_harness()));
    write_if_changed(folder / "source_manifest.txt", sources_.manifest());
    write_if_changed(folder / "ceiling_manifest.txt", ceiling_manifest());
    write_if_changed(folder / "ground_manifest.txt", ground_manifest());
  }

 private:
  /// Files of a folder that register nothing, and its options. A .cpp that implements a header
  /// belongs to what includes the header, unless all are asked for.
  Paths shared_of(const std::string& folder, bool all) {
    Paths shared;
    for (const std::string& path : sources_.files_of(folder, {".cu", ".cpp"})) {
      const std::string stem = path.substr(0, path.rfind('.'));
      const bool declared = sources_.exists(stem + ".hpp") || sources_.exists(stem + ".cuh");
      if (sources_.content(path).registers.empty() && (all || !declared)) shared.insert(path);
    }
    shared = sources_.closure_of(shared);
    if (sources_.exists(folder + "/options.cmake")) shared.insert(folder + "/options.cmake");
    return shared;
  }

  std::vector<std::string> folders_of(const std::string& room) const {
    Paths folders;
    if (!fs::is_directory(root_ / room)) return {};
    for (const auto& entry : fs::directory_iterator(root_ / room)) {
      if (entry.is_directory()) folders.insert(room + "/" + entry.path().filename().string());
    }
    return {folders.begin(), folders.end()};
  }

  /// "apps/nw/tma.cu" -> "nw/tma"
  static std::string name_of(const std::string& path) {
    const std::size_t begin = path.find('/') + 1;
    return path.substr(begin, path.rfind('.') - begin);
  }

  std::string of_apps() {
    std::string lines;
    for (const std::string& app : folders_of("apps")) {
      Paths shared = shared_of(app, true);
      add(shared, ceilings_);
      const Paths files = sources_.files_of(app, {".cu"}, false);
      for (const std::string& path : files) {
        if (sources_.registers(path, "ceiling")) add(shared, sources_.closure_of({path}));
      }
      for (const std::string& path : files) {
        if (has_variant(sources_, path)) lines += counted(name_of(path), {path}, shared);
      }
    }
    return lines;
  }

  std::string of_microbenchmarks() {
    std::string lines;
    for (const std::string& question : folders_of("microbench")) {
      const Paths shared = shared_of(question, false);
      for (const std::string& path : sources_.files_of(question, {".cu"}, false)) {
        if (sources_.registers(path, "microbenchmark"))
          lines += counted(name_of(path), {path}, shared);
      }
    }
    return lines;
  }

  std::string of_harness() {
    Paths files =
        sources_.closure_of(sources_.files_of("harness", {".cu", ".cuh", ".hpp", ".cpp"}));
    add(files, sources_.files_of("inputs", {".cu", ".cuh", ".hpp", ".cpp", ".csv"}));
    return sources_.digest_of("harness", files);
  }

  std::string counted(const std::string& name, const Paths& own, const Paths& shared) {
    Paths files = sources_.closure_of(own);
    add(files, shared);
    return line_of(name, sources_.digest_of(name, files, options_));
  }

  std::string ceiling_manifest() {
    std::string lines;
    for (const std::string& path : ceilings_) {
      if (const std::string& hash = sources_.content(path).hash; !hash.empty())
        lines += fmt::format("{} {}\n", hash, path);
    }
    return lines;
  }

  std::string ground_manifest() {
    std::string lines;
    for (const char* room : {"variants", "inputs"}) {
      for (const std::string& path : sources_.files_of(room, {".cpp"})) {
        lines += sources_.content(path).hash + " " + path;
        for (const std::string& included : sources_.includes_of(path)) lines += " " + included;
        lines += "\n";
      }
    }
    return lines;
  }

  Sources sources_;
  fs::path root_;
  std::string options_;
  Paths ceilings_;
};

/// `words`: what follows "app" on the command line.
void write_digests_of_app(const std::vector<std::string>& words) {
  const std::string name = words[0], options = "options: " + words[4];
  const fs::path manifests = words[2], output = words[5];
  Sources sources(words[1], words[3]);
  std::istringstream ground(read_file(manifests / "ground_manifest.txt"));
  for (std::string line; std::getline(ground, line);) {
    std::istringstream fields(line);
    std::string hash, path;
    fields >> hash >> path;
    sources.set_known(path, hash, {std::istream_iterator<std::string>(fields), {}});
  }
  // Under names of their own: a header may differ by now from what the ceilings were compiled with.
  Paths shared, ceilings, variants;
  std::istringstream ceiling_lines(read_file(manifests / "ceiling_manifest.txt"));
  for (std::string hash, path; ceiling_lines >> hash >> path;) {
    sources.set_known(fmt::format("ceiling:{}", path), hash, {});
    ceilings.insert(fmt::format("ceiling:{}", path));
  }
  for (auto path = words.begin() + 6; path != words.end(); ++path) {
    (has_variant(sources, *path) ? variants : shared).insert(*path);
  }
  shared = sources.closure_of(shared);
  add(shared, ceilings);

  Paths all = shared;
  std::string lines;
  const auto count = [&](const std::string& what, const Paths& files) {
    lines += "    " + line_of(what, sources.digest_of(what, files, options));
  };
  for (const std::string& path : variants) {
    Paths files = sources.closure_of({path});
    add(all, files);
    add(files, shared);
    count(name + "/" + fs::path(path).stem().string(), files);
  }
  count(name, all);
  write_if_changed(
      output, "// What the sources of " + name +
                  " are, for its results (amasia_digests).\n#include \"harness/registry.hpp\"\n\n"
                  "namespace {\nconst bool registered = amasia::register_source_digests({\n" +
                  lines + "});\n}\n");
  write_if_changed(fs::path(output).replace_extension("txt"), sources.manifest());
}

void run(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "suite") {
    Suite(words[1], words[2]).write(words[3]);
  } else if (words.size() > 7 && words[0] == "app") {
    write_digests_of_app({words.begin() + 1, words.end()});
  } else {
    throw std::runtime_error(
        "use amasia_digests suite ROOT OPTIONS FOLDER, or amasia_digests app NAME ROOT "
        "MANIFESTS APP_FOLDER OPTIONS OUTPUT SOURCE...");
  }
}

}  // namespace
}  // namespace amasia::digests

int main(int argc, char** argv) {
  try {
    amasia::digests::run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "amasia_digests: " << error.what() << "\n";
    return 1;
  }
}
