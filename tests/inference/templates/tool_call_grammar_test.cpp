#include "inference/templates/tool_call_grammar.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/grammar/grammar_walk.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace tool_call_grammar_test {

const std::vector<OfferedFunction> kFunctions = {
    {"find", R"({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})"},
    {"walk", R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object",
                 "properties": {"left": {"$ref": "#/$defs/tree"}}}}})"}};

constexpr ToolFormat kFormats[] = {ToolFormat::tags, ToolFormat::list, ToolFormat::objects};

TEST(ToolCallGrammar, HasTheCallsOfItsFormat) {
  const auto has = [](ToolFormat format, bool several, const char* text) {
    return test::Language(tool_call_grammar(format, kFunctions, several)).has(text);
  };
  const char* one = "<tool_call>\n{\"name\": \"find\", \"arguments\": {\"a\": 3}}\n</tool_call>";
  EXPECT_TRUE(has(ToolFormat::tags, false, one));
  const std::string two = std::string(one) + "\n" + one;
  EXPECT_FALSE(has(ToolFormat::tags, false, two.c_str()));
  EXPECT_TRUE(has(ToolFormat::tags, true, two.c_str()));
  EXPECT_TRUE(has(ToolFormat::list, true,
                  R"([TOOL_CALLS] [{"name": "walk", "arguments": {"left": {"left": {}}}}])"));
  EXPECT_TRUE(
      has(ToolFormat::objects, true,
          R"({"name": "find", "parameters": {"a": 1}}; {"name": "walk", "parameters": {}})"));
  for (const char* other : {R"({"name": "find", "parameters": {}})",
                            R"({"name": "other", "parameters": {}})", "", "Yes"}) {
    EXPECT_FALSE(has(ToolFormat::objects, true, other)) << other;
  }
}

/// Whatever is drawn comes back as calls and nothing else.
TEST(ToolCallGrammar, WritesWhatIsReadBack) {
  std::mt19937_64 random(3);
  for (const ToolFormat format : kFormats) {
    test::Language language(tool_call_grammar(format, kFunctions, true));
    int drawn = 0;
    for (int i = 0; i < 40; ++i) {
      const auto text = language.draw(random, 200, 4000);
      if (text) {
        ++drawn;
        const CalledText parts = read_tool_calls(format, *text);
        EXPECT_EQ(parts.text, "") << *text;
        ASSERT_FALSE(parts.calls.empty()) << *text;
        EXPECT_TRUE(nlohmann::json::parse(parts.calls[0].arguments).is_object());
      }
    }
    EXPECT_GT(drawn, 10);
  }
}

TEST(ToolCallGrammar, NamesTheFunctionThatIsWrong) {
  const std::vector<OfferedFunction> wrong = {{"find", R"({"type": "objet"})"}};
  try {
    tool_call_grammar(ToolFormat::tags, wrong, false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("function find: ", 0), 0u) << error.what();
  }
}

}  // namespace tool_call_grammar_test
}  // namespace mpitron::inference
