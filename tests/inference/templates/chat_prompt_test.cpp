#include "inference/templates/chat_prompt.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::inference {
namespace chat_prompt_test {

constexpr const char* kChatMl =
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' "
    "}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

TEST(ChatPrompt, EndsWhereTheAssistantWrites) {
  const ChatPrompt prompt = chat_prompt(kChatMl, "<s>", "</s>");
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt(R"([{"role": "user", "content": "Where is the map?"}])"),
            "<|im_start|>user\nWhere is the map?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(prompt(R"([{"role": "developer", "content": "s"}, {"role": "user", "content": "a"},
                       {"role": "assistant", "content": "b"},
                       {"role": "user", "content": [{"type": "text", "text": "c"},
                                                    {"type": "text", "text": "d"}]}])"),
            "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\na<|im_end|>\n"
            "<|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\ncd<|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST(ChatPrompt, RefusesWhatItCannotRender) {
  EXPECT_FALSE(chat_prompt("{{ messages | tojson }}", "", ""));
  const ChatPrompt prompt = chat_prompt(kChatMl, "", "");
  for (const char* messages :
       {"[]", "[1]", R"([{"content": "a"}])", R"([{"role": "tool", "content": "a"}])",
        R"([{"role": "user", "content": [{"type": "image"}]}])",
        R"([{"role": "user", "content": 5}])", R"([{"role": "assistant", "content": "a"}])"}) {
    EXPECT_THROW(prompt(messages), Error) << messages;
  }
}

}  // namespace chat_prompt_test
}  // namespace mpitron::inference
