#pragma once
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tokenizers/text/json_view.h"
#include "utils/error.h"

namespace mpitron::test {

/// What `make` complains about when it is given this object of a tokenizer.json; "" if nothing.
template <class Make>
std::string complaint(Make make, const std::string& json) {
  const tokenizers::JsonDocument document(json);
  try {
    (void)make(document.root());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    return error.what();
  }
  return "";
}

template <class Make>
void expect_complaint(Make make, const std::string& json, const std::vector<std::string>& parts) {
  const std::string message = complaint(make, json);
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << json << ": " << message;
  }
}

}  // namespace mpitron::test
