#include "tokenizers/chat/chat_format.h"

#include <gtest/gtest.h>

#include "tokenizers/chat/small_talk.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace chat_format_test {

TEST(ChatFormat, TextsOfTheFormats) {
  EXPECT_EQ(text_of("nemotron-h-aligned", kTalk),
            "<SPECIAL_10>System\nBe kind.\n<SPECIAL_11>User\nHi\n<SPECIAL_11>Assistant\nHello!\n"
            "<SPECIAL_11>User\nBye\n<SPECIAL_11>Assistant\n");
  EXPECT_EQ(text_of("chatml", kTalk),
            "<|im_start|>system\n Be kind. <|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n"
            "<|im_start|>assistant\n Hello! <|im_end|>\n<|im_start|>user\nBye<|im_end|>\n");
  EXPECT_EQ(text_of("llama3", std::span(kTalk).subspan(1, 2)),
            "<s><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|>");
  EXPECT_EQ(text_of("llama2", kTalk),
            "<s>[INST] <<SYS>>\n Be kind. \n<</SYS>>\n\n Hi [/INST] Hello! </s><s>[INST] Bye "
            "[/INST]");
  EXPECT_EQ(text_of("mistral", std::span(kTalk).subspan(1)),
            "<s>[INST]  Hi  [/INST] Hello! </s>[INST] Bye [/INST]");
}

TEST(ChatFormat, OnlyAnswersAreLearned) {
  const auto turns = ChatFormat::named("nemotron-nano-v2", {}).render(kTalk);
  ASSERT_EQ(turns.size(), 4U);
  EXPECT_EQ(turns[1].answer, "");
  EXPECT_EQ(turns[2].prompt, "<SPECIAL_11>Assistant\n");
  EXPECT_EQ(turns[2].answer, "Hello!\n<SPECIAL_12>\n");
}

TEST(ChatFormat, RefusesBrokenConversations) {
  const ChatFormat format = ChatFormat::named("chatml", {});
  EXPECT_THROW(format.render(std::vector<ChatMessage>{{"tool", "x"}}), Error);
  EXPECT_THROW(format.render(std::vector<ChatMessage>{{"assistant", "x"}}), Error);
  EXPECT_THROW(format.render(std::vector<ChatMessage>{{"user", "x"}, {"assistant", ""}}), Error);
  EXPECT_THROW(ChatFormat::named("alpaca", {}), Error);
}

}  // namespace chat_format_test

}  // namespace mpitron::tokenizers
