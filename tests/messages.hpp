// For tests of errors: the message of an exception, so that its wording can be asserted.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace amasia {

/// what() of the Error that `action` throws; a failure and "" when it throws none.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

inline testing::AssertionResult is_one_line(const std::string& text) {
  if (!text.empty() && text.find('\n') == std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "not one line: \"" << text << "\"";
}

}  // namespace amasia
