#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/bpe/bpe_model.h"

namespace mpitron::tokenizers {
namespace integer_object_test {

TEST(IntegerObject, KeepsTheOrderOfTheFile) {
  EXPECT_EQ(parse_integer_object(R"({"b": 1, "a": 0})"),
            (std::vector<std::pair<std::string, std::int64_t>>{{"b", 1}, {"a", 0}}));
}

TEST(IntegerObject, SaysWhatIsWrong) {
  const auto error = [](std::string_view json) {
    return test::message_of([&] { parse_integer_object(json); });
  };
  EXPECT_NE(error("").find("not valid JSON"), std::string::npos);
  EXPECT_NE(error("[1]").find("object of integers"), std::string::npos);
  EXPECT_NE(error(R"({"b": "1"})").find("key \"b\" must hold an integer"), std::string::npos);
}

}  // namespace integer_object_test
}  // namespace mpitron::tokenizers
