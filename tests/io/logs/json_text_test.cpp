#include "io/logs/json_text.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mpitron::io {

TEST(JsonText, StringsReadBack) {
  std::string all;
  for (int c = 0; c < 128; ++c) {
    all += static_cast<char>(c);
  }
  for (const std::string& text :
       {std::string(), std::string("lm loss"), all, std::string("h\u00e9\u4e16")}) {
    EXPECT_EQ(nlohmann::json::parse(json_string(text)), text);
  }
}

TEST(JsonText, NumbersReadBackExactly) {
  for (const double value : {0.0, -0.0, 1.0 / 3, 1e300, 5e-324, 2.0, 123456789012345678.0}) {
    EXPECT_EQ(nlohmann::json::parse(json_number(value)).get<double>(), value);
  }
  EXPECT_EQ(json_number(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(json_number(-std::numeric_limits<double>::infinity()), "null");
}

}  // namespace mpitron::io
