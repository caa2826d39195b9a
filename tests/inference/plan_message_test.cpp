#include "inference/plan_message.h"

#include <gtest/gtest.h>

#include "autograd/cached_pass.h"
#include "support/host_runtime.h"

namespace mpitron::inference {
namespace plan_message_test {

template <class T>
void expect_equal(std::span<const T> got, std::span<const T> want) {
  EXPECT_EQ(std::vector<T>(got.begin(), got.end()), std::vector<T>(want.begin(), want.end()));
}

TEST(PlanMessage, ArrivesAsItWasSent) {
  const TokenIds tokens = {5, -1, 7}, encoder = {9};
  const std::vector<Index> blocks = {3, 1}, encoder_blocks = {4};
  const auto device = device::make_device("host");
  std::vector<AdapterHandle> adapters;
  for (const Index number : {1, 2}) {
    adapters.push_back(std::make_shared<autograd::Adapter>(
        *device, DType::f32, number, nullptr, std::map<std::string, autograd::Adapter::Factors>()));
  }
  StepPlan first, second, empty;
  first.block_copies = {{1, 2}, {3, 4}};
  first.sequences = {{.slot = 1,
                      .first_position = 6,
                      .tokens = tokens,
                      .blocks = blocks,
                      .logits_from = 2,
                      .seen = 4,
                      .state_from = 7,
                      .state_to = 8,
                      .encoder_tokens = encoder,
                      .encoder_blocks = encoder_blocks,
                      .encoder_size = 1,
                      .own_drafts = 2,
                      .adapter = adapters[1].get()},
                     {.slot = 2, .tokens = encoder, .blocks = encoder_blocks}};
  second.state_copies = {{5, 6}};
  const StepPlan* const plans[] = {&first, &empty, &second};
  std::vector<std::int64_t> words;
  append_plans(plans, words);
  const ReceivedPlans got(words, adapters);
  words.assign(words.size(), -9);
  EXPECT_TRUE(got.has_rows());
  ASSERT_EQ(got[0].block_copies.size(), 2u);
  EXPECT_EQ(got[0].block_copies[1].to, 4);
  ASSERT_EQ(got[0].sequences.size(), 2u);
  const SequenceStep& sequence = got[0].sequences[0];
  EXPECT_EQ(sequence.slot, 1);
  EXPECT_EQ(sequence.first_position, 6);
  EXPECT_EQ(sequence.rows(), 3);
  EXPECT_EQ(sequence.seen, 4);
  EXPECT_EQ(sequence.state_from, 7);
  EXPECT_EQ(sequence.state_to, 8);
  EXPECT_EQ(sequence.encoder_size, 1);
  EXPECT_EQ(sequence.adapter, adapters[1].get());
  EXPECT_EQ(got[0].sequences[1].adapter, nullptr);
  expect_equal<TokenId>(sequence.tokens, tokens);
  expect_equal<TokenId>(sequence.encoder_tokens, encoder);
  expect_equal<Index>(sequence.blocks, blocks);
  expect_equal<Index>(sequence.encoder_blocks, encoder_blocks);
  expect_equal<TokenId>(got[0].sequences[1].tokens, encoder);
  EXPECT_TRUE(got[1].empty());
  EXPECT_EQ(got[2].state_copies[0].from, 5);
  const StepPlan* const nothing[] = {&empty};
  words.clear();
  append_plans(nothing, words);
  EXPECT_FALSE(ReceivedPlans(words).has_rows());
}

TEST(PlanMessage, RefusesWordsThatAreMissing) {
  const StepPlan empty;
  const StepPlan* const plans[] = {&empty};
  std::vector<std::int64_t> words;
  append_plans(plans, words);
  words.pop_back();
  EXPECT_ANY_THROW(ReceivedPlans{words});
}

}  // namespace plan_message_test
}  // namespace mpitron::inference
