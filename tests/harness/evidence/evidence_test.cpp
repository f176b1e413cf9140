#include <elf.h>

#include "harness/evidence/cubins.hpp"
#include "harness/evidence/evidence.hpp"
#include "harness/evidence/ptx.hpp"
#include "inputs/errors.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

namespace fs = std::filesystem;
using Counts = std::map<std::string, int>;

const std::string golden = AMASIA_SOURCE_DIR "/tests/golden/evidence/";

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  write_text(path, text);
}

// --- counting

int count(const Counts& counts, const std::string& operation) {
  const auto found = counts.find(operation);
  return found == counts.end() ? 0 : found->second;
}

// Lines of a listing by cuobjdump 13.2; the counts were taken from it by hand.
TEST(SassCounts, OfHopper) {
  const auto code = CodeEvidence::from_sass(read_text(golden + "kernels.sm_90.sass"));
  ASSERT_EQ(code.kernels().size(), 2U);
  EXPECT_EQ(code.of("asynchronous").source, "sass");
  // The "@!PT LDS RZ, [RZ]" before the copies never executes.
  EXPECT_EQ(code.of("asynchronous").instructions, (Counts{{"total", 8},
                                                          {"LDGSTS", 2},
                                                          {"LDGSTS.128", 1},
                                                          {"BAR", 1},
                                                          {"LDS", 1},
                                                          {"LDS.128", 1},
                                                          {"STG", 1}}));
  EXPECT_EQ(code.of("bulk").instructions, (Counts{{"total", 8},
                                                  {"UTMALDG", 1},
                                                  {"UBLKCP", 1},
                                                  {"UTMASTG", 1},
                                                  {"UBLKRED", 1},
                                                  {"SYNCS", 1}}));
}

TEST(SassCounts, TotalIsAllButPaddingAndDeadCode) {
  const auto code = CodeEvidence::from_sass(
      "\t\tFunction : k\r\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;   /* 0x00000a00ff017b82 */\n"
      "                                                            /* 0x000fe20000000800 */\n"
      "        /*0010*/              @!PT LDS RZ, [RZ] ;           /* 0x0 */\n"
      "        /*0020*/               @P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ; /* 0x0 */\n"
      "        /*0030*/                   @!UP0 UTMALDG.2D.MULTICAST [UR4], [UR8], UR10 ;\n"
      "        /*0040*/                   { FFMA R1, R1, R2, R3 ;  /* 0x0 */\n"
      "        /*0050*/                   ERRBAR;                  /* 0x0 */\n"
      "        /*0060*/                   NOP;                     /* 0x0 */\n"
      "\t\t..........\n\n\n");
  EXPECT_EQ(code.of("k").instructions, (Counts{{"total", 5},
                                               {"LDG", 1},
                                               {"LDG.128", 1},
                                               {"UTMALDG", 1},
                                               {"UTMALDG.MULTICAST", 1},
                                               {"FFMA", 1}}));
}

TEST(SassCounts, TheTimedLoopIsTheLargestWithoutATimer) {
  const auto code = CodeEvidence::from_sass(
      "Function : k\n"
      "/*0000*/ CS2R R2, SRZ ;\n"
      "/*0010*/ S2UR UR4, SR_GLOBALTIMERLO ;\n"  // the walks
      "/*0020*/ FMUL.FTZ R1, R1, R2 ;\n"         // what one repeats
      "/*0030*/ POPC R3, R3 ;\n"                 // a loop in it
      "/*0040*/ @P1 BRA 0x30 ;\n"
      "/*0050*/ FMUL.FTZ R1, R1, R2 ;\n"
      "/*0060*/ @P0 BRA 0x20 ;\n"
      "/*0070*/ S2UR UR4, SR_GLOBALTIMERLO ;\n"
      "/*0080*/ @P2 BRA 0x10 ;\n"
      "/*0090*/ EXIT ;\n");
  EXPECT_EQ(code.of("k").timed, (Counts{{"FMUL.FTZ", 2}, {"POPC", 1}, {"BRA", 2}}));
}

TEST(Ptx, ReadsFunctionsLabelsGuardsAndOperands) {
  const ptx::Module module = ptx::parse(
      "// .entry commented()\n.version 9.0\n.target sm_90a, debug\n.address_size 64\n"
      ".extern .func (.param .b32 r) vprintf (.param .b64 a);\n"
      ".func (.param .b32 result) helper(.param .b32 a)\n{\nret;\n}\n"
      ".visible .entry _Z1kPi(\n\t.param .u64 p /* } */\n)\n.maxntid 256, 1, 1\n{\n"
      "\t.reg .b32 \t%r<3>;\n\t.shared .align 4 .b8 s[16];\n"
      "\t.loc\t1 3 5, function_name $L__info_string0, inlined_at 1 2 3\n"
      "$L__BB0_1:\n\t@%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+16];\n"
      "\t{\n\t.reg .pred done;\n\tagain:\n"
      "\tmbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2; @!done bra again;\n\t}\n"
      "\tret;\n}\n"
      "\t.section .debug_str\n\t{\n$L__info_string0:\n\t.b8 95,90\n\t}\n"
      ".entry second()\n{\nbar.sync \t0;\n");  // ends without a brace
  EXPECT_EQ(module.target, 90);
  ASSERT_EQ(module.functions.size(), 3U);
  EXPECT_EQ(module.functions[0].name, "helper");
  EXPECT_FALSE(module.functions[0].entry);

  const ptx::Function& k = module.functions[1];
  EXPECT_EQ(k.name, "_Z1kPi");
  EXPECT_TRUE(k.entry);
  ASSERT_EQ(k.body.size(), 6U);
  EXPECT_EQ(k.body[0].label, "$L__BB0_1");
  EXPECT_EQ(k.body[1].guard, "@%p1");
  EXPECT_EQ(k.body[1].opcode, "ld.global.v2.u32");
  EXPECT_EQ(k.body[1].operands, (std::vector<std::string>{"{%r1, %r2}", "[%rd1+16]"}));
  EXPECT_EQ(k.body[1].line, 19);
  EXPECT_EQ(k.body[2].label, "again");
  EXPECT_EQ(k.body[3].opcode, "mbarrier.try_wait.parity.shared::cta.b64");
  EXPECT_EQ(k.body[4].guard, "@!done");
  EXPECT_EQ(k.body[4].operands, (std::vector<std::string>{"again"}));
  EXPECT_EQ(k.body[5].opcode, "ret");

  EXPECT_EQ(module.functions[2].name, "second");
  ASSERT_EQ(module.functions[2].body.size(), 1U);
}

TEST(Ptx, NamesOperations) {
  const std::map<std::string, std::string> expected{
      {"ld.relaxed.gpu.global.u32", "ld.global"},
      {"ld.volatile.shared.u32", "ld.shared"},
      {"ld.shared::cta.u32", "ld.shared"},
      {"ld.shared::cluster.s32", "ld.shared::cluster"},
      {"ld.u32", "ld"},
      {"ld.global.nc.L1::no_allocate.v4.u32", "ld.global"},
      {"atom.shared.add.u32", "atom.shared"},
      {"red.global.add.u32", "red.global"},
      {"cp.async.ca.shared.global", "cp.async"},
      {"cp.async.commit_group", "cp.async.commit_group"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "cp.async.bulk"},
      {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", "cp.async.bulk.tensor"},
      {"cp.async.bulk.wait_group.read", "cp.async.bulk.wait_group"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", "cp.reduce.async.bulk"},
      {"barrier.cluster.arrive.release.aligned", "barrier.cluster.arrive"},
      {"barrier.sync.aligned", "barrier.sync"},
      {"bar.warp.sync", "bar.warp"},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32", "st.async"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "wgmma.mma_async"},
      {"wgmma.fence.sync.aligned", "wgmma.fence"},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "wmma.mma"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "mma"},
      {"griddepcontrol.wait", "griddepcontrol.wait"},
      {"griddepcontrol.launch_dependents", "griddepcontrol.launch_dependents"},
      {"fma.rn.f32", "fma"},
      {"ret", "ret"},
  };
  for (const auto& [opcode, operation] : expected) {
    EXPECT_EQ(ptx::operation_of(opcode), operation) << opcode;
  }
}

// --- finding the code

const std::string listing = "cat '" + golden + "kernels.sm_90.sass'\n";

// A folder with an executable and a cuobjdump that is a script made by the test.
class CodeOfAnExecutable : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"CUOBJDUMP", "PATH", "CUDA_HOME", "CUDA_PATH"}) {
      const char* value = std::getenv(name);
      saved_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
    }
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
  }
  void use_cuobjdump(const std::string& script) const {
    const fs::path program = folder_ / "tools" / "cuobjdump";
    write_file(program,
               "#!/bin/sh\necho \"$@\" >> '" + (folder_ / "calls").string() + "'\n" + script);
    ASSERT_EQ(chmod(program.c_str(), 0755), 0);
    setenv("CUOBJDUMP", program.c_str(), 1);
  }
  /// A cuobjdump that lists the same of any module, and keeps what it was given.
  void keep_modules() const {
    use_cuobjdump("case \"$2\" in *.cubin) cat \"$2\" >> '" + (folder_ / "given").string() +
                  "';; esac\n" + listing);
  }
  std::string calls() const { return read_text(folder_ / "calls"); }
  std::string executable() const { return folder_ / "amasia"; }

  const TemporaryFolder of_test_{};
  const fs::path folder_ = of_test_.path();
  std::map<std::string, std::optional<std::string>> saved_;
};

TEST_F(CodeOfAnExecutable, ComesFromTheDisassembler) {
  use_cuobjdump(listing);
  CodeEvidence code(executable(), 90);
  code.read({"bulk"});
  EXPECT_EQ(code.reason(), "");
  EXPECT_EQ(code.of("bulk").source, "sass");
  EXPECT_EQ(calls(), "-sass -arch sm_90 " + executable() + "\n");
  code.read({"_Z4nonev"});
  EXPECT_EQ(code.of("_Z4nonev").source, "none: the machine code has no such kernel");
}

constexpr unsigned sm_90 = 0xa005a04, sm_80 = 0xa005004;  // flags of an ELF file

/// An ELF file as nvcc makes them: sections for each kernel, .nv.info with these bytes.
std::string made_cubin(unsigned flags, const std::vector<std::string>& kernels,
                       const std::string& info = "", std::size_t shared = 0) {
  Elf64_Ehdr header{};
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> sections(1);
  const auto add = [&](const std::string& name, Elf64_Word type, std::size_t size) {
    const auto at = static_cast<Elf64_Word>(names.size());
    sections.push_back({at, type, 0, 0, sizeof header, size, 0, 0, 1, 0});
    names += name + '\0';
  };
  for (const std::string& kernel : kernels) {
    add(".text." + kernel, SHT_PROGBITS, 0);
    add(".nv.info." + kernel, SHT_LOPROC, info.size());
    add(".nv.shared." + kernel, SHT_NOBITS, shared);
  }
  add(".shstrtab", SHT_STRTAB, 0);
  sections.back().sh_offset += info.size();
  sections.back().sh_size = names.size();
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = 190;
  header.e_flags = flags;
  header.e_shoff = sizeof header + info.size() + names.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + info + names +
         std::string(reinterpret_cast<const char*>(sections.data()),
                     sections.size() * sizeof(Elf64_Shdr));
}

TEST_F(CodeOfAnExecutable, IsListedModuleByModule) {
  keep_modules();
  const std::string ours = made_cubin(sm_90, {"bulk", "asynchronous"});
  write_file(executable(), "code" + made_cubin(sm_80, {"bulk"}) +
                               "\x7f"
                               "ELF" +
                               ours + "data" + made_cubin(sm_90, {"other"}));
  CodeEvidence code(executable(), 90);
  code.read({"bulk"});
  EXPECT_EQ(code.of("bulk").source, "sass");
  EXPECT_EQ(read_text(folder_ / "given"), ours);  // one of three modules, to the byte
  code.read({"asynchronous"});
  EXPECT_EQ(code.of("asynchronous").source, "sass");
  EXPECT_EQ(read_text(folder_ / "given"), ours);  // listed already
  code.read({"of no module"});
  EXPECT_EQ(calls().find("-arch"), std::string::npos);
  EXPECT_FALSE(fs::exists(calls().substr(6, calls().find('\n') - 6)));  // "-sass <module>"
}

TEST_F(CodeOfAnExecutable, ModulesOfANamespaceAreReadAhead) {
  keep_modules();
  const std::string wanted = made_cubin(sm_90, {"bulk", "_ZN6amasia4gemm1kEv"});
  write_file(executable(), made_cubin(sm_90, {"_ZN6amasia3lud1kEv"}) + wanted +
                               made_cubin(sm_80, {"_ZN6amasia4gemm1kEv"}));
  CodeEvidence code(executable(), 90);
  code.read_ahead({"gemm", "histogram"});
  EXPECT_EQ(read_text(folder_ / "given"), wanted);
  code.read({"bulk"});
  EXPECT_EQ(code.of("bulk").source, "sass");
  EXPECT_EQ(read_text(folder_ / "given"), wanted);  // and not again
}

TEST_F(CodeOfAnExecutable, HalfAListingIsNone) {
  use_cuobjdump("head -n 40 '" + golden + "kernels.sm_90.sass'\nkill -9 $$\n");
  CodeEvidence code(executable(), 90);
  code.read({"bulk"});
  EXPECT_TRUE(code.kernels().empty());
  EXPECT_NE(code.of("bulk").source.find("lists no machine code for sm_90"), std::string::npos);
}

TEST_F(CodeOfAnExecutable, TheDisassemblerIsLookedForWhereItIsUsuallyFound) {
  use_cuobjdump("exit 1\n");
  const fs::path bin = folder_ / "cuda" / "bin", nvcc = bin / "nvcc";
  EXPECT_EQ(find_cuobjdump(), folder_ / "tools" / "cuobjdump");
  fs::create_directories(folder_ / "cuda");
  fs::rename(folder_ / "tools", bin);
  unsetenv("CUOBJDUMP");
  setenv("PATH", ("/nonexistent::" + bin.string()).c_str(), 1);
  EXPECT_EQ(find_cuobjdump(), bin / "cuobjdump");
  setenv("PATH", "/nonexistent", 1);
  setenv("CUDA_HOME", (folder_ / "cuda").c_str(), 1);
  EXPECT_EQ(find_cuobjdump(), bin / "cuobjdump");
  // Beside nvcc, through the link by which nvcc is on the path.
  unsetenv("CUDA_HOME");
  write_file(nvcc, "#!/bin/sh\n");
  ASSERT_EQ(chmod(nvcc.c_str(), 0755), 0);
  fs::create_directories(folder_ / "links");
  fs::create_symlink(nvcc, folder_ / "links" / "nvcc");
  setenv("PATH", (folder_ / "links").c_str(), 1);
  EXPECT_EQ(fs::canonical(find_cuobjdump()), fs::canonical(bin / "cuobjdump"));
}

// --- the ceilings count what their kernels do

/// Kernels of the ceilings in each PTX module that the build kept, whether it compiles them a file
/// each or together with others.
std::vector<std::pair<std::string, Counts>> kept_ceilings() {
  std::vector<std::pair<std::string, Counts>> kept;
  const fs::path folder = AMASIA_BINARY_DIR "/code/microbench";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    const std::string text = read_text(entry.path());
    if (text.find("8ceilings") == std::string::npos) continue;
    const auto code = CodeEvidence::from_ptx(text);
    for (const auto& [kernel, evidence] : code.kernels()) {
      if (kernel.find("8ceilings") != std::string::npos) {
        kept.emplace_back(kernel, evidence.instructions);
      }
    }
  }
  return kept;
}

TEST(CeilingKernels, DoWhatTheirRatesCount) {
  if (!AMASIA_CEILINGS_ARE_BUILT) GTEST_SKIP() << "a build without the ceilings";
  const auto kept = kept_ceilings();
  const auto expect = [&](const char* part, const Counts& operations) {
    int modules = 0;
    for (const auto& [kernel, counts] : kept) {
      if (kernel.find(part) == std::string::npos) continue;
      ++modules;
      for (const auto& [operation, n] : operations) {
        EXPECT_EQ(count(counts, operation), n) << kernel << ": " << operation;
      }
    }
    EXPECT_GT(modules, 0) << "no PTX of the ceilings has a kernel " << part;
  };
  // 8 chains x 32 links an iteration, and the chain of 64 whose latency is taken.
  expect("FusedMultiplyAddELi8ELi32E", {{"fma", 256}, {"min", 0}});
  expect("AddMinimumELi8ELi32E", {{"min", 256}});
  expect("FusedMultiplyAddELi1ELi64E", {{"fma", 64}});
  expect("AddMinimumELi1ELi64E", {{"min", 64}});
  expect("10read_words", {{"ld.global", 1}, {"st.global", 1}});
  expect("11write_words", {{"ld.global", 0}, {"st.global", 1}});
  expect("10copy_words", {{"ld.global", 1}, {"st.global", 1}});
  expect("11triad_words", {{"ld.global", 2}, {"st.global", 1}, {"fma", 4}});
  expect("11read_cached", {{"ld.global", 2}});
  expect("11read_shared", {{"ld.shared", 8}});
}

TEST(Evidence, CountsWhatALoopHoldsApartFromWhatWasHoisted) {
  // As ptxas leaves it: one load before the loop at 0x10..0x30, one in it, a branch to itself
  // behind.
  const std::string text =
      "\t\tFunction : _Z4loopv\n"
      "        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;     /* 0x1 */\n"
      "        /*0010*/                   LDG.E R4, desc[UR4][R2.64] ;     /* 0x2 */\n"
      "                                                                     /* 0x3 */\n"
      "        /*0020*/                   IADD3 R0, R0, 0x20, RZ ;         /* 0x4 */\n"
      "        /*0030*/              @!P0 BRA 0x10 ;                       /* 0x5 */\n"
      "        /*0040*/                   LDG.E R5, desc[UR4][R2.64] ;     /* 0x6 */\n"
      "        /*0050*/                   EXIT ;                           /* 0x7 */\n"
      "        /*0060*/                   BRA 0x60;                        /* 0x8 */\n";
  const CodeEvidence::Kernel once = CodeEvidence::from_sass(text).of("_Z4loopv");
  EXPECT_EQ(once.instructions.at("LDG"), 3);
  EXPECT_EQ(once.in_loops.at("LDG"), 1);
  EXPECT_EQ(once.in_loops.at("IADD3"), 1);
  // Defined by two object files: listed twice, counted once.
  const CodeEvidence::Kernel twice = CodeEvidence::from_sass(text + text).of("_Z4loopv");
  EXPECT_EQ(twice.instructions, once.instructions);
  EXPECT_EQ(twice.in_loops, once.in_loops);
}

constexpr const char* signatures_ptx = R"(
// a comment with .entry in it
.version 8.0
.target sm_86 /* .entry nothing( */
.address_size 64
.extern .shared .align 16 .b8 tile[];
.func (.param .b32 result) helper(.param .b32 a) { .reg .b32 %r; ret; }
.visible .entry saxpy(
  .param .u32 saxpy_param_0,
  .param .f32 saxpy_param_1,
  .param .u64 .ptr .global .align 4 saxpy_param_2,
  .param .u64 saxpy_param_3
)
.maxntid 256, 2
.minnctapersm 2
{ .reg .pred %p<2>; { ret; } }
.entry _ZN3lib5twiceIfEEvPT_(.param .u64 a, .param .align 8 .b8 b[48], .param .u16 c)
.reqntid 32, 4, 2 { ret; }
.entry _ZN3lib5twiceIdEEvPT_(.param .u64 a) { ret; }
.entry nothing() { ret; }
)";

TEST(KernelSignature, PtxSaysWhatAKernelTakes) {
  const CodeFile file = read_code_file(signatures_ptx);
  EXPECT_EQ(file.kind, CodeFile::Kind::ptx);
  EXPECT_EQ(file.architecture, 86);
  ASSERT_EQ(file.kernels.size(), 4u);
  EXPECT_EQ(file.kernels[0].name, "saxpy");
  EXPECT_EQ(file.kernels[0].parameters, (std::vector<std::size_t>{4, 4, 8, 8}));
  EXPECT_EQ(file.kernels[1].parameters, (std::vector<std::size_t>{8, 48, 2}));
  EXPECT_TRUE(file.kernels[3].parameters.empty());
}

TEST(KernelSignature, APragmaBeforeTheBodyHidesNoKernel) {
  const CodeFile file = read_code_file(R"(.version 8.0
.target sm_90
.pragma "of the { // module";
.entry one(.param .u64 a) .pragma "nounroll; {"; .maxntid 64 .pragma "next"; { ret; }
.entry declared(.param .u64 a) .pragma "nounroll";;
.entry two() { .pragma "}"; ret; }
)");
  ASSERT_EQ(file.kernels.size(), 2u);
  EXPECT_EQ(file.kernels[0].name, "one");
  EXPECT_EQ(file.kernels[1].name, "two");
}

TEST(KernelSignature, AKernelIsMeantByItsNameInTheSource) {
  const CodeFile file = read_code_file(signatures_ptx);
  std::string reason;
  ASSERT_NE(file.find("saxpy", reason), nullptr);
  ASSERT_NE(file.find("lib::twice<float>", reason), nullptr);
  EXPECT_EQ(file.find("twice<double>", reason), &file.kernels[2]);
  EXPECT_EQ(file.find("_ZN3lib5twiceIfEEvPT_", reason), &file.kernels[1]);
  EXPECT_EQ(file.find("twice", reason), nullptr);
  EXPECT_EQ(reason, "it may be _ZN3lib5twiceIfEEvPT_, _ZN3lib5twiceIdEEvPT_: give one of these");
  EXPECT_EQ(file.find("saxpi", reason), nullptr);
  EXPECT_EQ(reason, "there are saxpy, lib::twice<float>, lib::twice<double>, nothing");
}

std::string info_record(char attribute, std::initializer_list<std::uint32_t> words) {
  std::string text{4, attribute, static_cast<char>(4 * words.size()), 0};
  for (const std::uint32_t word : words) {
    text.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return text;
}

TEST(KernelSignature, ACubinSaysTheSame) {
  // Parameters stand last first; a record of two bytes is in between.
  const std::string info =
      info_record(0x17, {0, 1 | 8 << 16, 8 << 18 | 0x1f000}) + std::string("\x03\x1b\xff\x00", 4) +
      info_record(0x17, {0, 0, 4 << 18 | 0x1f000}) + info_record(0x05, {128, 2, 1});
  const CodeFile file = read_code_file(made_cubin(sm_90, {"k"}, info, 3072));
  EXPECT_EQ(file.kind, CodeFile::Kind::cubin);
  EXPECT_EQ(file.architecture, 90);
  ASSERT_EQ(file.kernels.size(), 1u);
  EXPECT_EQ(file.kernels[0].name, "k");
  EXPECT_EQ(file.kernels[0].parameters, (std::vector<std::size_t>{4, 8}));
  const CodeFile older = read_code_file(made_cubin(0x500556, {"k"}, info_record(0x10, {32, 8, 1})));
  EXPECT_EQ(older.architecture, 86) << "CUDA 12 and before: in the lowest byte";
}

TEST(KernelSignature, WhatIsCutIsRefusedAndNeverReadBeyond) {
  const std::string whole = made_cubin(sm_90, {"k"}, info_record(0x17, {0, 0, 4 << 18}));
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const std::string cut(whole.substr(0, size));
    EXPECT_TRUE(contains(message_of<UsageError>([&] { read_code_file(cut); }), "a cubin"));
  }
  EXPECT_TRUE(
      contains(message_of<UsageError>([] { read_code_file(""); }), "neither a cubin nor PTX"));
  EXPECT_TRUE(contains(message_of<UsageError>([] { read_code_file("#!/bin/sh"); }), "nor PTX"));
  EXPECT_TRUE(read_code_file(".version").kernels.empty());
  EXPECT_TRUE(read_code_file(".version 8.0 .entry").kernels.size() <= 1);
}

}  // namespace
}  // namespace amasia
