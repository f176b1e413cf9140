#include "harness/cli/man_page.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace amasia {
namespace {

/// Text as roff takes it: no escape, no request at the beginning of a line, hyphens that are typed.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

std::string option_entry(const OptionDescription& o) {
  std::string text = ".TP\n\\fB" + roff(o.name) + "\\fR";
  if (!o.positional && !o.value.empty()) text += " \\fI" + roff(o.value) + "\\fR";
  text += "\n" + roff(o.help);
  if (!o.choices.empty()) text += ": " + roff(fmt::format("{}", fmt::join(o.choices, ", ")));
  text += ".\n";
  if (o.required) text += "Required.\n";
  if (!o.otherwise.empty()) text += "Default: " + roff(o.otherwise) + ".\n";
  return text;
}

std::string command_section(const CommandDescription& c) {
  std::string text = ".SS " + roff(usage(c)) + "\n" + roff(c.command->summary) + ".\n";
  if (!c.command->description.empty()) text += roff(c.command->description) + "\n";
  for (const OptionDescription& o : c.options) text += option_entry(o);
  std::vector<int> exits;
  for (const ExitStatus e : c.command->exits) exits.push_back(static_cast<int>(e));
  text += fmt::format(".PP\nExit codes: {}.\n", fmt::join(exits, ", "));
  return text;
}

}  // namespace

std::string man_page(const ProgramDescription& p) {
  std::string text =
      fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", upper(p.name), p.name, p.version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", p.name, roff(p.summary));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n.I command\n[arguments] [options]\n", p.name);
  text += ".SH OPTIONS\n";
  for (const OptionDescription& o : p.options) text += option_entry(o);
  text += ".SH COMMANDS\n";
  for (const CommandDescription& c : p.commands) text += command_section(c);
  text += ".SH EXIT STATUS\n";
  for (const ExitMeaning& e : exit_meanings) {
    text += fmt::format(".TP\n{}\n{}.\n", static_cast<int>(e.status), roff(std::string(e.meaning)));
  }
  text += ".SH EXAMPLES\n";
  for (const CommandDescription& c : p.commands) {
    for (const Example& e : c.command->examples) {
      text += fmt::format(".TP\n\\fB{}\\fR\n{}.\n", roff(e.line), roff(e.purpose));
    }
  }
  return text;
}

}  // namespace amasia
