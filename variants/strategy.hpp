// The six strategies as data: what they need and what their machine code must and must not show.
// docs/strategies.md, "The six strategies"; Svedin et al. 2021, algorithms 1-3; Hopper Tuning
// Guide 4.1.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace amasia {

enum class Strategy { baseline, register_bypass, overlap, drop_off, tma, dsm };

struct StrategyTraits {
  std::string_view name;
  int runs_from = 0;    // least compute capability (major * 10 + minor) that runs it at all
  int native_from = 0;  // below this it falls back to plain copies, and each row says so
  // PTX substrings. Every tile kernel must show at least one of each `required` alternative list
  // (alternatives separated by '|') and none of `forbidden`. Fixed size: unused entries are empty.
  std::array<std::string_view, 2> required{};
  std::array<std::string_view, 4> forbidden{};
  bool direct_load_to_shared_allowed = true;  // ld.global whose register goes straight to st.shared
};

inline constexpr std::array<StrategyTraits, 6> strategy_traits{{
    {"baseline", 0, 0, {"ld.global"}, {"cp.async", "mapa", "shared::cluster", "barrier.cluster"}},
    {"register_bypass",
     0,
     80,
     {"cp.async.ca|cp.async.cg"},
     {"cp.async.bulk", "mapa", "barrier.cluster"},
     false},
    {"overlap",
     0,
     80,
     {"cp.async.ca|cp.async.cg", "cp.async.wait_group|cp.async.mbarrier"},
     {"cp.async.bulk", "mapa", "barrier.cluster"},
     false},
    {"drop_off",
     0,
     80,
     {"cp.async.ca|cp.async.cg", "cp.async.wait_group|cp.async.wait_all"},
     {"cp.async.bulk", "mapa", "barrier.cluster"},
     false},
    {"tma",
     90,
     90,
     {"cp.async.bulk.tensor|cp.async.bulk.shared::cluster", "mbarrier.try_wait|mbarrier.test_wait"},
     {"mapa"},
     false},
    {"dsm", 90, 90, {"mapa|ld.shared::cluster|st.async|multicast::cluster", "barrier.cluster"}},
}};

constexpr const StrategyTraits& traits_of(Strategy s) {
  return strategy_traits[static_cast<std::size_t>(s)];
}
constexpr std::string_view name_of(Strategy s) { return traits_of(s).name; }

}  // namespace amasia
