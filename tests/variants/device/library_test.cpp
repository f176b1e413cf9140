// Libraries that are loaded at run time: found under one of several names, or missing with the
// reason.
#include "variants/device/library.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/messages.hpp"

namespace amasia {
namespace {

TEST(Library, IsFoundUnderTheFirstNameThatExists) {
  const Library library({"libabsent.so.1", "libm.so.6"});
  ASSERT_TRUE(library.loaded());
  EXPECT_EQ(library.function<double(double)>("fabs")(-3.0), 3.0);
}

TEST(Library, SaysWhichFunctionItDoesNotHave) {
  const Library library({"libm.so.6"});
  EXPECT_EQ(message_of<std::runtime_error>([&] { library.function<void()>("no_such_function"); }),
            "libm.so.6 has no function no_such_function");
}

TEST(Library, SaysWhatWasLookedFor) {
  const Library library({"libabsent.so.2", "libabsent.so.1"});
  EXPECT_FALSE(library.loaded());
  EXPECT_TRUE(contains(library.reason(), "none of libabsent.so.2 libabsent.so.1 was found"));
  EXPECT_TRUE(contains(message_of<std::runtime_error>([&] { library.function<void()>("any"); }),
                       "was found"));
}

}  // namespace
}  // namespace amasia
