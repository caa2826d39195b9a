#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::inference {

/// Ways in which families of chat templates have a model write calls of functions.
enum class ToolFormat {
  none,
  tags,     // <tool_call>{"name": .., "arguments": ..}</tool_call>: Hermes, Qwen
  list,     // [TOOL_CALLS] [{"name": .., "arguments": ..}]: Mistral
  objects,  // {"name": .., "parameters": ..}, several behind ';': Llama 3
};

/// Finds the format in a template's source.
ToolFormat tool_format(std::string_view chat_template);

struct ToolCall {
  std::string name;
  std::string arguments;  // JSON text of an object
};

/// An answer as text and calls.
struct CalledText {
  std::string text;
  std::vector<ToolCall> calls;
};

/// Takes the calls out of a finished answer; what is no call as the format has it stays text.
CalledText read_tool_calls(ToolFormat format, const std::string& answer);

/// Counts the bytes at the beginning of an unfinished answer that belong to no call, whatever
/// follows.
std::size_t text_before_calls(ToolFormat format, std::string_view answer);

}  // namespace mpitron::inference
