#include "inference/scheduling/generator.h"

#include <random>

#include <gtest/gtest.h>

#include "support/fake_engine.h"
#include "tokenizers/core/null_tokenizer.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace generator_test {

constexpr EngineShape kShape{.block_size = 4,
                             .blocks = 128,
                             .slots = 8,
                             .max_step_tokens = 32,
                             .max_positions = 100,
                             .vocabulary = 60,
                             .padded_vocabulary = 64};

GenerationRequest request_of(TokenIds prompt, std::uint64_t seed = 5) {
  return {.prompt = std::move(prompt),
          .max_tokens = 20,
          .sampling = {.temperature = 0.8, .seed = seed},
          .log_probs = 2,
          .prompt_log_probs = seed % 3 == 0};
}

std::vector<GenerationRequest> some_requests() {
  std::mt19937 random(3);
  std::vector<GenerationRequest> requests;
  for (std::uint64_t i = 0; i < 12; ++i) {
    TokenIds prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};  // a common beginning
    for (unsigned more = random() % 20; more > 0; --more) {
      prompt.push_back(static_cast<TokenId>(random() % 60));
    }
    requests.push_back(request_of(std::move(prompt), i));
  }
  return requests;
}

void expect_equal(const Answer& got, const Answer& expected) {
  EXPECT_EQ(got.tokens, expected.tokens);
  EXPECT_EQ(got.text, expected.text);
  ASSERT_EQ(got.log_probs.size(), expected.log_probs.size());
  for (std::size_t i = 0; i < got.log_probs.size(); ++i) {
    EXPECT_EQ(got.log_probs[i].token.value, expected.log_probs[i].token.value);
  }
  ASSERT_EQ(got.prompt_log_probs.size(), expected.prompt_log_probs.size());
  for (std::size_t i = 0; i < got.prompt_log_probs.size(); ++i) {
    EXPECT_EQ(got.prompt_log_probs[i].token.value, expected.prompt_log_probs[i].token.value);
  }
}

struct Layout {
  EngineShape shape;
  bool prefix_cache;
};

TEST(Generator, AnswersAsIfAlone) {
  const tokenizers::NullTokenizer tokenizer(59);
  std::vector<Answer> alone;
  for (GenerationRequest& request : some_requests()) {
    test::FakeEngine engine(kShape);
    Generator generator(engine, tokenizer, {.prefix_cache = false});
    alone.push_back(generator.run({request}).at(0));
    ASSERT_EQ(alone.back().tokens.size(), 20u);
  }
  EngineShape small_steps = kShape, few_blocks = kShape;
  small_steps.max_step_tokens = 9;
  few_blocks.blocks = 16;
  for (const Layout& layout :
       {Layout{kShape, false}, Layout{kShape, true}, Layout{small_steps, true},
        Layout{few_blocks, true}, Layout{few_blocks, false}}) {
    test::FakeEngine engine(layout.shape);
    Generator generator(engine, tokenizer, {.prefix_cache = layout.prefix_cache});
    const std::vector<Answer> together = generator.run(some_requests());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      SCOPED_TRACE(i);
      expect_equal(together[i], alone[i]);
    }
    EXPECT_EQ(generator.scheduler().preemptions() > 0, layout.shape.blocks == few_blocks.blocks);
    EXPECT_EQ(generator.scheduler().cached_tokens() > 0, layout.prefix_cache);
  }
}

TEST(Generator, StopsAtIdsAndTexts) {
  const tokenizers::NullTokenizer tokenizer(59);
  test::FakeEngine engine(kShape);
  Generator generator(engine, tokenizer, {});
  const Answer whole = generator.run({request_of({1, 2, 3})}).at(0);
  GenerationRequest by_id = request_of({1, 2, 3}), by_text = by_id, hidden = by_id;
  by_id.stop_ids = {whole.tokens[4]};
  by_text.stop_texts.before = {std::to_string(whole.tokens[6])};
  hidden.max_tokens = 0;
  hidden.prompt_log_probs = true;
  const auto answers = generator.run({by_id, by_text, hidden});
  EXPECT_EQ(answers[0].finish, FinishReason::stop);
  EXPECT_EQ(answers[0].stop_id, whole.tokens[4]);
  EXPECT_LE(answers[0].tokens.size(), 5u);
  EXPECT_EQ(answers[1].finish, FinishReason::stop);
  EXPECT_EQ(answers[1].stop_text, by_text.stop_texts.before[0]);
  EXPECT_EQ(answers[1].text.find(answers[1].stop_text), std::string::npos);
  EXPECT_TRUE(answers[2].tokens.empty());
  EXPECT_EQ(answers[2].prompt_log_probs.size(), 2u);
}

TEST(Generator, CancelledRequestsGiveTheirBlocksBack) {
  const tokenizers::NullTokenizer tokenizer(59);
  test::FakeEngine engine(kShape);
  Generator generator(engine, tokenizer, {});
  int calls = 0;
  const auto id = generator.submit(request_of({1, 2, 3}), [&](const Answer&) { ++calls; });
  EXPECT_TRUE(generator.step());
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(generator.cancel(id));
  EXPECT_FALSE(generator.cancel(id));
  EXPECT_FALSE(generator.step());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(engine.released.size(), 1u);
}

TEST(Generator, RefusesForeignIdsAndLongRequests) {
  const tokenizers::NullTokenizer tokenizer(59);
  test::FakeEngine engine(kShape);
  Generator generator(engine, tokenizer, {});
  EXPECT_THROW(generator.submit(request_of({60}), {}), Error);
  EXPECT_THROW(generator.submit(request_of({}), {}), Error);
  EXPECT_THROW(generator.submit(request_of(TokenIds(90, 1)), {}), Error);
  EXPECT_FALSE(generator.step());
}

/// 3 or 5, then 7, then nothing.
class Path : public TokenConstraint {
 public:
  TokenMask allowed() override {
    mask_ = taken_ == 0 ? 1ull << 3 | 1ull << 5 : 1ull << 7;
    return {&mask_, 1};
  }
  void take(TokenId /*id*/) override { ++taken_; }
  void take_back(Index tokens) override { taken_ -= tokens; }
  bool complete() const override { return taken_ == 2; }

 private:
  std::uint64_t mask_ = 0;
  Index taken_ = 0;
};

TEST(Generator, KeepsToAConstraint) {
  const tokenizers::NullTokenizer tokenizer(59);
  test::FakeEngine engine(kShape);
  Generator generator(engine, tokenizer, {});
  std::vector<GenerationRequest> requests = some_requests();
  for (GenerationRequest& request : requests) {
    request.constraint = [] { return std::make_unique<Path>(); };
  }
  for (const Answer& answer : generator.run(std::move(requests))) {
    ASSERT_EQ(answer.tokens.size(), 2u);
    EXPECT_TRUE(answer.tokens[0] == 3 || answer.tokens[0] == 5);
    EXPECT_EQ(answer.tokens[1], 7);
    EXPECT_EQ(answer.finish, FinishReason::stop);
  }
}

}  // namespace generator_test
}  // namespace mpitron::inference
