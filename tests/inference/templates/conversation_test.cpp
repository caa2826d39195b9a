#include "inference/templates/conversation.h"

#include <gtest/gtest.h>

#include "tokenizers/core/null_tokenizer.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace conversation_test {

const tokenizers::NullTokenizer kTokenizer(59);

std::shared_ptr<const tokenizers::ChatTemplate> template_of(const char* text) {
  return std::make_shared<const tokenizers::ChatTemplate>(
      text, tokenizers::ChatTemplate::SpecialTokens{});
}

TEST(Conversation, RendersAllTurns) {
  Conversation talk(kTokenizer,
                    template_of("{% for m in messages %}{{ m.content }} {% endfor %}50"), "9");
  EXPECT_EQ(talk.prompt("1"), (tokenizers::TokenIds{9, 1, 50}));
  EXPECT_EQ(talk.prompt("2"), (tokenizers::TokenIds{9, 2, 50}));
  talk.add("2", "3");
  EXPECT_EQ(talk.prompt("4"), (tokenizers::TokenIds{9, 2, 3, 4, 50}));
  talk.reset("8");
  EXPECT_EQ(talk.prompt("1"), (tokenizers::TokenIds{8, 1, 50}));
}

TEST(Conversation, IsOneTextWithoutATemplate) {
  Conversation talk(kTokenizer, nullptr, "");
  EXPECT_FALSE(talk.has_template());
  talk.add("1 2", " 3");
  EXPECT_EQ(talk.prompt("4"), (tokenizers::TokenIds{1, 2, 3, 4}));
  talk.reset();
  EXPECT_EQ(talk.prompt(""), tokenizers::TokenIds{59});
}

TEST(Conversation, TellsWhatATemplateRaises) {
  const Conversation talk(kTokenizer, template_of("{{ raise_exception('no system text') }}"), "9");
  EXPECT_THROW(talk.prompt("1"), Error);
}

}  // namespace conversation_test
}  // namespace mpitron::inference
