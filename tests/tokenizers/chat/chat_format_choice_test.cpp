#include <gtest/gtest.h>

#include "tokenizers/chat/chat_format.h"
#include "tokenizers/chat/small_talk.h"

namespace mpitron::tokenizers {
namespace chat_format_choice_test {

TEST(ChatFormatChoice, KnowsPlainTemplatesOnly) {
  const std::string chatml =
      "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + "
      "message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}";
  EXPECT_EQ(ChatFormat::recognise(chatml), "chatml");
  EXPECT_FALSE(ChatFormat::recognise(chatml + "{{ 'You are a helpful assistant' }}"));
  EXPECT_FALSE(ChatFormat::recognise("{{ messages }}"));
  EXPECT_FALSE(ChatFormat::recognise(""));
}

}  // namespace chat_format_choice_test

}  // namespace mpitron::tokenizers
