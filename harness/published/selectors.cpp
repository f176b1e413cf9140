#include "harness/published/selectors.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/published/csv_table.hpp"

namespace amasia {
namespace {

bool fulfils(const Coordinates& at, const Coordinates& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& pair) { return value_of(at, pair.first) == pair.second; });
}

/// The speed-up in the cell whose size, cache, launch mode and schedule the selector names.
std::optional<OwnValue> speedup_of_cell(const ResultFile& file, const Selector& s) {
  for (const GroupResult& g : file.groups) {
    if (!g.invalid.empty()) continue;
    Coordinates cell = g.key.size.values();
    cell.emplace_back("cache", word_of(g.key.cache));
    cell.emplace_back("launch", word_of(g.key.launch));
    for (const Comparison& c : g.comparisons) {
      if (c.control || c.variant != s.name || word_of(c.role) != s.quantity) continue;
      Coordinates at = cell;
      at.emplace_back("schedule", c.schedule);
      if (fulfils(at, s.at)) return OwnValue{c.speedup.ratio, "x"};
    }
  }
  return std::nullopt;
}

/// A row's value in the selector's unit; nullopt where a rate per clock has no clock.
std::optional<OwnValue> value_of_row(const MicrobenchmarkRow& row, const Selector& s) {
  if (!s.gbytes_per_s) return OwnValue{row.value->median, row.unit};
  if (!row.clock_mhz) return std::nullopt;
  return OwnValue{row.value->median * *row.clock_mhz * 1e-3, "GB/s"};
}

std::optional<OwnValue> value_of_selector(const ResultFile& file, const Selector& s,
                                          std::string& reason) {
  reason = "not measured";
  if (s.kind == Selector::Kind::ceiling) {
    for (const Ceiling& c : file.ceilings) {
      if (c.name == s.name) return OwnValue{c.value, c.unit};
    }
    return std::nullopt;
  }
  if (s.kind == Selector::Kind::derived) {
    reason = "computed by python -m plots reproduction";
    return std::nullopt;
  }
  if (s.kind == Selector::Kind::speedup) return speedup_of_cell(file, s);
  const MicrobenchmarkResult* m = find_result(file, s.name);
  if (m == nullptr) return std::nullopt;
  if (s.kind == Selector::Kind::finding) {
    for (const Finding& f : m->findings) {
      if (f.quantity == s.quantity && fulfils(f.at, s.at)) return OwnValue{f.value, f.unit};
    }
    return std::nullopt;
  }
  std::optional<OwnValue> best;
  for (const MicrobenchmarkRow& row : m->rows) {
    if (row.quantity != s.quantity || !fulfils(row.at, s.at)) continue;
    if (!row.value) reason = fmt::format("{}: {}", word_of(row.status), row.reason);
    auto value = row.value ? value_of_row(row, s) : std::nullopt;
    if (s.kind == Selector::Kind::point) return value;
    if (value && (!best || value->value > best->value)) best = value;
  }
  return best;
}

}  // namespace

Coordinates conditions_of(const std::string& text, const std::string& place) {
  Coordinates conditions;
  for (const std::string& part : split(text, ';')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ResultError(place + ": expected name=value, found '" + part + "'");
    }
    conditions.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return conditions;
}

const MicrobenchmarkResult* find_result(const ResultFile& file, const std::string& name) {
  for (const MicrobenchmarkResult& m : file.microbenchmarks) {
    if (m.name == name) return &m;
  }
  return nullptr;
}

std::vector<Selector> parse_selectors(const std::string& own) {
  std::vector<Selector> selectors;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t slash = own.find(" / ", begin);
    const std::string text = own.substr(begin, slash - begin);
    std::vector<std::string> words = split(text, ' ');
    const auto kind = find_word<Selector::Kind>(words.empty() ? "" : words[0]);
    if (!kind) throw ResultError("'" + text + "': expected " + list_of_words<Selector::Kind>());
    const auto expect = [&](std::size_t least) {
      if (words.size() < least) throw ResultError("'" + text + "': is too short for " + words[0]);
    };
    expect(2);
    Selector s;
    s.kind = *kind;
    s.name = words[1];
    switch (*kind) {
      case Selector::Kind::ceiling:
      case Selector::Kind::derived:
        break;
      case Selector::Kind::speedup:
      case Selector::Kind::point:
      case Selector::Kind::best:
      case Selector::Kind::finding: {
        expect(4);
        // Values may hold spaces, and so may a quantity that ends with '|'.
        const std::string rest = text.substr(words[0].size() + words[1].size() + 2);
        const std::size_t end = rest.find(rest.find('|') == std::string::npos ? ' ' : '|');
        s.quantity = rest.substr(0, end);
        s.at = conditions_of(rest.substr(end + 1), text);
        if (const std::size_t colon = s.quantity.find(":gbs"); colon != std::string::npos) {
          s.gbytes_per_s = true;
          s.quantity.resize(colon);
        }
        break;
      }
    }
    selectors.push_back(std::move(s));
    if (slash == std::string::npos) return selectors;
    begin = slash + 3;
  }
}

std::optional<OwnValue> own_value(const ResultFile& file, const std::string& own,
                                  std::string& reason) {
  const std::vector<Selector> selectors = parse_selectors(own);
  auto value = value_of_selector(file, selectors[0], reason);
  if (!value || selectors.size() == 1) return value;
  const auto below = value_of_selector(file, selectors[1], reason);
  if (!below || !(below->value > 0)) return std::nullopt;
  const std::string unit = value->unit == below->unit ? "x" : value->unit + "/" + below->unit;
  return OwnValue{value->value / below->value, unit};
}

}  // namespace amasia
