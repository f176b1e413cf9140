#include "harness/user_kernel/description.hpp"
#include "harness/user_kernel/element.hpp"
#include "inputs/errors.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

const std::string whole_description = R"(name = "saxpy"
summary = "y = a x + y"
reference = "old"

[parameters]
n = [1000, 2000]
tile = 32

[buffers.x]
type = "f32"
count = "n"
role = "input"
fill = "uniform"
low = -1
high = 1

[buffers.y]
type = "f32"
count = "n + 1"
role = "in place"
fill = "constant"
value = 0.5
tolerance = { relative = 1e-6 }

[buffers.hints]
type = "u16"
count = 4
role = "input"
file = "data/hints.bin"

[[implementation]]
name = "new"
file = "new.cubin"
kernel = "saxpy"
grid = "(n + 255) / 256"
block = [32, 8]
shared = "tile * 4"
cluster = 2
arguments = [{ i32 = "n" }, { f32 = 2.5 }, "x", "y"]

[[implementation]]
name = "old"
library = "/opt/libold.so"
[[implementation.launch]]
function = "first"
arguments = ["x"]
[[implementation.launch]]
function = "second"
arguments = ["y", "hints", { f64 = "n" }]

[work]
operations = "2 * n"
bytes_read = "8 * n"
bytes_written = "4 * n"
)";

std::string refusal_of(const std::string& text) {
  return message_of<UsageError>([&] { parse_description(text, "dir/saxpy.toml"); });
}

/// The message when a line of whole_description is replaced.
std::string refusal_with(const std::string& line, const std::string& other) {
  return refusal_of(replaced(whole_description, line, other));
}

TEST(Description, SaysAllOfIt) {
  const Description d = parse_description(whole_description, "dir/saxpy.toml");
  EXPECT_EQ(d.name, "saxpy");
  ASSERT_EQ(d.sizes().size(), 2u);
  EXPECT_EQ(d.sizes()[1].to_string(), "n=2000,tile=32");
  ASSERT_EQ(d.buffers.size(), 3u);
  EXPECT_EQ(d.buffers[0].name, "x");
  EXPECT_EQ(d.buffers[0].line, 9);
  EXPECT_EQ(d.buffers[0].low, -1);
  EXPECT_EQ(d.buffers[1].role, BufferRole::in_place);
  EXPECT_EQ(d.buffers[1].norm, Norm::relative);
  EXPECT_EQ(d.buffers[1].tolerance, 1e-6);
  EXPECT_EQ(d.value(d.buffers[1].count, d.sizes()[0]), 1001);
  EXPECT_EQ(d.buffers[2].file, "dir/data/hints.bin") << "from the folder of the description";
  ASSERT_EQ(d.implementations.size(), 2u);
  EXPECT_EQ(d.implementations[0].name, "new") << "the first is the baseline";
  EXPECT_EQ(d.reference, 1u);
  const LaunchDescription& launch = d.implementations[0].launches.at(0);
  EXPECT_EQ(d.value(launch.grid[0], d.sizes()[0]), 4);
  EXPECT_EQ(d.value(launch.block[1], d.sizes()[0]), 8);
  EXPECT_EQ(d.value(launch.block[2], d.sizes()[0]), 1);
  EXPECT_EQ(d.value(launch.shared, d.sizes()[0]), 128);
  EXPECT_EQ(launch.arguments.at(1).real, 2.5);
  EXPECT_EQ(launch.arguments.at(3).buffer, 1u);
  EXPECT_TRUE(d.implementations[1].is_library);
  EXPECT_EQ(d.implementations[1].file, "/opt/libold.so");
  EXPECT_EQ(d.implementations[1].launches.size(), 2u);
  ASSERT_TRUE(d.work);
  EXPECT_EQ(d.value(d.work->operations, d.sizes()[1]), 4000);
}

TEST(Description, NamesTheLineAndWhatWasExpectedThere) {
  EXPECT_TRUE(contains(refusal_of("name = \n"), "dir/saxpy.toml:1: "));
  EXPECT_TRUE(contains(refusal_of("name = \"a\"\nname = \"b\"\n"), "dir/saxpy.toml:2: "));
  const struct {
    const char *line, *other, *says;
  } cases[] = {
      {"name = \"saxpy\"", "name = \"a/b\"", ":1: name 'a/b': letters, digits"},
      {"name = \"saxpy\"", "", ":1: the file needs 'name'"},
      {"summary =", "sumary =", ":2: the file has no 'sumary': did you mean summary?"},
      {"reference = \"old\"", "reference = \"odl\"",
       ":3: reference 'odl' is no implementation: did you mean old?"},
      {"tile = 32", "tile = [1, 2, 3]", ":7: parameter 'tile' has 3 values, and another one 2"},
      {"tile = 32", "2tile = 32", ":7: parameter '2tile': a letter"},
      {"type = \"f32\"", "type = \"float\"", ":10: no type 'float': expected f16, bf16, f32"},
      {"count = \"n\"", "count = 1.5", ":11: 'count' is an integer or a text like"},
      {"role = \"input\"", "role = \"inout\"", ":12: no role 'inout': expected input, output"},
      {"role = \"input\"", "role = \"output\"", "'fill' does not belong to role \"output\""},
      {"fill = \"uniform\"", "", ":9: buffer 'x' needs either 'fill'"},
      {"fill = \"uniform\"", "fill = \"zero\"",
       "'low' does not belong to role \"input\", fill \"zero\""},
      {"high = 1", "high = -1", ":13: buffer 'x' is drawn from -1 to -1"},
      {"high = 1", "high = inf", ":15: 'high' is not finite"},
      {"high = 1", "hihg = 1", ":15: buffer 'x' has no 'hihg': did you mean high?"},
      {"{ relative = 1e-6 }", "{ relative = 1.5 }", "would take an output of zeros"},
      {"{ relative = 1e-6 }", "{ relative = 0.1, absolute = 1 }", "either relative or absolute"},
      {"{ relative = 1e-6 }", "\"relative\"", ":23: a tolerance is \"exact\" or a table"},
      {"file = \"data/hints.bin\"", "fill = \"uniform\"\nhigh = 70000",
       "'high' is 70000, which no u16 holds"},
      {"{ f32 = 2.5 }", "{ f32 = 1e39 }", ":39: 'f32' is 1e+39, which no f32 holds"},
      {"{ f32 = 2.5 }", "{ f32 = 1e-60 }", "which no f32 holds"},
      {"file = \"new.cubin\"", "", ":31: implementation 'new' needs either 'file'"},
      {"kernel = \"saxpy\"", "function = \"saxpy\"",
       ":34: implementation 'new' has no 'function': valid: "},
      {"block = [32, 8]", "block = [32, 8, 1, 1]", ":36: 'block' has x, or x and y"},
      {"shared = \"tile * 4\"", "shraed = 0", "did you mean shared?"},
      {"\"x\", \"y\"]", "\"x\", \"z\"]", ":39: argument 'z' is no buffer: "},
      {"{ f32 = 2.5 }", "2.5",
       ":39: an argument is the name of a buffer or a scalar with its type"},
      {"{ i32 = \"n\" }", "{ i32 = 2.5 }", ":39: 'i32' is an integer or a text"},
      {"function = \"first\"", "function = \"first\"\ngrid = 1",
       "has no 'grid': valid: function, arguments"},
  };
  for (const auto& c : cases) {
    const std::string said = refusal_with(c.line, c.other);
    EXPECT_TRUE(contains(said, c.says)) << c.other;
    EXPECT_TRUE(said.starts_with("dir/saxpy.toml:")) << said;
    EXPECT_TRUE(is_one_line(said)) << said;
  }
}

/// What is left of a value in that type.
double through(ElementType type, double value) {
  std::byte held[8] = {};
  set_element(type, held, 0, value);
  return element_at(type, held, 0);
}

std::uint16_t bits_of(ElementType type, double value) {
  std::byte held[8] = {};
  set_element(type, held, 0, value);
  std::uint16_t bits = 0;
  std::memcpy(&bits, held, sizeof bits);
  return bits;
}

TEST(Element, HalfPrecisionIsIeee754) {
  EXPECT_EQ(bits_of(ElementType::f16, 1), 0x3c00);
  EXPECT_EQ(bits_of(ElementType::f16, -2), 0xc000);
  EXPECT_EQ(bits_of(ElementType::f16, 65504), 0x7bff);
  EXPECT_EQ(bits_of(ElementType::f16, 65519), 0x7bff);
  EXPECT_EQ(bits_of(ElementType::f16, 65520), 0x7c00) << "a tie goes to even, which is infinity";
  EXPECT_EQ(bits_of(ElementType::f16, std::ldexp(1, -24)), 0x0001) << "the least subnormal";
  EXPECT_EQ(bits_of(ElementType::f16, std::ldexp(1, -14)), 0x0400) << "the least normal";
  EXPECT_EQ(bits_of(ElementType::f16, std::ldexp(1023.75, -24)), 0x0400) << "rounds up into it";
  EXPECT_EQ(bits_of(ElementType::f16, 2049), 0x6800) << "a tie to even: 2048";
  EXPECT_EQ(bits_of(ElementType::f16, 2051), 0x6802) << "a tie to even: 2052";
  EXPECT_EQ(bits_of(ElementType::f16, 2047.5), 0x6800) << "rounds up into the next exponent";
  EXPECT_TRUE(std::isnan(through(ElementType::f16, std::nan(""))));
  // Every pattern that is a number comes back as itself.
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    std::byte held[2];
    std::memcpy(held, &bits, sizeof bits);
    const double value = element_at(ElementType::f16, held, 0);
    if (!std::isnan(value)) {
      ASSERT_EQ(bits_of(ElementType::f16, value), bits);
    }
  }
}

TEST(Element, BfloatRoundsOnce) {
  EXPECT_EQ(bits_of(ElementType::bf16, 1), 0x3f80);
  EXPECT_EQ(bits_of(ElementType::bf16, 1 + std::ldexp(1, -8)), 0x3f80) << "a tie to even";
  EXPECT_EQ(bits_of(ElementType::bf16, 1 + 3 * std::ldexp(1, -8)), 0x3f82) << "a tie to even";
  // Just above the tie, by less than a float can tell: not to be rounded twice.
  EXPECT_EQ(bits_of(ElementType::bf16, 1 + std::ldexp(1, -8) + std::ldexp(1, -40)), 0x3f81);
  EXPECT_EQ(bits_of(ElementType::bf16, 1 + 3 * std::ldexp(1, -8) - std::ldexp(1, -40)), 0x3f81);
  EXPECT_TRUE(std::isnan(through(ElementType::bf16, std::nan(""))));
  EXPECT_EQ(through(ElementType::bf16, 1e39), std::numeric_limits<double>::infinity());
}

TEST(Element, IntegersAreCutToTheirRange) {
  EXPECT_EQ(through(ElementType::i8, 1000), 127);
  EXPECT_EQ(through(ElementType::i8, -1000), -128);
  EXPECT_EQ(through(ElementType::u16, -1), 0);
  EXPECT_EQ(through(ElementType::i32, -7.9), -7);
  EXPECT_EQ(through(ElementType::u8, std::nan("")), 0);
  EXPECT_TRUE(holds(ElementType::u8, 255));
  EXPECT_FALSE(holds(ElementType::u8, 256));
  EXPECT_FALSE(holds(ElementType::u64, -1));
  EXPECT_TRUE(holds(ElementType::i64, INT64_MIN));
  EXPECT_TRUE(holds(ElementType::f32, 1 << 24));
  EXPECT_FALSE(holds(ElementType::f32, (1 << 24) + 1));
  EXPECT_FALSE(holds(ElementType::f64, INT64_MAX));
}

std::optional<std::int64_t> parameter_of(std::string_view name) {
  if (name == "n") return 1000;
  if (name == "tile_x") return 32;
  if (name == "most") return INT64_MAX;
  if (name == "least") return INT64_MIN;
  return std::nullopt;
}

std::int64_t computed(std::string_view text) { return evaluate(text, parameter_of); }
std::string refusal(std::string_view text) {
  return message_of<UsageError>([&] { computed(text); });
}

TEST(Expression, ComputesAsASchoolbookDoes) {
  EXPECT_EQ(computed("7"), 7);
  EXPECT_EQ(computed("(n + 255) / 256"), 4);
  EXPECT_EQ(computed("n+255/256"), 1000);
  EXPECT_EQ(computed(" 2 * (n - 1) * 3 "), 5994);
  EXPECT_EQ(computed("n / tile_x / 2"), 15);
  EXPECT_EQ(computed("10 - 3 - 2"), 5);
  EXPECT_EQ(computed("-n / 3"), -333);
  EXPECT_EQ(computed("--4"), 4);
  EXPECT_EQ(computed("least"), INT64_MIN);
}

TEST(Expression, RefusesInOneClauseWhatItCannotCompute) {
  EXPECT_EQ(refusal(""), "\"\": it ends where a number or a parameter is expected");
  EXPECT_TRUE(contains(refusal("n +"), "it ends where"));
  EXPECT_TRUE(contains(refusal("m"), "'m' is no parameter"));
  EXPECT_TRUE(contains(refusal("(n"), "a parenthesis is not closed"));
  EXPECT_TRUE(contains(refusal("n)"), "')' is not expected there"));
  EXPECT_TRUE(contains(refusal("n % 2"), "'%' is not expected there"));
  EXPECT_TRUE(contains(refusal("2n"), "'2n' is no integer"));
  EXPECT_TRUE(contains(refusal("n / 0"), "it divides by zero"));
  EXPECT_TRUE(contains(refusal("n / (n - 1000)"), "it divides by zero"));
  EXPECT_TRUE(contains(refusal("99999999999999999999"), "beyond 64 bits"));
  for (const char* text :
       {"most + 1", "least - 1", "most * 2", "least / -1", "-least", "least * -1"}) {
    EXPECT_TRUE(contains(refusal(text), "beyond 64 bits")) << text;
  }
  EXPECT_TRUE(contains(refusal(std::string(1000, '(')), "nested too deeply"));
  EXPECT_TRUE(contains(refusal(std::string(1000, '-')), "nested too deeply"));
}

}  // namespace
}  // namespace amasia
