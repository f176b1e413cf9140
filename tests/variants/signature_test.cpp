// The PTX signature of every variant in the build (variants/strategy.hpp): the instructions that
// define a strategy are there, those of other strategies are not. Where tiles are to bypass the
// registers, no loaded register is stored to shared memory.
//
// Variants are found as apps/<app>/<strategy>.cu and examples/<app>/<strategy>.cu. Their PTX is
// what nvcc --keep left in <build>/code/; a variant without it fails.
//
// The check does not see which data an address means. So:
// - `required` holds for every kernel that touches shared memory, and for at least one per variant.
//   A kernel without shared memory moves no tiles.
// - A direct copy is an st.shared of a register whose value is that of a ld.global or a constant on
//   every path, moved by mov, cvt and selp only. A generic ld might be a ld.global. A loop's state,
//   loaded before it and computed in it, is no tile.
// - A generic load has an address without a state space, in a kernel that touches shared memory or
//   in a function of the module. The machine must find out which memory is meant, and the
//   compiler makes the load wait for shared memory. Only dsm needs such addresses: mapa makes them.
// - drop_off: no block barrier comes between a wait for cp.async and the first ld.shared, along the
//   fall-through path, with unconditional branches followed. At least one wait per kernel must
//   satisfy this. In a loop every wait must, unless such a wait follows: a tile that the block
//   shares may come behind a barrier where the slots have a wait of their own. Which slot is read
//   is not seen.
#include "harness/evidence/evidence.hpp"
#include "harness/evidence/ptx.hpp"
#include "tests/test.hpp"
#include "variants/strategy.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;

bool shows(const ptx::Function& kernel, std::string_view part) {
  return std::ranges::any_of(kernel.body, [part](const ptx::Statement& s) {
    return s.opcode.find(part) != std::string::npos;
  });
}

/// `alternatives` separated by '|'.
bool shows_one_of(const ptx::Function& kernel, std::string_view alternatives) {
  return std::ranges::any_of(std::views::split(alternatives, '|'), [&](const auto& part) {
    return shows(kernel, std::string_view(part.begin(), part.end()));
  });
}

/// Prepares operands of tensor cores before any strategy moves them, the same for all.
bool prepares_operands(const ptx::Function& kernel) {
  return kernel.name.find("split_transposed") != std::string::npos;
}

bool touches_shared(const ptx::Function& kernel) {
  if (prepares_operands(kernel)) return false;
  return std::ranges::any_of(kernel.body, [](const ptx::Statement& s) {
    const std::string operation = ptx::operation_of(s.opcode);
    return operation.find(".shared") != std::string::npos || operation.starts_with("cp.async") ||
           operation.starts_with("mbarrier");
  });
}

/// Does the kernel stop on this architecture, because it has instructions that are missing there?
/// They are compiled as traps (variants/ptx/guarded_asm.cuh), and ptxas drops what lies behind.
bool stops(const ptx::Function& kernel) {
  return std::ranges::any_of(kernel.body,
                             [](const ptx::Statement& s) { return s.opcode == "trap"; });
}

/// The registers in an operand: "{%r1, %r2}" has two, "[%rd1+16]" one, "5" none.
std::vector<std::string> registers_in(std::string_view operand) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    if (operand[i] != '%') continue;
    std::size_t end = i + 1;
    while (end < operand.size() &&
           (std::isalnum(static_cast<unsigned char>(operand[end])) != 0 || operand[end] == '_')) {
      ++end;
    }
    found.emplace_back(operand.substr(i, end - i));
    i = end;
  }
  return found;
}

/// Registers that hold a value just as a load from global memory delivered it, or a constant in its
/// place: each of their definitions is such a load, or copies such a register or a constant. A
/// register that a loop starts with a loaded value and goes on with computed ones is not among
/// them.
std::set<std::string> loaded_registers(const ptx::Function& kernel) {
  struct Definition {
    bool load = false;  // the value comes from global memory
    bool copy = false;  // the value is that of `sources`, or a constant
    std::vector<std::string> sources{};
  };
  std::multimap<std::string, Definition> definitions;
  for (const ptx::Statement& s : kernel.body) {
    if (s.operands.empty()) continue;
    const std::string operation = ptx::operation_of(s.opcode);
    Definition d;
    d.load = operation == "ld.global" || operation == "ld";
    d.copy = operation == "mov" || operation == "cvt" || operation == "selp";
    // The last operand of selp, the predicate, chooses but is not copied.
    const std::size_t end = s.operands.size() - (operation == "selp" ? 1 : 0);
    for (std::size_t i = 1; d.copy && i < end; ++i) {
      for (std::string& r : registers_in(s.operands[i])) d.sources.push_back(std::move(r));
    }
    if (s.operands[0].front() == '[') continue;  // an address: the statement writes memory
    for (const std::string& r : registers_in(s.operands[0])) definitions.emplace(r, d);
  }

  const auto until_stable = [&definitions](auto&& changes) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [r, d] : definitions) changed |= changes(r, d);
    }
  };
  // What a load can reach ...
  std::set<std::string> reached, unchanged;
  until_stable([&](const std::string& r, const Definition& d) {
    const bool from_load = d.load || (d.copy && std::ranges::any_of(d.sources, [&](const auto& s) {
                                        return reached.count(s) > 0;
                                      }));
    return from_load && reached.insert(r).second;
  });
  // ... and nothing but loads and constants.
  for (const auto& [r, d] : definitions) unchanged.insert(r);
  until_stable([&](const std::string& r, const Definition& d) {
    const bool copies = d.copy && std::ranges::all_of(d.sources, [&](const auto& s) {
                          return unchanged.count(s) > 0;
                        });
    return !d.load && !copies && unchanged.erase(r) > 0;
  });
  std::set<std::string> loaded;
  std::set_intersection(reached.begin(), reached.end(), unchanged.begin(), unchanged.end(),
                        std::inserter(loaded, loaded.end()));
  return loaded;
}

std::string at(const ptx::Function& kernel, const ptx::Statement& s) {
  return kernel.name + ", PTX line " + std::to_string(s.line) + ": ";
}

void check_no_direct_copy(const ptx::Function& kernel, std::vector<std::string>& violations) {
  const std::set<std::string> loaded = loaded_registers(kernel);
  for (const ptx::Statement& s : kernel.body) {
    if (ptx::operation_of(s.opcode) != "st.shared" || s.operands.size() < 2) continue;
    for (const std::string& r : registers_in(s.operands[1])) {
      if (loaded.count(r) > 0) {
        violations.push_back(at(kernel, s) + "stores " + r + " to shared memory as it was loaded");
      }
    }
  }
}

/// Loads by generic addresses, one sentence each.
void check_no_generic_load(const ptx::Function& function, std::vector<std::string>& violations) {
  for (const ptx::Statement& s : function.body) {
    if (ptx::operation_of(s.opcode) != "ld") continue;
    violations.push_back(at(function, s) + s.opcode + " loads by a generic address: the compiler " +
                         "was not told that this is global memory");
  }
}

bool is_block_barrier(const ptx::Statement& s) {
  const std::set<std::string> barriers{"bar.sync", "barrier.sync", "bar.red", "barrier.red"};
  return barriers.contains(ptx::operation_of(s.opcode));
}

/// What the wait at `wait` meets first on its fall-through path.
enum class Met { use, barrier, neither };
struct FirstMet {
  Met what = Met::neither;
  std::size_t where = 0;
};

FirstMet first_met(const ptx::Function& kernel, std::size_t wait,
                   const std::map<std::string, std::size_t>& labels) {
  std::set<std::size_t> visited;
  for (std::size_t i = wait + 1; i < kernel.body.size() && visited.insert(i).second;) {
    const ptx::Statement& s = kernel.body[i];
    const std::string operation = ptx::operation_of(s.opcode);
    if (is_block_barrier(s)) return {Met::barrier, i};
    if (operation == "ld.shared") return {Met::use, i};
    if (s.guard.empty() && operation == "ret") break;
    const bool jumps = s.guard.empty() && operation == "bra" && !s.operands.empty() &&
                       labels.count(s.operands[0]) > 0;
    i = jumps ? labels.at(s.operands[0]) : i + 1;
  }
  return {};
}

void check_no_barrier_before_use(const ptx::Function& kernel,
                                 std::vector<std::string>& violations) {
  std::map<std::string, std::size_t> labels;
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    if (kernel.body[i].is_label()) labels[kernel.body[i].label] = i;
  }
  struct Loop {
    std::size_t begin = 0, end = 0;  // end 0: none
  };
  const auto loop_around = [&](std::size_t at) -> Loop {
    for (std::size_t i = at; i < kernel.body.size(); ++i) {
      const ptx::Statement& s = kernel.body[i];
      if (ptx::operation_of(s.opcode) != "bra" || s.operands.empty()) continue;
      const auto target = labels.find(s.operands[0]);
      if (target != labels.end() && target->second < at) return {target->second, i};
    }
    return {};
  };
  std::map<std::size_t, FirstMet> waits;
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    const std::string operation = ptx::operation_of(kernel.body[i].opcode);
    if (operation == "cp.async.wait_group" || operation == "cp.async.wait_all") {
      waits[i] = first_met(kernel, i, labels);
    }
  }
  bool used_at_once = false;
  for (auto [wait, met] : waits) {
    used_at_once |= met.what == Met::use;
    const Loop loop = loop_around(wait);
    if (met.what == Met::barrier && (met.where < loop.begin || met.where > loop.end)) {
      // The last wait of a loop: what its next turn meets
      if (loop.end != 0) met = first_met(kernel, loop.begin, labels);
    }
    if (met.what != Met::barrier || loop.end == 0) continue;
    const bool slots_have_their_own = std::ranges::any_of(waits, [&](const auto& w) {
      return w.first > wait && w.first < loop.end && w.second.what == Met::use;
    });
    if (!slots_have_their_own) {
      violations.push_back(
          at(kernel, kernel.body[met.where]) + "a block barrier between the wait in line " +
          std::to_string(kernel.body[wait].line) + " and the first use of the slot");
    }
  }
  if (!waits.empty() && !used_at_once) {
    violations.push_back(kernel.name + " uses no slot without a block barrier after its wait");
  }
}

/// What in `module` breaks the definition of the strategy, one sentence each.
std::vector<std::string> violations_of(const ptx::Module& module, const StrategyTraits& traits) {
  std::vector<std::string> violations;
  if (module.target < traits.runs_from) return violations;  // compiles, but never runs
  const bool native = module.target >= traits.native_from;
  int kernels = 0;
  int tile_kernels = 0;
  for (const ptx::Function& f : module.functions) {
    kernels += f.entry;
    for (std::string_view part : traits.forbidden) {
      if (!part.empty() && shows(f, part)) {
        violations.push_back(f.name + " shows " + std::string(part) + ", which " +
                             std::string(traits.name) + " must not");
      }
    }
    if (!native) continue;
    if (traits.name != "dsm" && (touches_shared(f) || !f.entry)) {
      check_no_generic_load(f, violations);
    }
    if (!f.entry) continue;
    if (touches_shared(f)) {
      ++tile_kernels;
      for (std::string_view alternatives : traits.required) {
        if (!alternatives.empty() && !shows_one_of(f, alternatives)) {
          violations.push_back(f.name + " does not show " + std::string(alternatives) + ", which " +
                               std::string(traits.name) + " needs");
        }
      }
    }
    if (prepares_operands(f)) continue;
    if (!traits.direct_load_to_shared_allowed) check_no_direct_copy(f, violations);
    if (traits.name == "drop_off") check_no_barrier_before_use(f, violations);
  }
  if (kernels == 0) violations.push_back("there is no kernel");
  if (native && kernels > 0 && tile_kernels == 0) {
    violations.push_back("no kernel uses shared memory");
  }
  return violations;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

// --- every variant of the build

struct BuiltVariant {
  std::string name;  // "hotspot/tma"
  StrategyTraits traits{};
  std::vector<fs::path> ptx;  // one per architecture
  std::vector<fs::path> missing;

  friend void PrintTo(const BuiltVariant& v, std::ostream* out) { *out << v.name; }
};

std::vector<std::string> split_list(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

const std::string architectures = AMASIA_ARCHITECTURES;

/// nvcc names the PTX <file>.ptx for one architecture and <file>.compute_<cc>.ptx for several.
/// Others in the folder are leftovers of earlier settings and are not looked at.
std::vector<fs::path> kept_files(const fs::path& folder, const std::string& stem,
                                 const std::string& of_architectures) {
  std::set<std::string> targets;  // "90-real" and "90-virtual" share their PTX
  for (const std::string& a : split_list(of_architectures)) {
    targets.insert(a.substr(0, a.find('-')));
  }
  if (targets.size() == 1) return {folder / (stem + ".ptx")};
  std::vector<fs::path> files;
  for (const std::string& a : targets) {
    files.push_back(folder / (stem + ".compute_" + a + ".ptx"));
  }
  return files;
}

/// What the suite compiles a strategy for (cmake/Sources.cmake): the architectures that run it, or
/// all if none does; those of AMASIA_CLUSTERS_ONLY for what needs clusters.
std::string compiled_for(const StrategyTraits& traits, const std::string& of_architectures) {
  const std::vector<std::string> clusters_only = split_list(AMASIA_CLUSTERS_ONLY);
  std::string able;
  for (const std::string& a : split_list(of_architectures)) {
    const bool left_out =
        traits.runs_from == 0 && std::ranges::find(clusters_only, a) != clusters_only.end();
    if (std::stoi(a) >= traits.runs_from && !left_out) able += a + ' ';
  }
  return able.empty() ? of_architectures : able;
}

/// The strategies of an app whose sources lie in `sources`, and what was kept of them in `kept`.
/// `of_architectures`: those that a strategy was compiled for.
void add_variants(const std::string& app, const fs::path& sources, const fs::path& kept,
                  const std::function<std::string(const StrategyTraits&)>& of_architectures,
                  std::vector<BuiltVariant>& variants) {
  for (const StrategyTraits& traits : strategy_traits) {
    const std::string strategy(traits.name);
    const fs::path source = sources / (strategy + ".cu");
    if (!fs::exists(source)) continue;
    BuiltVariant v{app + "/" + strategy, traits, {}, {}};
    for (const fs::path& file : kept_files(kept, strategy, of_architectures(traits))) {
      const bool fresh =
          fs::exists(file) && fs::last_write_time(file) >= fs::last_write_time(source);
      (fresh ? v.ptx : v.missing).push_back(file);
    }
    variants.push_back(std::move(v));
  }
}

std::vector<BuiltVariant> built_variants() {
  const fs::path tree(AMASIA_SOURCE_DIR), build(AMASIA_BINARY_DIR);
  std::vector<BuiltVariant> variants;
  for (const std::string& app : split_list(AMASIA_BUILT_APPS)) {
    add_variants(
        app, tree / "apps" / app, build / "code" / "apps" / app,
        [](const StrategyTraits& t) { return compiled_for(t, architectures); }, variants);
  }
  // Apps outside the suite, which keep their code beside their own program.
  for (const std::string& app : split_list(AMASIA_BUILT_EXAMPLES)) {
    add_variants(
        app, tree / "examples" / app, build / "examples" / app / "code" / app,
        [](const StrategyTraits&) { return AMASIA_EXAMPLE_ARCHITECTURES; }, variants);
  }
  return variants;
}

class Signature : public testing::TestWithParam<BuiltVariant> {};

TEST_P(Signature, PtxFollowsTheStrategy) {
  const BuiltVariant& v = GetParam();
  for (const fs::path& file : v.missing) {
    ADD_FAILURE() << file << " is missing or older than its source: build the variant first";
  }
  for (const fs::path& file : v.ptx) {
    const ptx::Module module = ptx::parse(read_text(file));
    EXPECT_GT(module.target, 0) << file << " names no target";
    const auto violations = violations_of(module, v.traits);
    EXPECT_TRUE(violations.empty()) << file << ":\n" << joined(violations);
  }
}

/// The machine code made from a kept PTX file, "" when that is for just-in-time compilation only.
/// <stem>.cubin, or <stem>.sm_<cc>.cubin where the build embeds the PTX, too.
fs::path cubin_of(const fs::path& ptx, int target) {
  for (const std::string& ending :
       {std::string(".cubin"), ".sm_" + std::to_string(target) + ".cubin"}) {
    fs::path cubin = ptx;
    cubin.replace_extension(ending);
    if (fs::exists(cubin)) return cubin;
  }
  return {};
}

// ptxas must not have undone what the PTX shows. Read from the kept machine code that the
// executable is linked from: disassembling that is quicker than disassembling the executable.
TEST_P(Signature, MachineCodeFollowsTheStrategy) {
  const BuiltVariant& v = GetParam();
  if (find_cuobjdump().empty()) GTEST_SKIP() << "cuobjdump was not found: no SASS to check";
  const std::map<std::string, std::vector<std::string>> defining{
      {"register_bypass", {"LDGSTS"}}, {"overlap", {"LDGSTS"}},  {"drop_off", {"LDGSTS"}},
      {"tma", {"UBLKCP", "UTMALDG"}},  {"dsm", {"UCGABAR_ARV"}},
  };
  const std::vector<std::string> beyond_baseline{"LDGSTS", "UBLKCP", "UTMALDG", "UCGABAR_ARV"};
  const bool generic_allowed = v.traits.name == "dsm";
  for (const fs::path& file : v.ptx) {
    const ptx::Module module = ptx::parse(read_text(file));
    const fs::path cubin = cubin_of(file, module.target);
    if (module.target < v.traits.native_from || cubin.empty()) continue;
    CodeEvidence code(cubin, module.target);
    code.read_all();
    if (!code.reason().empty()) GTEST_SKIP() << code.reason();
    for (const ptx::Function& f : module.functions) {
      if (!f.entry || !touches_shared(f)) continue;
      // sm_90a has all instructions that the suite uses: there nothing may be left out.
      if (module.target != 90 && stops(f)) continue;
      const CodeEvidence::Kernel kernel = code.of(f.name);
      ASSERT_EQ(kernel.source, "sass") << f.name;
      const auto has = [&kernel](const std::string& group) {
        return kernel.instructions.count(group) > 0;
      };
      EXPECT_TRUE(generic_allowed || !has("LD")) << f.name << " loads by generic addresses";
      const auto wanted = defining.find(std::string(v.traits.name));
      if (wanted == defining.end()) {
        EXPECT_TRUE(std::ranges::none_of(beyond_baseline, has)) << f.name;
      } else {
        EXPECT_TRUE(std::ranges::any_of(wanted->second, has))
            << f.name << " lacks " << wanted->second.front();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, Signature, testing::ValuesIn(built_variants()),
                         [](const testing::TestParamInfo<BuiltVariant>& built) {
                           std::string name = built.param.name;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Signature);  // a build without CUDA has no variants

TEST(SignatureOfTheBuild, HasVariantsWhereCudaIsBuilt) {
  if (architectures.empty()) GTEST_SKIP() << "built without CUDA";
  EXPECT_FALSE(built_variants().empty());
}

// --- the check itself, on PTX written for it

void expect_violation(const std::vector<std::string>& violations, std::string_view part) {
  if (part.empty()) {
    EXPECT_TRUE(violations.empty()) << joined(violations);
    return;
  }
  EXPECT_TRUE(std::ranges::any_of(
      violations, [part](const auto& v) { return v.find(part) != std::string::npos; }))
      << "expected a violation with '" << part << "', got:\n"
      << joined(violations);
}

/// One kernel, and a part of the violation that must be found in it; "" for none.
struct Case {
  Strategy strategy;
  int target;
  std::string body;
  std::string_view violation = "";
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    const ptx::Module module =
        ptx::parse(".version 9.0\n.target sm_" + std::to_string(c.target) +
                   "\n.address_size 64\n.visible .entry kernel(\n\t.param .u64 kernel_param_0\n)\n"
                   ".maxntid 256\n{\n\t.reg .b32 %r<9>;\n" +
                   c.body + "\tret;\n}\n");
    expect_violation(violations_of(module, traits_of(c.strategy)), c.violation);
  }
}

constexpr Strategy baseline = Strategy::baseline, register_bypass = Strategy::register_bypass,
                   overlap = Strategy::overlap, drop_off = Strategy::drop_off, tma = Strategy::tma,
                   dsm = Strategy::dsm;

const std::string use = "ld.shared.u32 %r4, [%r5];\n", barrier = "bar.sync 0;\n";
const std::string plain_copy =
    "ld.global.nc.v2.u32 {%r1, %r2}, [%rd1];\nst.shared.v2.u32 [%r3], {%r1, %r2};\n" + barrier +
    use;
const std::string async_copy =
    "cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;\ncp.async.commit_group;\n"
    "cp.async.wait_group 0;\n";
const std::string bulk_copy =
    "mbarrier.init.shared::cta.b64 [%r1], %r2;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r1], [%rd1, {%r2, %r3}], [%r4];\n"
    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], %r5;\nld.shared.u32 %r6, [%r1];\n";
const std::string cluster =
    "mapa.shared::cluster.u32 %r1, %r2, %r3;\nbarrier.cluster.arrive.aligned;\n";

TEST(SignatureCheck, WantsTheInstructionsOfTheStrategyAndNoOthers) {
  expect_all({{baseline, 90, plain_copy},
              {register_bypass, 80, async_copy + barrier + use},
              {overlap, 80, async_copy + barrier + use},
              {drop_off, 80, async_copy + use + barrier},
              {tma, 90, bulk_copy},
              {dsm, 90, plain_copy + cluster},
              // Fallbacks are asked nothing.
              {overlap, 75, plain_copy},
              {tma, 80, ""},
              // Something is missing. Waiting and committing alone copy nothing.
              {baseline, 90, "st.shared.u32 [%r1], 0;\n", "ld.global"},
              {register_bypass, 80, use, "cp.async"},
              {register_bypass, 80, "cp.async.commit_group;\ncp.async.wait_all;\n" + use,
               "does not show cp.async"},
              {overlap, 80, "cp.async.cg.shared.global [%r1], [%rd1], 16;\n" + use,
               "cp.async.wait_group|"},
              {tma, 90, plain_copy, "cp.async.bulk"},
              {dsm, 90, plain_copy, "barrier.cluster"},
              // Something is foreign.
              {baseline, 90, plain_copy + async_copy, "must not"},
              {baseline, 90, plain_copy + "mapa.u64 %rd1, %rd2, %r1;\n", "must not"},
              {overlap, 90, async_copy + bulk_copy, "cp.async.bulk"},
              {drop_off, 90, async_copy + "barrier.cluster.arrive.aligned;\n", "barrier.cluster"},
              {tma, 90, bulk_copy + "mapa.u64 %rd1, %rd2, %r1;\n", "mapa"}});
}

TEST(SignatureCheck, FindsATileThatWentThroughRegisters) {
  constexpr std::string_view found = "as it was loaded";
  expect_all(
      {{register_bypass, 80, async_copy + plain_copy, found},
       {overlap, 80, async_copy + plain_copy, found},
       {tma, 90, bulk_copy + plain_copy, found},
       {overlap, 80, async_copy + "ld.u32 %r4, [%rd1];\nst.shared.u32 [%r5], %r4;\n", found},
       // Through moves, conversions, selections and packing; against the order of the text, as in a
       // loop.
       {overlap, 80,
        async_copy +
            "mov.b32 %r7, 0;\nagain:\nst.shared.b64 [%r8], %rd9;\nmov.b64 %rd9, {%r7, %r6};\n"
            "ld.relaxed.gpu.global.u32 %r4, [%rd1];\nmov.b32 %r5, %r4;\n"
            "selp.b32 %r6, %r5, 0, %p1;\nbra again;\n",
        "%rd9"},
       // The zero for what lies outside the grid does not hide it.
       {overlap, 80,
        async_copy + "mov.b32 %r1, 0;\nmov.b32 %r4, %r1;\n@%p1 bra outside;\n"
                     "ld.global.u32 %r4, [%rd1];\noutside:\nst.shared.u32 [%r5], %r4;\n",
        "%r4"},
       // State that a loop carries: loaded before it, computed in it.
       {overlap, 80,
        async_copy + "ld.global.u32 %r1, [%rd1];\nmov.b32 %r4, %r1;\nagain:\n"
                     "st.shared.u32 [%r5], %r4;\nadd.s32 %r2, %r4, 1;\nmov.b32 %r4, %r2;\n"
                     "@%p1 bra again;\n"},
       // Arithmetic makes it another value; an address is not a value.
       {overlap, 80,
        async_copy + "ld.global.u32 %r4, [%rd1];\nadd.s32 %r5, %r4, 1;\n"
                     "st.shared.u32 [%r4], %r5;\n"}});
}

TEST(SignatureCheck, FindsATileLoadedByGenericAddresses) {
  const std::string generic = "ld.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\n";
  const std::string loop = "again:\n" + generic + "add.s32 %r1, %r1, 1;\n@%p1 bra again;\n";
  // In a loop or written out, in whatever form, under a guard or not.
  for (const std::string& load : {loop, generic, std::string("ld.b32 %r1, [%rd1];\n"),
                                  std::string("@%p1 ld.volatile.f32 %f1, [%rd1+16];\n"),
                                  std::string("ld.relaxed.gpu.b64 %rd2, [%rd1];\n")}) {
    for (const auto& [s, own] : {std::pair{baseline, plain_copy},
                                 {tma, bulk_copy},
                                 {register_bypass, async_copy + use},
                                 {overlap, async_copy + use},
                                 {drop_off, async_copy + use}}) {
      expect_all({{s, 90, own}, {s, 90, own + load, "generic address"}});
    }
  }
  // With a state space it is none; a store is none; dsm may.
  expect_all({{baseline, 90,
               plain_copy + "ld.volatile.global.u32 %r1, [%rd1];\nld.param.u64 %rd1, [p];\n"
                            "ld.shared::cta.u32 %r1, [%r2];\nst.u32 [%rd1], %r1;\n"},
              {dsm, 90, loop + cluster + "st.shared.u32 [%r1], 0;\n"}});
}

TEST(SignatureCheck, FindsABlockBarrierBeforeASlotIsUsed) {
  constexpr std::string_view none = "uses no slot without a block barrier",
                             between = "a block barrier between the wait";
  const std::string again = "again:\n", repeat = "@%p2 bra again;\n";
  const std::string good_loop = again + async_copy + use + barrier + repeat;
  // A tile that the block shares may come behind a barrier where the slots have a wait of their
  // own, in the same loop and after it.
  const std::string tile = "cp.async.wait_group 1;\n" + barrier + use;
  expect_all(
      {{drop_off, 80, async_copy + barrier + use, none},
       {drop_off, 80, again + async_copy + "bra again;\n", none},
       {drop_off, 80, good_loop},
       // Before the loop a wait may be for what neighbours share, in the loop it may not.
       {drop_off, 80, async_copy + barrier + use + good_loop},
       {drop_off, 80, async_copy + use + again + async_copy + barrier + use + repeat, between},
       {drop_off, 80,
        good_loop + "more:\n" + async_copy +
            "@%p1 bra skip;\nbra.uni join;\nskip:\nret;\njoin:\nbarrier.sync 1, 64;\n" + use +
            "bra more;\n",
        between},
       {drop_off, 80, again + async_copy + tile + async_copy + use + repeat},
       {drop_off, 80, again + async_copy + use + async_copy + tile + repeat, between},
       {drop_off, 80, again + async_copy + tile + repeat + async_copy + use, between},
       {drop_off, 80,
        async_copy + use + again + async_copy + tile + async_copy + barrier + use + repeat,
        between},
       // The last wait of a loop is for its next turn, whatever stands behind the loop.
       {drop_off, 80, again + use + async_copy + repeat + barrier + "ret;\n", none},
       {drop_off, 80, async_copy + use + again + use + async_copy + repeat + barrier},
       {drop_off, 80, async_copy + use + again + barrier + use + async_copy + repeat + barrier,
        between},
       // A warp's own barrier is none of the block, and a wait that drains what is left
       // needs no use.
       {drop_off, 80, async_copy + "bar.warp.sync -1;\n" + use + "cp.async.wait_all;\n"}});
}

TEST(SignatureCheck, SeesEveryFunctionAndNeedsAKernelOfTiles) {
  const std::string clear = ".target sm_80\n.entry clear()\n{\nst.global.u32 [%rd1], 0;\nret;\n}\n";
  const std::string good = ".entry good()\n{\n" + async_copy + use + "ret;\n}\n";
  const std::string loads = ".target sm_90\n.entry kernel()\n{\n" + plain_copy + "ret;\n}\n";
  const struct {
    Strategy strategy;
    std::string text;
    std::string_view violation;
  } modules[] = {
      {overlap, clear + good, ""},
      {overlap, clear + good + ".entry bad()\n{\n" + use + "ret;\n}\n", "bad does not show"},
      {overlap, ".target sm_80\n", "no kernel"},
      {overlap, clear, "no kernel uses shared memory"},
      // Generic loads count in functions of a kernel, and not in a kernel without tiles.
      {baseline, loads + ".func tile(.param .b64 p)\n{\nld.f32 %f1, [%rd1];\nret;\n}\n",
       "tile, PTX line"},
      {baseline, loads + ".entry clear()\n{\nld.u32 %r1, [%rd1];\nret;\n}\n", ""},
  };
  for (const auto& m : modules) {
    SCOPED_TRACE(m.text);
    expect_violation(violations_of(ptx::parse(m.text), traits_of(m.strategy)), m.violation);
  }
}

}  // namespace
}  // namespace amasia
