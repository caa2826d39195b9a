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
  Index depth = 1, draft_tokens = 0, replicas = 1;
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
  EngineShape small_steps = kShape, few_blocks = kShape, states = kShape, kept;
  small_steps.max_step_tokens = 9;
  few_blocks.blocks = 16;
  states.states = 2 * states.slots;
  kept = states;
  kept.snapshots = 16;
  EngineShape kept_of_few = kept;
  kept_of_few.blocks = few_blocks.blocks;
  kept_of_few.snapshots = 5;
  for (const Layout& layout :
       {Layout{kShape, false}, Layout{kShape, true}, Layout{small_steps, true},
        Layout{few_blocks, true}, Layout{few_blocks, false}, Layout{kShape, true, 3},
        Layout{few_blocks, true, 2, 4}, Layout{kShape, false, 1, 6}, Layout{states, false, 2, 4},
        Layout{kShape, true, 1, 0, 3}, Layout{kept, true}, Layout{kept, true, 3, 4},
        Layout{kept, true, 1, 0, 2}, Layout{kept_of_few, true, 2, 4}}) {
    test::FakeEngine engine(layout.shape, layout.depth, layout.replicas);
    Generator generator(engine, tokenizer,
                        {.prefix_cache = layout.prefix_cache,
                         .draft_tokens = layout.draft_tokens,
                         .state_interval = 8,
                         .state_least = 4});
    const std::vector<Answer> together = generator.run(some_requests());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      SCOPED_TRACE(i);
      expect_equal(together[i], alone[i]);
    }
    EXPECT_EQ(generator.scheduler().preemptions() > 0, layout.shape.blocks == few_blocks.blocks);
    EXPECT_EQ(generator.scheduler().cached_tokens() > 0, layout.prefix_cache)
        << layout.shape.snapshots << " states, depth " << layout.depth;
  }
}

/// A text that goes on begins where its states were kept: behind a conversation's last prompt, and
/// from the second on that share it behind a common beginning.
TEST(Generator, TextsWithStatesBeginWhereOthersLeftThem) {
  const tokenizers::NullTokenizer tokenizer(59);
  EngineShape shape = kShape;
  shape.states = 2 * shape.slots;
  shape.snapshots = 4;
  test::FakeEngine engine(shape);
  Generator generator(engine, tokenizer, {.state_least = 4});
  const auto answer = [&](TokenIds prompt) {
    GenerationRequest request = request_of(std::move(prompt));
    request.max_tokens = 3;
    return generator.run({request}).at(0);
  };
  TokenIds system(18, 7);
  const auto with_question = [&](TokenId question) {
    TokenIds prompt = system;
    prompt.insert(prompt.end(), 10, question);
    return prompt;
  };
  Answer first = answer(with_question(1));
  EXPECT_EQ(first.cached_tokens, 0);
  EXPECT_EQ(answer(with_question(2)).cached_tokens, 0);   // tells where the two part
  EXPECT_EQ(answer(with_question(3)).cached_tokens, 16);  // the last whole block of `system`
  TokenIds turn = with_question(3);
  turn.insert(turn.end(), {20, 21, 22, 23});
  EXPECT_EQ(answer(turn).cached_tokens, 24);
  EXPECT_EQ(answer(with_question(3)).cached_tokens, 24);  // 28 tokens, of which one is computed
  EXPECT_EQ(generator.scheduler().kept_states(), 4);
  EXPECT_EQ(generator.scheduler().kept_state_uses(), 3);
}

/// A replica that knows the beginning of a prompt answers it, unless it has much to do.
TEST(Generator, RoutesByCachedBeginningsAndLoad) {
  const tokenizers::NullTokenizer tokenizer(59);
  test::FakeEngine engine(kShape, 1, 2);
  Generator generator(engine, tokenizer, {});
  const auto busy = [&](Index replica) {
    return generator.scheduler(replica).running() + generator.scheduler(replica).waiting();
  };
  TokenIds one(40, 1), two(40, 2);
  generator.submit(request_of(one), {});
  EXPECT_EQ(busy(0), 1);
  generator.submit(request_of(two), {});
  EXPECT_EQ(busy(1), 1);
  while (generator.step()) {
  }
  generator.submit(request_of(two), {});
  EXPECT_EQ(busy(1), 1);
  generator.submit(request_of(TokenIds(40, 3)), {});
  EXPECT_EQ(busy(0), 1);
  for (int i = 0; i < 6; ++i) {
    generator.submit(request_of(two, static_cast<std::uint64_t>(i)), {});
  }
  EXPECT_GT(busy(0), 1);
  while (generator.step()) {
  }
  EXPECT_GT(generator.sum(&Scheduler::cached_tokens), 0);
}

/// Samples of one prompt share its blocks and its last row, and are those of separate requests.
TEST(Generator, ForksAnswersToOnePrompt) {
  const tokenizers::NullTokenizer tokenizer(59);
  EngineShape states = kShape;
  states.states = states.slots;
  for (const EngineShape& shape : {kShape, states}) {
    test::FakeEngine engine(shape), other(shape);
    Generator together(engine, tokenizer, {.prefix_cache = false});
    Generator alone(other, tokenizer, {.prefix_cache = false});
    std::vector<Answer> answers(12);
    std::uint64_t leader = 0;
    for (std::uint32_t choice = 0; choice < 12; ++choice) {  // more than there are slots
      GenerationRequest request = request_of({1, 2, 3, 4, 5, 6}, 3);
      request.sampling.choice = choice;
      request.leader = leader;
      const auto id = together.submit(
          request, [&answers, choice](const Answer& answer) { answers[choice] = answer; });
      leader = leader == 0 ? id : leader;
    }
    while (together.step()) {
    }
    for (std::uint32_t choice = 0; choice < 12; ++choice) {
      GenerationRequest request = request_of({1, 2, 3, 4, 5, 6}, 3);
      request.sampling.choice = choice;
      expect_equal(answers[choice], alone.run({request}).at(0));
    }
    EXPECT_GT(engine.copies, 0);
    EXPECT_EQ(together.scheduler().blocks_free(), shape.blocks);
    EXPECT_LT(engine.tokens, other.tokens - 6 * 5);  // seven of them computed no prompt
  }
}

/// A text that repeats itself takes fewer steps with drafts, and is the same.
TEST(Generator, DraftsSaveSteps) {
  const tokenizers::NullTokenizer tokenizer(59);
  GenerationRequest request = request_of({1, 2, 3, 1, 2, 3, 1, 2});
  for (TokenId id = 0; id < 60; ++id) {  // only 1, 2 and 3 can be drawn, in turns
    if (id > 3 || id == 0) {
      request.sampling.banned.push_back(id);
    }
  }
  class Turns : public TokenConstraint {
   public:
    TokenMask allowed() override {
      word_ = std::uint64_t{1} << next_;
      return {&word_, 1};
    }
    void take(TokenId id) override { next_ = id % 3 + 1; }
    bool complete() const override { return false; }

   private:
    std::uint64_t word_ = 0;
    TokenId next_ = 3;
  };
  std::vector<Answer> answers;
  std::vector<Index> steps;
  for (const Index drafts : {0, 8}) {
    test::FakeEngine engine(kShape);
    Generator generator(engine, tokenizer, {.draft_tokens = drafts});
    request.constraint = [] { return std::make_unique<Turns>(); };
    answers.push_back(generator.run({request}).at(0));
    steps.push_back(engine.steps);
  }
  expect_equal(answers[1], answers[0]);
  EXPECT_EQ(steps[0], 20);
  EXPECT_LE(steps[1], 6);
}

/// An answer that may neither go on nor end is no complete one.
TEST(Generator, TellsWhereNoTokenMayFollow) {
  class OneToken : public TokenConstraint {
   public:
    TokenMask allowed() override { return {&word_, 1}; }
    void take(TokenId) override { word_ = 0; }
    bool complete() const override { return false; }

   private:
    std::uint64_t word_ = 1u << 7;
  };
  const tokenizers::NullTokenizer tokenizer(59);
  test::FakeEngine engine(kShape);
  Generator generator(engine, tokenizer, {});
  GenerationRequest request = request_of({1, 2, 3});
  request.constraint = [] { return std::make_unique<OneToken>(); };
  const Answer answer = generator.run({request}).at(0);
  EXPECT_EQ(answer.tokens, (TokenIds{7}));
  EXPECT_EQ(answer.finish, FinishReason::no_token);
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

}  // namespace generator_test
}  // namespace mpitron::inference
