#include "harness/gbench/flags.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/errors.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

/// Set while it lives.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const char* value) : name_(name) {
    ::setenv(name, value, 1);
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;
  ~EnvironmentVariable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(LibraryFlags, AreToldFromThoseOfTheSuite) {
  EXPECT_TRUE(is_library_flag("--benchmark_filter=x"));
  EXPECT_TRUE(is_library_flag("--v=2"));
  for (const char* own : {"--preset", "--version", "benchmark_filter", "--benchmak_filter=x", ""}) {
    EXPECT_FALSE(is_library_flag(own)) << own;
  }
}

TEST(LibraryFlags, TheLastOneCountsAndGoesBeforeTheEnvironment) {
  EXPECT_EQ(library_flag({}, "benchmark_out"), std::nullopt);
  EXPECT_EQ(library_flag({"--benchmark_out_format=csv"}, "benchmark_out"), std::nullopt);
  EXPECT_EQ(library_flag({"--benchmark_out=a", "--benchmark_out="}, "benchmark_out"), "");
  const EnvironmentVariable set("BENCHMARK_OUT", "b=c");
  EXPECT_EQ(library_flag({}, "benchmark_out"), "b=c");
  EXPECT_EQ(library_flag({"--benchmark_out=a"}, "benchmark_out"), "a");
}

TEST(LibraryFlags, SwitchesAreOnAsTheLibraryReadsThem) {
  const std::string name = "benchmark_list_tests";
  EXPECT_FALSE(library_switch({}, name));
  for (const char* on : {"", "=true", "=1", "=yes", "=", "=T"}) {
    EXPECT_TRUE(library_switch({"--benchmark_list_tests" + std::string(on)}, name)) << on;
  }
  for (const char* off : {"=false", "=0", "=No", "=f", "=OFF", "=n"}) {
    EXPECT_FALSE(library_switch({"--benchmark_list_tests" + std::string(off)}, name)) << off;
  }
}

TEST(LibraryFlags, ValuesThatPrintTheUsageAreRefused) {
  EXPECT_NO_THROW(check_library_flags({"--benchmark_format=json", "--benchmark_time_unit=us"}));
  EXPECT_EQ(message_of<UsageError>([] { check_library_flags({"--benchmark_out_format=yaml"}); }),
            "--benchmark_out_format=yaml: expected console, json, csv");
}

TEST(LibraryFlags, NumbersThatTheLibraryCannotFollowAreRefused) {
  const auto objection_to = [](const std::string& flag) {
    return message_of<UsageError>([&] { check_library_flags({"--benchmark_" + flag}); });
  };
  EXPECT_EQ(objection_to("repetitions=-3"),
            "--benchmark_repetitions=-3: expected a number from 1 to 1000000");
  EXPECT_EQ(objection_to("min_time=nan"),
            "--benchmark_min_time=nan: expected a number from 0 to 86400");
  for (const char* number : {"", "-1", "nan", "inf", "1e308", "x", "1,5", "99999999999999999999"}) {
    for (const char* flag : {"repetitions=", "min_time=", "min_warmup_time="}) {
      EXPECT_FALSE(objection_to(std::string(flag) + number).empty()) << flag << number;
    }
  }
  EXPECT_NO_THROW(check_library_flags({"--benchmark_repetitions=3", "--benchmark_min_time=0.01"}));
  EXPECT_NO_THROW(check_library_flags({"--benchmark_min_time=0.01s"}));
  EXPECT_NO_THROW(check_library_flags({"--benchmark_min_time=100x"}));
}

}  // namespace
}  // namespace amasia
