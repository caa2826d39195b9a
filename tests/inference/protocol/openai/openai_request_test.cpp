#include "inference/protocol/openai/openai_request.h"

#include <gtest/gtest.h>

#include "inference/protocol/fields.h"
#include "support/fake_engine.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace openai_request_test {

class OpenAiRequestTest : public testing::Test {
 protected:
  OpenAiRequest completion(const char* body) const {
    return parse_completion(model_, Fields::parse(body, completion_fields()));
  }

  tokenizers::NullTokenizer tokenizer_{59};
  test::FakeEngine engine_{
      {.blocks = 16, .slots = 2, .max_positions = 20, .vocabulary = 60, .padded_vocabulary = 64}};
  GenerationService service_{engine_, tokenizer_, {}};
  ServedModel model_{.name = "fake",
                     .tokenizer = tokenizer_,
                     .shape = engine_.shape(),
                     .service = service_,
                     .grammars = nullptr,
                     .chat = std::make_shared<const tokenizers::ChatTemplate>(
                         "{{ messages[0].content }}{% if false %}<tool_call>{% endif %}",
                         tokenizers::ChatTemplate::SpecialTokens{})};
};

TEST_F(OpenAiRequestTest, SharesThePromptAmongItsAnswers) {
  const auto answers =
      completion(R"({"prompt": ["1", "2 3"], "n": 2, "best_of": 3, "bad_words": "7"})").answers();
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(answers[5].leader, 4u);
  EXPECT_EQ(answers[5].sampling.choice, 5u);
  EXPECT_EQ(answers[5].log_probs, 0);  // they decide which is best
  EXPECT_EQ(answers[5].sampling.banned, (TokenIds{7, 7}));
}

TEST_F(OpenAiRequestTest, TakesBiasesOfTokens) {
  const OpenAiRequest request = completion(R"({"prompt": "1", "logit_bias": {"3": 5, "4": -100}})");
  EXPECT_EQ(request.generation.sampling.bias,
            (std::vector<std::pair<TokenId, double>>{{3, 5}, {4, -100}}));
  EXPECT_THROW(completion(R"({"prompt": "1", "logit_bias": {"3": 101}})"), RequestError);
}

TEST_F(OpenAiRequestTest, LeavesAnswersWhatTheContextHas) {
  EXPECT_EQ(completion(R"({"prompt": "1 2"})").generation.max_tokens, 16);
  EXPECT_EQ(completion(R"({"prompt": [1,2,3,4,5,6,7,8]})").generation.max_tokens, 12);
  EXPECT_THROW(completion(R"({"prompt": "1", "max_tokens": 20})"), RequestError);
}

/// Answers that have to call are held to it, and so to no other form.
TEST_F(OpenAiRequestTest, HoldsAnswersToCalls) {
  model_.grammars = std::make_shared<GrammarStore>(tokenizer_);
  const auto held = [&](const std::string& more) {
    const std::string body = R"({"messages": [{"role": "user", "content": "1"}],
                                 "tools": [{"function": {"name": "f"}}])" +
                             more + "}";
    return bool(parse_chat(model_, Fields::parse(body, chat_fields())).generation.constraint);
  };
  EXPECT_FALSE(held(""));
  EXPECT_TRUE(held(R"(, "tool_choice": "required")"));
  EXPECT_THROW(held(R"(, "tool_choice": "required", "guided_regex": "1")"), RequestError);
}

}  // namespace openai_request_test
}  // namespace mpitron::inference
