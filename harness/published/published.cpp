#include "harness/published/published.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "harness/ceiling.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/registry.hpp"

namespace amasia {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1) {
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

/// "a=1;b=x y"
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

bool fulfils(const Coordinates& at, const Coordinates& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& pair) { return value_of(at, pair.first) == pair.second; });
}

double number_of(const std::string& text, const std::string& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw ResultError(place + ": expected a number, found '" + text + "'");
  }
  return value;
}

CsvTable table_of(const std::string& name) {
  const auto found = published_files().find(name);
  if (found == published_files().end()) throw ResultError("no published file '" + name + "'");
  return parse_csv(found->second, name + ".csv");
}

const MicrobenchmarkResult* find_result(const ResultFile& file, const std::string& name) {
  for (const MicrobenchmarkResult& m : file.microbenchmarks) {
    if (m.name == name) return &m;
  }
  return nullptr;
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
  if (s.kind == Selector::Kind::speedup) {
    // The first size of the app in the file, the one its paper's study puts first.
    for (const GroupResult& g : file.groups) {
      for (const Comparison& c : g.comparisons) {
        if (c.variant == s.name && c.role == s.quantity && !c.control) {
          return OwnValue{c.speedup.ratio, "x"};
        }
      }
    }
    return std::nullopt;
  }
  const MicrobenchmarkResult* m = find_result(file, s.name);
  if (m == nullptr) return std::nullopt;
  if (s.kind == Selector::Kind::finding) {
    for (const Finding& f : m->findings) {
      if (f.quantity == s.quantity && fulfils(f.at, s.at)) return OwnValue{f.value, f.unit};
    }
    return std::nullopt;
  }
  for (const MicrobenchmarkRow& row : m->rows) {
    if (row.quantity != s.quantity || !fulfils(row.at, s.at)) continue;
    if (!row.value) {
      reason = fmt::format("{}: {}", name_of(row.status), row.reason);
      return std::nullopt;
    }
    if (!s.gbytes_per_s) return OwnValue{row.value->median, row.unit};
    if (!row.clock_mhz) return std::nullopt;
    return OwnValue{row.value->median * *row.clock_mhz * 1e-3, "GB/s"};
  }
  return std::nullopt;
}

}  // namespace

std::size_t CsvTable::column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) throw ResultError("there is no column '" + name + "'");
  return static_cast<std::size_t>(found - columns.begin());
}

CsvTable parse_csv(std::string_view text, const std::string& name) {
  CsvTable table;
  std::vector<std::string> fields{""};
  bool quoted = false, any = false;
  int line = 1;
  const auto end_row = [&] {
    if (any) {
      if (table.columns.empty()) {
        table.columns = fields;
      } else if (fields.size() != table.columns.size()) {
        throw ResultError(fmt::format("{}:{}: expected {} fields, found {}", name, line,
                                      table.columns.size(), fields.size()));
      } else {
        table.rows.push_back(fields);
      }
    }
    fields = {""};
    any = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quoted && !any && c == '#') {  // a comment line
      i = std::min(text.find('\n', i), text.size());
      ++line;
      continue;
    }
    if (c == '\n') ++line;
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        fields.back() += c;
      }
    } else if (c == '"') {
      quoted = any = true;
    } else if (c == ',') {
      fields.emplace_back();
      any = true;
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      fields.back() += c;
      any = true;
    }
  }
  if (quoted) throw ResultError(name + ": a quoted field does not end");
  end_row();
  return table;
}

const std::map<std::string, std::string_view>& published_files() {
  static const std::map<std::string, std::string_view> files{
#include "published.inc"
  };
  return files;
}

const std::vector<InventoryRow>& inventory() {
  static const std::vector<InventoryRow> rows = [] {
    const CsvTable table = table_of("inventory");
    const auto at = [&](const std::vector<std::string>& row, const char* name) {
      return row[table.column(name)];
    };
    std::vector<InventoryRow> all;
    for (const auto& row : table.rows) {
      InventoryRow r{at(row, "id"),     at(row, "source"), at(row, "where"),
                     at(row, "what"),   at(row, "study"),  {},
                     at(row, "method"), at(row, "remark")};
      const std::string by = at(row, "by");
      if (by.starts_with("app ")) {
        r.by = {by};
      } else {
        r.by = split(by, ' ');
      }
      all.push_back(std::move(r));
    }
    return all;
  }();
  return rows;
}

const std::vector<PublishedComparison>& published_comparisons() {
  static const std::vector<PublishedComparison> comparisons = [] {
    const CsvTable table = table_of("comparisons");
    std::vector<PublishedComparison> all;
    for (const auto& row : table.rows) {
      const auto at = [&](const char* name) { return row[table.column(name)]; };
      all.push_back({at("id"), at("label"), at("file"), at("where"), at("column"), at("own"),
                     number_of(at("scale"), "comparisons.csv: scale")});
    }
    return all;
  }();
  return comparisons;
}

double published_value(const PublishedComparison& c) {
  const std::string place = c.id + " (" + c.label + ")";
  const CsvTable table = table_of(c.file);
  const Coordinates wanted = conditions_of(c.where, place);
  const std::vector<std::string>* found = nullptr;
  for (const auto& row : table.rows) {
    const bool matches = std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
      return row[table.column(pair.first)] == pair.second;
    });
    if (!matches) continue;
    if (found != nullptr) throw ResultError(place + ": several rows of " + c.file + " match");
    found = &row;
  }
  if (found == nullptr) throw ResultError(place + ": no row of " + c.file + " matches");
  return c.scale * number_of((*found)[table.column(c.column)], place);
}

std::vector<Selector> parse_selectors(const std::string& own) {
  std::vector<Selector> selectors;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t slash = own.find(" / ", begin);
    const std::string text = own.substr(begin, slash - begin);
    std::vector<std::string> words = split(text, ' ');
    Selector s;
    const std::string kind = words.empty() ? "" : words[0];
    const auto expect = [&](std::size_t least) {
      if (words.size() < least) throw ResultError("'" + text + "': is too short for " + kind);
    };
    if (kind == "ceiling") {
      expect(2);
      s.kind = Selector::Kind::ceiling;
      s.name = words[1];
    } else if (kind == "speedup") {
      expect(3);
      s.kind = Selector::Kind::speedup;
      s.name = words[1];
      s.quantity = words[2];
    } else if (kind == "point" || kind == "finding") {
      expect(4);
      s.kind = kind == "point" ? Selector::Kind::point : Selector::Kind::finding;
      s.name = words[1];
      s.quantity = words[2];
      if (const std::size_t colon = s.quantity.find(":gbs"); colon != std::string::npos) {
        s.gbytes_per_s = true;
        s.quantity.resize(colon);
      }
      // The rest is one list: values may hold spaces.
      const std::size_t head = kind.size() + words[1].size() + words[2].size() + 3;
      s.at = conditions_of(text.substr(head), text);
    } else {
      throw ResultError("'" + text + "': expected point, finding, ceiling or speedup");
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
  return OwnValue{value->value / below->value, "x"};
}

PublishedRatio against_published(double own, double published) {
  if (!(published > 0) || !(own > 0) || !std::isfinite(own) || !std::isfinite(published)) {
    throw std::invalid_argument("against_published: both values must be positive");
  }
  constexpr double notable = 1.5;
  PublishedRatio r;
  r.ratio = own / published;
  r.notable = r.ratio > notable || r.ratio < 1 / notable;
  return r;
}

std::vector<InventoryRow> inventory_rows(const std::string& name) {
  std::vector<InventoryRow> rows;
  for (const InventoryRow& row : inventory()) {
    if (name == row.id || name == row.study || name == "seed" + row.id.substr(0, 3)) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<std::string> inventory_names() {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto offer = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const InventoryRow& row : inventory()) offer("seed" + row.id.substr(0, 3));
  for (const InventoryRow& row : inventory()) offer(row.study);
  for (const InventoryRow& row : inventory()) offer(row.id);
  return names;
}

bool is_built(const InventoryRow& row) {
  return std::any_of(row.by.begin(), row.by.end(), [](const std::string& by) {
    if (by == "ceilings") return !ceiling_probes().empty();
    if (by.starts_with("app ")) return !variants_of(by.substr(4)).empty();
    return find_microbenchmark(by) != nullptr;
  });
}

Table reproduction_table(const ResultFile& file, const std::vector<InventoryRow>& rows) {
  Table table;
  table.columns = {{"id", "id"},         {"what", "what"},           {"own", "here"},
                   {"unit", "unit"},     {"published", "published"}, {"ratio", "here / published"},
                   {"status", "status"}, {"remark", "remark"}};
  for (const InventoryRow& row : rows) {
    const std::string where = row.where + ": " + row.what;
    const auto line = [&](const std::string& what, Cell own, Cell unit, Cell published, Cell ratio,
                          const std::string& status) {
      table.add({row.id, what, std::move(own), std::move(unit), std::move(published),
                 std::move(ratio), status, row.remark.empty() ? Cell() : Cell(row.remark)});
    };
    if (row.by.empty()) {
      line(where, {}, {}, {}, {}, "nothing to measure");
      continue;
    }
    std::vector<const PublishedComparison*> mine;
    for (const PublishedComparison& c : published_comparisons()) {
      if (c.id == row.id) mine.push_back(&c);
    }
    const bool built = is_built(row);
    std::string why;  // its first row has no value, where none has
    const bool measured = std::any_of(row.by.begin(), row.by.end(), [&](const std::string& by) {
      const MicrobenchmarkResult* const m = find_result(file, by);
      if (m != nullptr && why.empty() && !m->rows.empty()) {
        why = fmt::format("{}: {}", name_of(m->rows[0].status), m->rows[0].reason);
      }
      return (m != nullptr && std::any_of(m->rows.begin(), m->rows.end(),
                                          [](const auto& r) { return r.value.has_value(); })) ||
             (by == "ceilings" && !file.ceilings.empty());
    });
    const auto without_value = [&](const std::string& otherwise) {
      return !built ? "not yet: " + row.by.front() + " is not part of this program"
             : measured || why.empty() ? otherwise
                                       : why;
    };
    if (mine.empty()) {
      line(where, {}, {}, {}, {},
           without_value(measured ? "measured; no published number stands beside it"
                                  : "not measured"));
      continue;
    }
    for (const PublishedComparison* c : mine) {
      const double published = published_value(*c);
      std::string reason;
      const auto own = own_value(file, c->own, reason);
      if (!own) {
        line(c->label, {}, {}, published, {}, without_value(reason));
        continue;
      }
      const PublishedRatio ratio = against_published(own->value, published);
      const bool other = row.method.starts_with("other: ");
      line(c->label, own->value, own->unit, published, ratio.ratio,
           other ? "reproduced with another method: " + row.method.substr(7) : "reproduced");
    }
  }
  return table;
}

}  // namespace amasia
