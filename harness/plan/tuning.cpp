#include "harness/plan/tuning.hpp"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/results/codec.hpp"
#include "harness/results/envelope.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/result.hpp"
#include "harness/text/file.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {

// Every field of a tuning file.

template <>
struct Fields<TuningCandidate> {
  static constexpr Rules of_time{.optional = true, .least = 0, .above = true};
  static constexpr auto list =
      fields(field("config", &TuningCandidate::config), field("status", &TuningCandidate::status),
             field("reason", &TuningCandidate::reason),
             field("median_ms", &TuningCandidate::median_ms, of_time),
             field("low_ms", &TuningCandidate::low_ms, of_time),
             field("high_ms", &TuningCandidate::high_ms, of_time),
             field("n", &TuningCandidate::n, {.optional = true, .least_integer = 1}));
};

template <>
struct Fields<TuningEntry> {
  static constexpr auto list =
      fields(field("device", &TuningEntry::device), field("variant", &TuningEntry::variant),
             field("size", &TuningEntry::size), field("cache", &TuningEntry::cache),
             field("launch", &TuningEntry::launch), field("config", &TuningEntry::config),
             field("equal", &TuningEntry::equal, {.optional = true}),
             field("source_digest", &TuningEntry::source_digest),
             field("date_utc", &TuningEntry::date_utc), field("table", &TuningEntry::table));
};

template <>
struct Fields<TunedDevice> {
  static constexpr auto list =
      fields(field("name", &TunedDevice::name),
             field("compute_capability", &TunedDevice::compute_capability, {.least_integer = 1}),
             field("sm_count", &TunedDevice::sm_count, {.least_integer = 1}));
};

namespace {

constexpr const char* tuning_schema_name = "amasia-tuning";
constexpr int tuning_version = 2;

/// Distance of two sizes of one app: sum of |log ratio| of the integer parameters; infinite when a
/// choice or file differs, because that is another problem.
double distance(const Parameters& a, const Parameters& b) {
  if (a.values().size() != b.values().size()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i) {
    const auto& [name, left] = a.values()[i];
    const auto& right = b.values()[i].second;
    const auto x = number_from<std::int64_t>(left), y = number_from<std::int64_t>(right);
    if (x && y && *x > 0 && *y > 0) {
      sum += std::abs(std::log(static_cast<double>(*x) / static_cast<double>(*y)));
    } else if (left != right) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return sum;
}

/// Whether both are of one search, whatever code it found.
bool is_search_of(const TunedCase& a, const TunedCase& b) {
  return a.device == b.device && a.variant == b.variant && a.size == b.size && a.cache == b.cache &&
         a.launch == b.launch;
}

std::string tuned_at(const TuningEntry& entry, const Parameters& size) {
  return fmt::format("tuned at {}{}{}{}", entry.size == size ? "" : "the nearest size ",
                     entry.size.to_string(), entry.lent_by.empty() ? "" : " on ", entry.lent_by);
}

}  // namespace

TuningTable TuningTable::read(const std::string& path) {
  TuningTable table;
  if (!std::filesystem::exists(path)) return table;
  const Json j = read_json_file(path);
  naming(path, [&] {
    check_kind(j, tuning_schema_name, tuning_version);
    // Not in files from before this was asked.
    const auto devices = At(j).optional_member("devices");
    if (devices) amasia::read(*devices, any_value, table.devices_);
    amasia::read(At(j).member("entries"), any_value, table.entries_);
  });
  return table;
}

void TuningTable::write(const std::string& path) const {
  const Json json{{"schema", tuning_schema_name},
                  {"version", tuning_version},
                  {"devices", written(devices_)},
                  {"entries", written(entries_)}};
  // A path in a size may be no UTF-8.
  write_text_file(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
}

void add_winners(const std::string& path, const Device& device,
                 const std::vector<TuningEntry>& entries) {
  const OpenFile folder = parent_directory(destination_of(path).path);
  // Some file systems lock no folder: then only the moment until it is written is at risk.
  while (::flock(folder.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  TuningTable table = TuningTable::read(path);
  table.record(device);
  for (const TuningEntry& entry : entries) table.record(entry);
  table.write(path);
}

void TuningTable::record(const Device& device) {
  std::erase_if(devices_, [&](const TunedDevice& d) { return d.name == device.name; });
  devices_.push_back({device.name, device.compute_capability, device.sm_count});
}

void TuningTable::add(const TuningTable& other) {
  devices_.insert(devices_.end(), other.devices_.begin(), other.devices_.end());
  entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
}

void TuningTable::fill_in(const TuningTable& other, const Device& device) {
  std::vector<TunedDevice> near = other.devices_;
  std::erase_if(near, [&](const TunedDevice& d) {
    return d.name == device.name || d.compute_capability != device.compute_capability;
  });
  std::ranges::stable_sort(
      near, {}, [&](const TunedDevice& d) { return std::abs(d.sm_count - device.sm_count); });
  for (const TunedDevice& lender : near) {
    std::vector<TuningEntry> lent;
    for (const TuningEntry& entry : other.entries_) {
      const auto is_known = [&](const TuningEntry& e) {
        return e.device == device.name && e.variant == entry.variant &&
               e.source_digest == entry.source_digest;
      };
      if (entry.device != lender.name || entry.source_digest != source_digest(entry.variant) ||
          std::ranges::any_of(entries_, is_known)) {
        continue;
      }
      TuningEntry& mine = lent.emplace_back(entry);
      mine.device = device.name;
      mine.lent_by = lender.name;
    }
    std::move(lent.begin(), lent.end(), std::back_inserter(entries_));
  }
}

void TuningTable::record(TuningEntry entry) {
  const auto found =
      std::ranges::find_if(entries_, [&](const TuningEntry& e) { return is_search_of(e, entry); });
  if (found == entries_.end()) {
    entries_.push_back(std::move(entry));
  } else {
    *found = std::move(entry);
  }
}

bool TuningTable::has(const TunedCase& wanted) const {
  return std::ranges::any_of(entries_, [&](const TuningEntry& e) {
    return is_search_of(e, wanted) && e.source_digest == wanted.source_digest;
  });
}

const TuningEntry* TuningTable::nearest(const TunedCase& wanted) const {
  // A different cache or launch mode matters less than any real difference in size.
  constexpr double mode_penalty = 1e-3;
  const TuningEntry* best = nullptr;
  double best_distance = std::numeric_limits<double>::infinity();
  for (const auto& e : entries_) {
    if (e.device != wanted.device || e.variant != wanted.variant || e.source_digest.empty() ||
        e.source_digest != wanted.source_digest) {
      continue;
    }
    const double d = distance(e.size, wanted.size) + (e.cache == wanted.cache ? 0 : mode_penalty) +
                     (e.launch == wanted.launch ? 0 : mode_penalty);
    if (d < best_distance) {
      best = &e;
      best_distance = d;
    }
  }
  return best;
}

std::optional<TuningChoice> TuningTable::choose(const TunedCase& wanted) const {
  const TuningEntry* best = nearest(wanted);
  if (best == nullptr) return std::nullopt;
  return TuningChoice{best->config, tuned_at(*best, wanted.size)};
}

std::vector<ScheduleWinner> TuningTable::choose_by_schedule(const TunedCase& wanted,
                                                            const Variant& variant) const {
  const TuningEntry* entry = nearest(wanted);
  if (entry == nullptr) return {};
  std::vector<ScheduleWinner> winners;
  for (const Config& config : variant.configs) {
    if (config.info.schedule.empty() || config.info.reference_only) continue;
    const auto tried = std::ranges::find(entry->table, config.info.name, &TuningCandidate::config);
    if (tried == entry->table.end() || !tried->median_ms) continue;
    const double ms = *tried->median_ms;
    const auto known = std::ranges::find(winners, config.info.schedule, &ScheduleWinner::schedule);
    if (known == winners.end()) {
      winners.push_back(
          {config.info.schedule, config.info.name, tuned_at(*entry, wanted.size), ms});
    } else if (ms < known->ms) {
      known->config = config.info.name;
      known->ms = ms;
    }
  }
  return winners;
}

std::string default_tuning_path(const Device& device) {
  return "results/" + device_slug(device.name) + "/tuning.json";
}

TuningTable winners_in_results(const Device& device) {
  const std::string own = default_tuning_path(device);
  TuningTable table = TuningTable::read(own);
  TuningTable others;
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (std::filesystem::directory_iterator i("results", error), end; !error && i != end;
       i.increment(error)) {
    folders.push_back(i->path());
  }
  std::ranges::sort(folders);
  for (const auto& folder : folders) {
    const std::string path = (folder / "tuning.json").string();
    if (path != own) others.add(TuningTable::read(path));
  }
  table.fill_in(others, device);
  return table;
}

TuningEntry tuning_entry(const GroupResult& search, const Variant& variant,
                         const std::string& device, double confidence) {
  const GroupKey& key = search.key;
  TuningEntry entry{
      {device, variant.name(), key.size, key.cache, key.launch, source_digest(variant.name())}};
  entry.date_utc = utc_now();
  std::vector<const Row*> eligible;
  const Row* winner = nullptr;
  for (const Row& row : search.rows) {
    if (row.variant != variant.name()) continue;
    TuningCandidate& tried = entry.table.emplace_back();
    tried.config = row.config;
    tried.status = row.status;
    tried.reason = row.reason;
    if (row.time_ms) {
      tried.median_ms = row.time_ms->median;
      tried.low_ms = row.time_ms->low;
      tried.high_ms = row.time_ms->high;
      tried.n = row.time_ms->n;
    }
    const bool reference_only = std::ranges::any_of(variant.configs, [&row](const Config& config) {
      return config.info.name == row.config && config.info.reference_only;
    });
    if (!row.time_ms || reference_only) continue;
    eligible.push_back(&row);
    if (winner == nullptr || row.time_ms->median < winner->time_ms->median) winner = &row;
  }
  if (winner == nullptr) return entry;
  entry.config = winner->config;
  const auto pairs = static_cast<int>(eligible.size() * (eligible.size() - 1) / 2);
  const double each = corrected_confidence(confidence, pairs);
  for (const Row* row : eligible) {
    if (row == winner) continue;
    const auto [theirs, best] = paired_times(*row, *winner);
    if (best.empty() || !paired_ratio(theirs, best, each).resolved) {
      entry.equal.push_back(row->config);
    }
  }
  return entry;
}

}  // namespace amasia
