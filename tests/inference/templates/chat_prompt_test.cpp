#include "inference/templates/chat_prompt.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::inference {
namespace chat_prompt_test {

const tokenizers::ChatTemplate& chat_ml() {
  static const tokenizers::ChatTemplate chat(
      "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + "
      "'<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}"
      "{{ '<|im_start|>assistant\n' }}{% endif %}",
      {});
  return chat;
}

TEST(ChatPrompt, EndsWhereTheAssistantWrites) {
  EXPECT_EQ(chat_prompt(chat_ml(), {R"([{"role": "user", "content": "Where is the map?"}])"}),
            "<|im_start|>user\nWhere is the map?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(chat_prompt(chat_ml(), {R"([{"role": "developer", "content": "s"},
                             {"role": "user", "content": [{"type": "text", "text": "c"},
                                                          {"type": "text", "text": "d"}]}])"}),
            "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\ncd<|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST(ChatPrompt, ContinuesTheLastMessage) {
  const auto text = [](const char* messages) {
    return chat_prompt(
        chat_ml(),
        {.messages = messages, .add_generation_prompt = false, .continue_final_message = true});
  };
  EXPECT_EQ(text(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "a b "}])"),
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\na b ");
  EXPECT_THROW(text(R"([{"role": "assistant", "content": ""}])"), Error);
}

TEST(ChatPrompt, GivesToolsArgumentsAndVariables) {
  const tokenizers::ChatTemplate chat(
      "{{ tools[0].name }} {{ messages[0].tool_calls[0].function.arguments | tojson }} {{ mood }}",
      {});
  EXPECT_EQ(chat_prompt(chat, {.messages = R"([{"role": "assistant", "content": null,
                "tool_calls": [{"function": {"arguments": "{\"b\": 1, \"a\": 2}"}}]}])",
                               .tools = R"([{"name": "find"}])",
                               .variables = R"({"mood": "calm"})"}),
            R"(find {"b": 1, "a": 2} calm)");
}

TEST(ChatPrompt, RefusesWhatItCannotRender) {
  for (const char* messages :
       {"[]", "[1]", R"([{"content": "a"}])", R"([{"role": "robot", "content": "a"}])",
        R"([{"role": "user", "content": [{"type": "image"}]}])",
        R"([{"role": "user", "content": 5}])"}) {
    EXPECT_THROW(chat_prompt(chat_ml(), {messages}), Error) << messages;
  }
}

}  // namespace chat_prompt_test
}  // namespace mpitron::inference
