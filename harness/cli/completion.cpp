#include "harness/cli/completion.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace amasia {
namespace {

/// 'text' as every shell takes it, except that fish wants \' for a quote.
std::string quoted(const std::string& text, const std::string& quote) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += quote;
    } else {
      escaped += c;
    }
  }
  return "'" + escaped + "'";
}
std::string posix(const std::string& text) { return quoted(text, "'\\''"); }
std::string fish(const std::string& text) { return quoted(text, "\\'"); }

/// What may stand where this option's value is expected, as far as it is known.
const std::vector<std::string>& words_of(const OptionDescription& o) {
  return o.choices.empty() ? o.offers : o.choices;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// --- bash

/// The reply to the word being completed: from a list, from files, or none.
std::string bash_reply(const OptionDescription& o) {
  if (o.is_file()) return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\"))";
  if (words_of(o).empty()) return ":";
  return fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))", posix(joined(words_of(o))));
}

std::string bash_command(const CommandDescription& c) {
  std::vector<std::string> flags;
  std::string values, arguments;
  for (const OptionDescription& o : c.options) {
    if (o.positional) {
      // Which argument it is cannot be told without parsing: all of them are offered.
      const std::string words =
          o.is_file() ? "compgen -f" : "compgen -W " + posix(joined(words_of(o)));
      if (o.is_file()) arguments += "          compopt -o filenames\n";
      if (!o.is_file() && words_of(o).empty()) continue;
      arguments += fmt::format("          COMPREPLY+=($({} -- \"$current\"))\n", words);
      continue;
    }
    flags.push_back(o.name);
    if (!o.is_flag()) values += fmt::format("        {}) {}; return ;;\n", o.name, bash_reply(o));
  }
  std::string text = fmt::format("    {})\n", c.command->name);
  if (!values.empty()) text += "      case $previous in\n" + values + "      esac\n";
  text += fmt::format(
      "      if [[ $current == -* ]]; then\n"
      "        COMPREPLY=($(compgen -W {} -- \"$current\"))\n",
      posix(joined(flags)));
  if (!arguments.empty()) text += "      else\n" + arguments;
  return text + "      fi ;;\n";
}

std::string bash_script(const ProgramDescription& p) {
  std::vector<std::string> words;
  for (const CommandDescription& c : p.commands) words.push_back(c.command->name);
  for (const OptionDescription& o : p.options) words.push_back(o.name);
  std::string text = fmt::format(
      "# Completion of {0} for bash: source <({0} completion bash)\n"
      "_{0}() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W {1} -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      p.name, posix(joined(words)));
  for (const CommandDescription& c : p.commands) text += bash_command(c);
  return text + fmt::format("  esac\n}}\ncomplete -F _{0} {0}\n", p.name);
}

// --- zsh

/// Help in the brackets of _arguments: colons and brackets have a meaning there.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_values(const OptionDescription& o) {
  if (o.is_file()) return "_files";
  std::vector<std::string> words;
  for (const std::string& word : words_of(o)) words.push_back(zsh_text(word));
  return words.empty() ? " " : "(" + joined(words) + ")";
}

std::string zsh_command(const CommandDescription& c) {
  std::string text = fmt::format("    {})\n      _arguments", c.command->name);
  for (const OptionDescription& o : c.options) {
    std::string spec;
    if (o.positional) {
      spec = fmt::format("{}:{}:{}", o.repeatable ? "*" : "", zsh_text(o.name), zsh_values(o));
    } else {
      spec = fmt::format("{}{}[{}]", o.repeatable ? "*" : "", o.name, zsh_text(o.help));
      if (!o.is_flag()) spec += fmt::format(":{}:{}", zsh_text(o.value), zsh_values(o));
    }
    text += " \\\n        " + posix(spec);
  }
  return text + " ;;\n";
}

std::string zsh_script(const ProgramDescription& p) {
  std::string text = fmt::format(
      "#compdef {0}\n"
      "# Completion of {0} for zsh: source <({0} completion zsh), or a file _{0} in $fpath\n"
      "_{0}() {{\n"
      "  local -a commands=(\n",
      p.name);
  for (const CommandDescription& c : p.commands) {
    text += "    " + posix(c.command->name + ":" + zsh_text(c.command->summary)) + "\n";
  }
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    _arguments";
  for (const OptionDescription& o : p.options) {
    text += " " + posix(fmt::format("{}[{}]", o.name, zsh_text(o.help)));
  }
  text +=
      "\n    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $words[1] in\n";
  for (const CommandDescription& c : p.commands) text += zsh_command(c);
  // Loaded from $fpath, the file is the function's body; sourced, it only defines it.
  return text + fmt::format(
                    "  esac\n}}\n"
                    "if [[ $funcstack[1] == _{0} ]]; then _{0} \"$@\"; else compdef _{0} {0}; fi\n",
                    p.name);
}

// --- fish

std::string fish_values(const OptionDescription& o) {
  if (o.is_file()) return " -F";
  return words_of(o).empty() ? "" : " -a " + fish(joined(words_of(o)));
}

std::string fish_script(const ProgramDescription& p) {
  std::string text = fmt::format(
      "# Completion of {0} for fish: {0} completion fish > ~/.config/fish/completions/{0}.fish\n"
      "complete -c {0} -f\n",
      p.name);
  const auto option = [&](const OptionDescription& o, const std::string& when) {
    std::string line = fmt::format("complete -c {} -n {}", p.name, fish(when));
    if (!o.positional) line += " -l " + o.name.substr(2) + (o.is_flag() ? "" : " -r");
    return line + (o.is_flag() ? "" : fish_values(o)) + " -d " + fish(o.help) + "\n";
  };
  for (const OptionDescription& o : p.options) text += option(o, "__fish_use_subcommand");
  for (const CommandDescription& c : p.commands) {
    const std::string& name = c.command->name;
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", p.name, name,
                        fish(c.command->summary));
    for (const OptionDescription& o : c.options) {
      if (o.positional && !o.is_file() && words_of(o).empty()) continue;
      text += option(o, "__fish_seen_subcommand_from " + name);
    }
  }
  return text;
}

}  // namespace

const std::vector<std::string>& completion_shells() {
  static const std::vector<std::string> shells{"bash", "fish", "zsh"};
  return shells;
}

std::string completion_script(const ProgramDescription& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw std::logic_error("no completion for the shell " + shell);
}

}  // namespace amasia
