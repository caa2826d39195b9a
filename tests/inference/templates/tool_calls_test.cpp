#include "inference/templates/tool_calls.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace tool_calls_test {

std::string told(ToolFormat format, const std::string& answer) {
  const CalledText parts = read_tool_calls(format, answer);
  std::string text = parts.text + "|";
  for (const ToolCall& call : parts.calls) {
    text += call.name + call.arguments;
  }
  return text;
}

TEST(ToolCalls, KnowFormatsByTheirTemplates) {
  EXPECT_EQ(tool_format("{{ '<tool_call>' }}"), ToolFormat::tags);
  EXPECT_EQ(tool_format("{{ '[TOOL_CALLS]' }}"), ToolFormat::list);
  EXPECT_EQ(tool_format("{{ '<|python_tag|>' }}"), ToolFormat::objects);
  EXPECT_EQ(tool_format("{{ messages }}"), ToolFormat::none);
}

TEST(ToolCalls, AreTakenOutOfAnswers) {
  EXPECT_EQ(told(ToolFormat::tags,
                 "Look: <tool_call>\n{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": 2}}\n"
                 "</tool_call>\n<tool_call>{\"name\": \"g\"}</tool_call>"),
            "Look:|f{\"b\":1,\"a\":2}g{}");
  EXPECT_EQ(told(ToolFormat::list, "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": 1}}]"),
            "|f{\"a\":1}");
  EXPECT_EQ(told(ToolFormat::objects,
                 "<|python_tag|>{\"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", "
                 "\"parameters\": {\"a\": [1]}}"),
            "|f{}g{\"a\":[1]}");
}

/// What ends a call may stand in its arguments.
TEST(ToolCalls, EndBehindTheirArguments) {
  EXPECT_EQ(told(ToolFormat::tags,
                 R"(<tool_call>{"name": "f", "arguments": {"a": "</tool_call>"}}</tool_call>)"),
            R"(|f{"a":"</tool_call>"})");
  EXPECT_EQ(told(ToolFormat::objects,
                 R"({"name": "f", "parameters": {"a": "};"}}; {"name": "g", "parameters": {}})"),
            R"(|f{"a":"};"}g{})");
}

TEST(ToolCalls, AreTextWhereTheyAreBroken) {
  for (const auto& [format, answer] : std::vector<std::pair<ToolFormat, std::string>>{
           {ToolFormat::tags, "<tool_call>{\"name\": \"f\""},
           {ToolFormat::tags, "<tool_call>{\"name\": 3}</tool_call>"},
           {ToolFormat::tags, "<tool_call>" + std::string(100000, '[') + "</tool_call>"},
           {ToolFormat::list, "[TOOL_CALLS] {"},
           {ToolFormat::objects, "{\"a\": 1}"},
           {ToolFormat::none, "<tool_call>{\"name\": \"f\"}</tool_call>"}}) {
    EXPECT_EQ(told(format, answer), answer + "|");
  }
}

/// A stream sends nothing that a later byte could make part of a call.
TEST(ToolCalls, HoldStreamsBackWhereTheyMayBegin) {
  EXPECT_EQ(text_before_calls(ToolFormat::tags, "a < b"), 5u);
  EXPECT_EQ(text_before_calls(ToolFormat::tags, "ab<tool"), 2u);
  EXPECT_EQ(text_before_calls(ToolFormat::tags, "ab<tool_call>{"), 2u);
  EXPECT_EQ(text_before_calls(ToolFormat::list, "[TO"), 0u);
  EXPECT_EQ(text_before_calls(ToolFormat::objects, " {"), 0u);
  EXPECT_EQ(text_before_calls(ToolFormat::objects, "Yes {"), 5u);
  EXPECT_EQ(text_before_calls(ToolFormat::none, "<tool_call>"), 11u);
}

}  // namespace tool_calls_test
}  // namespace mpitron::inference
