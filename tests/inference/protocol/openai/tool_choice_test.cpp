#include "inference/protocol/openai/tool_choice.h"

#include <gtest/gtest.h>

#include "support/fake_engine.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace tool_choice_test {

constexpr const char* kTools = R"("tools": [{"type": "function", "function": {"name": "f"}},
  {"type": "function", "function": {"name": "g", "parameters": {"type": "object",
    "properties": {"a": {"type": "integer"}}, "required": ["a"]}}}])";

class ToolChoiceTest : public testing::Test {
 protected:
  ToolChoice choice(const std::string& fields) const {
    return tool_choice(
        model_, Fields::parse(R"({"messages": [])" + (fields.empty() ? "" : ", " + fields) + "}",
                              chat_fields()));
  }
  std::string refusal(const std::string& fields) const {
    try {
      choice(fields);
    } catch (const RequestError& error) {
      EXPECT_EQ(error.status(), 400);
      EXPECT_EQ(error.field(), "tool_choice");
      return error.what();
    }
    return "taken";
  }
  std::string with_tools(const std::string& more) const { return kTools + more; }

  tokenizers::NullTokenizer tokenizer_{59};
  test::FakeEngine engine_{
      {.blocks = 16, .slots = 2, .max_positions = 20, .vocabulary = 60, .padded_vocabulary = 64}};
  GenerationService service_{engine_, tokenizer_, {}};
  ServedModel model_{
      .name = "fake",
      .tokenizer = tokenizer_,
      .shape = engine_.shape(),
      .service = service_,
      .grammars = nullptr,
      .chat = std::make_shared<const tokenizers::ChatTemplate>(
          "{% if false %}[TOOL_CALLS]{% endif %}", tokenizers::ChatTemplate::SpecialTokens{})};
};

TEST_F(ToolChoiceTest, ReadsCallsWhereToolsAreGiven) {
  EXPECT_EQ(choice("").format, ToolFormat::none);
  EXPECT_EQ(choice(with_tools("")).format, ToolFormat::list);
  EXPECT_FALSE(choice(with_tools(R"(, "tool_choice": "auto")")).forced());
  EXPECT_EQ(choice(with_tools(R"(, "tool_choice": "none")")).format, ToolFormat::none);
  EXPECT_EQ(choice(with_tools(R"(, "chat_template": "<tool_call>")")).format, ToolFormat::tags);
}

TEST_F(ToolChoiceTest, ForcesCallsOfOneOrOfAll) {
  const ToolChoice all = choice(with_tools(R"(, "tool_choice": "required")"));
  ASSERT_EQ(all.forced_functions.size(), 2u);
  EXPECT_EQ(all.forced_functions[0].parameters, R"({"type":"object","properties":{}})");
  EXPECT_TRUE(all.several);
  EXPECT_FALSE(
      choice(with_tools(R"(, "tool_choice": "required", "parallel_tool_calls": false)")).several);
  const ToolChoice one =
      choice(with_tools(R"(, "tool_choice": {"type": "function", "function": {"name": "g"}})"));
  ASSERT_EQ(one.forced_functions.size(), 1u);
  EXPECT_EQ(one.forced_functions[0].name, "g");
  EXPECT_FALSE(one.several);
  EXPECT_NE(one.described(), all.described());
  model_.chat = std::make_shared<const tokenizers::ChatTemplate>(
      "", tokenizers::ChatTemplate::SpecialTokens{});
  EXPECT_EQ(choice(with_tools(R"(, "tool_choice": "required")")).format, ToolFormat::tags);
}

TEST_F(ToolChoiceTest, RefusesWhatIsNoChoice) {
  EXPECT_EQ(refusal(R"("tool_choice": "required")"),
            "tool_choice needs tools with the function that is to be called");
  EXPECT_EQ(
      refusal(with_tools(R"(, "tool_choice": {"type": "function", "function": {"name": "h"}})")),
      "tool_choice: tools has no function h; it has f, g");
  EXPECT_NE(refusal(with_tools(R"(, "tool_choice": "maybe")")).find("not maybe"),
            std::string::npos);
  EXPECT_NE(refusal(with_tools(R"(, "tool_choice": 1)")), "taken");
  EXPECT_NE(refusal(with_tools(R"(, "tool_choice": {"name": "f"})")), "taken");
  EXPECT_NE(refusal(with_tools(R"(, "tool_choice": {"function": {"name": 1}})")), "taken");
}

TEST_F(ToolChoiceTest, KeepsOneCallWhereOneIsWanted) {
  const std::string answer = R"([TOOL_CALLS] [{"name": "f"}, {"name": "g"}])";
  EXPECT_EQ(choice(with_tools("")).read(answer).calls.size(), 2u);
  EXPECT_EQ(choice(with_tools(R"(, "parallel_tool_calls": false)")).read(answer).calls.size(), 1u);
}

}  // namespace tool_choice_test
}  // namespace mpitron::inference
