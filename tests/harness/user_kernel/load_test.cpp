// What a description says, against the code that it names. The code is PTX, which is text.
#include "harness/user_kernel/load.hpp"

#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"
#include "harness/user_kernel/buffers.hpp"
#include "harness/user_kernel/user_app.hpp"
#include "inputs/errors.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

constexpr const char* ptx = R"(.version 8.0
.target sm_90
.address_size 64
.entry _Z5saxpyifPKfPf(.param .u32 a, .param .f32 b, .param .u64 c, .param .u64 d)
.maxntid 256
{ .shared .b8 tile[1024]; ret; }
.entry exact(.param .u64 a) .reqntid 64, 2, 1 { ret; }
)";

constexpr const char* description = R"(name = "loaded"
[parameters]
n = [1000, 5000]
[buffers.x]
type = "f32"
count = "n"
role = "input"
fill = "uniform"
[buffers.y]
type = "f32"
count = "n"
role = "output"
[[implementation]]
name = "old"
file = "k.ptx"
kernel = "saxpy"
grid = "(n + 255) / 256"
block = 256
arguments = [{ i32 = "n" }, { f32 = 2 }, "x", "y"]
[[implementation]]
name = "new"
file = "k.ptx"
kernel = "exact"
grid = 4
block = [64, 2]
arguments = ["y"]
)";

class LoadUserApp : public testing::Test {
 protected:
  LoadUserApp() { write_text(folder_ / "k.ptx", ptx); }

  UserApp loaded(std::string text = description) {
    write_text(path(), text);
    return load_user_app(read_description(path()));
  }
  /// The message when a part of the description is replaced; without the folder.
  std::string objection_to(const std::string& part, const std::string& other) {
    std::string said = message_of<UsageError>([&] { loaded(replaced(description, part, other)); });
    for (std::size_t i; (i = said.find(folder_ / "")) != std::string::npos;) {
      said.erase(i, (folder_ / "").size());
    }
    return said;
  }
  std::string path() const { return folder_ / "b.toml"; }

  TemporaryFolder folder_{};
};

TEST_F(LoadUserApp, IsAnAppWithADigestOfEachImplementation) {
  const UserApp app = loaded();
  EXPECT_EQ(app.name, "loaded");
  EXPECT_EQ(app.sizes.size(), 2u);
  EXPECT_EQ(app.implementations[1].place, path() + ":20");
  EXPECT_EQ(app.implementations[0].code, folder_ / "k.ptx");
  EXPECT_EQ(app.device_bytes(app.sizes[0]),
            std::int64_t{3 * 4000 + 6 * guard_bytes + 2 * slack_bytes})
      << "what is read has a pristine copy";
  const std::string before = app.implementations[0].digest;
  EXPECT_EQ(before.size(), 64u);
  EXPECT_EQ(loaded().implementations[0].digest, before);
  write_text(folder_ / "k.ptx", std::string(ptx) + "\n");
  EXPECT_NE(loaded().implementations[0].digest, before);
}

TEST_F(LoadUserApp, FindsWhatContradictsTheCode) {
  const struct {
    const char *part, *other, *says;
  } cases[] = {
      {"kernel = \"saxpy\"", "kernel = \"saxpi\"",
       "16: k.ptx has no kernel 'saxpi': there are saxpy, exact"},
      {"{ f32 = 2 }, ", "",
       "16: kernel 'saxpy' of k.ptx takes 4 parameters (4, 4, 8, 8 bytes), 3 arguments are given"},
      {"{ f32 = 2 }", "{ f64 = 2 }",
       "19: argument 2 of kernel 'saxpy' has 8 bytes (f64), the kernel's parameter has 4"},
      {"{ i32 = \"n\" }", "\"x\"",
       "19: argument 1 of kernel 'saxpy' has 8 bytes (buffer 'x'), the kernel's parameter has 4"},
      {"grid = 4", "grid = 0", "24: 0 is less than 1"},
      {"{ i32 = \"n\" }", "{ i32 = \"n * 1000000\" }",
       "19: n * 1000000 is 5000000000, which no i32 holds"},
      {"file = \"k.ptx\"", "file = \"no.ptx\"", "13: cannot read no.ptx: No such file"},
      {"file = \"k.ptx\"", "file = \"b.toml\"", "13: b.toml is neither a cubin nor PTX"},
      {"count = \"n\"", "count = \"n * 1000000000000000\"", "6: "},
      {"type = \"f32\"\ncount = \"n\"\nrole = \"input\"\nfill = \"uniform\"",
       "type = \"i8\"\ncount = \"n\"\nrole = \"input\"\nfill = \"index\"",
       "4: the last index of buffer 'x' is 999 (at n=1000), which no i8 holds"},
  };
  for (const auto& c : cases) {
    const std::string said = objection_to(c.part, c.other);
    EXPECT_TRUE(said.starts_with(std::string("b.toml:") + c.says)) << said;
  }
}

/// Nothing is read, and no digest is made, before the length is known to be right.
TEST_F(LoadUserApp, FilesAreRegularAndAsLongAsTheirBuffersAtEverySize) {
  write_text(folder_ / "x.bin", std::string(4000, '\0'));
  EXPECT_EQ(objection_to("fill = \"uniform\"", "file = \"x.bin\""),
            "b.toml:4: x.bin has 4000 bytes, buffer 'x' (at n=5000) takes 20000");
  EXPECT_EQ(objection_to("role = \"output\"", "role = \"output\"\nexpected = \"x.bin\""),
            "b.toml:9: x.bin has 4000 bytes, what is expected in 'y' (at n=5000) takes 20000");
  std::filesystem::create_directory(folder_ / "folder");
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  const struct {
    const char *file, *says;
  } cases[] = {{"folder", "folder: it is a folder, a regular file is needed"},
               {"fifo", "fifo: it is a pipe, a regular file is needed"},
               {"/dev/zero", "/dev/zero: it is a device, a regular file is needed"}};
  for (const auto& c : cases) {
    const std::string file = "file = \"" + std::string(c.file) + "\"";
    EXPECT_EQ(objection_to("fill = \"uniform\"", file),
              "b.toml:4: cannot read " + std::string(c.says));
    EXPECT_EQ(objection_to("file = \"k.ptx\"", file),
              "b.toml:13: cannot read " + std::string(c.says));
  }
}

TEST_F(LoadUserApp, AChildLoadsTheSameOrNothing) {
  std::string digest;
  {
    const UserRegistration registration = register_user_app(loaded());
    digest = digest_of_user_app("loaded");
    load_user_app_again("loaded", path(),
                        "whatever");  // it is there, as in a run without child processes
  }
  EXPECT_EQ(find_app("loaded"), nullptr);
  EXPECT_TRUE(variants_of("loaded").empty());
  EXPECT_EQ(find_instance_factory("loaded"), nullptr);
  EXPECT_EQ(source_digest("loaded/baseline"), "");
  write_text(folder_ / "k.ptx", std::string(ptx) + " ");
  EXPECT_TRUE(
      contains(message_of<UsageError>([&] { load_user_app_again("loaded", path(), digest); }),
               "changed while it was measured"));
}

}  // namespace
}  // namespace amasia
