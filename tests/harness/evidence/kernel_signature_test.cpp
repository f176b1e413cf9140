#include "harness/evidence/kernel_signature.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "inputs/errors.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

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
  EXPECT_EQ(file.kernels[0].most_threads, 512u);
  EXPECT_EQ(file.kernels[1].parameters, (std::vector<std::size_t>{8, 48, 2}));
  EXPECT_EQ(file.kernels[1].exact_block, (std::vector<std::uint64_t>{32, 4, 2}));
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
  EXPECT_EQ(file.kernels[0].most_threads, 64u);
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

/// A cubin with one kernel `k`, whose .nv.info holds these bytes.
std::string made_cubin(const std::string& info, unsigned flags, std::size_t shared) {
  const std::string names("\0.shstrtab\0.text.k\0.nv.info.k\0.nv.shared.k\0", 44);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = 190;
  header.e_flags = flags;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 1;
  header.e_shoff = sizeof header + names.size() + info.size();
  Elf64_Shdr sections[5] = {};
  sections[1] = {1, SHT_STRTAB, 0, 0, sizeof header, names.size(), 0, 0, 1, 0};
  sections[2] = {11, SHT_PROGBITS, 0, 0, sizeof header, 0, 0, 0, 1, 0};
  sections[3] = {19, SHT_LOPROC, 0, 0, sizeof header + names.size(), info.size(), 0, 0, 1, 0};
  sections[4] = {30, SHT_NOBITS, 0, 0, 0, shared, 0, 0, 1, 0};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += names + info;
  return bytes + std::string(reinterpret_cast<const char*>(sections), sizeof sections);
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
  const CodeFile file = read_code_file(made_cubin(info, 0x6005a04, 3072));
  EXPECT_EQ(file.kind, CodeFile::Kind::cubin);
  EXPECT_EQ(file.architecture, 90);
  ASSERT_EQ(file.kernels.size(), 1u);
  EXPECT_EQ(file.kernels[0].name, "k");
  EXPECT_EQ(file.kernels[0].parameters, (std::vector<std::size_t>{4, 8}));
  EXPECT_EQ(file.kernels[0].most_threads, 256u);
  EXPECT_EQ(file.kernels[0].static_shared_bytes, 2048u) << "1 KiB of it is the driver's";
  const CodeFile older = read_code_file(made_cubin(info_record(0x10, {32, 8, 1}), 0x500556, 3072));
  EXPECT_EQ(older.architecture, 86) << "CUDA 12 and before: in the lowest byte";
  EXPECT_EQ(older.kernels[0].exact_block, (std::vector<std::uint64_t>{32, 8, 1}));
  EXPECT_EQ(older.kernels[0].static_shared_bytes, 3072u);
}

TEST(KernelSignature, WhatIsCutIsRefusedAndNeverReadBeyond) {
  const std::string whole = made_cubin(info_record(0x17, {0, 0, 4 << 18}), 0x6005a04, 0);
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
