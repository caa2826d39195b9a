#include "inference/decode_graphs.h"

#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "support/host_runtime.h"
#include "tests/inference/random_decoder.h"

namespace mpitron::inference {
namespace decode_graphs_test {

/// Answers of the model on a GPU, and how many kinds of steps were recorded for them.
std::pair<std::vector<Answer>, Index> answers_of(const std::vector<std::string>& flags,
                                                 const test::Cut& cut, bool graphs) {
  const test::RandomDecoder random(flags, device::make_cuda_device(0));
  EngineShape shape = cut.shape(random.config);
  shape.graphs = graphs;
  CachedEngine engine(*random.device, random.model, shape, test::kDecoderVocabulary);
  std::vector<Answer> answers = random.answers(engine, {});
  return {std::move(answers), engine.runner().recordings()};
}

/// Whole batches, and few slots with blocks that run out: what was recorded gives the bits of the
/// kernels that it recorded.
TEST(DecodeGraphs, AnswersAreThoseOfSingleLaunches) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--position-embedding-type", "rope"},
        std::vector<std::string>{"--group-query-attention", "--num-query-groups", "2", "--swiglu",
                                 "--bf16"},
        std::vector<std::string>{"--position-embedding-type", "rope", "--no-rope-freq", "2",
                                 "--attention-chunk-size", "16"}}) {
    for (const test::Cut& cut : {test::Cut{8, 40, 4, 64}, test::Cut{8, 7, 3, 9}}) {
      const auto [want, none] = answers_of(flags, cut, false);
      const auto [got, recordings] = answers_of(flags, cut, true);
      EXPECT_EQ(none, 0);
      EXPECT_GE(recordings, 1) << cut.slots;
      test::expect_same(got, want, 0);
    }
  }
}

/// The logits of seven tokens behind a text of 252, which end beyond a chunk of positions.
std::vector<float> logits_of_long_text(bool graphs, const std::vector<std::string>& more) {
  std::vector<std::string> flags = {"--position-embedding-type", "rope", "--seq-length", "512",
                                    "--max-position-embeddings", "512"};
  flags.insert(flags.end(), more.begin(), more.end());
  const test::RandomDecoder random(flags, device::make_cuda_device(0));
  CachedEngine engine(*random.device, random.model,
                      {.block_size = 64, .blocks = 5, .slots = 1, .graphs = graphs},
                      test::kDecoderVocabulary);
  const std::vector<Index> blocks = {4, 1, 3, 2, 0};
  TokenIds text;
  for (Index i = 0; i < 252; ++i) {
    text.push_back(static_cast<TokenId>(i * i % 60));
  }
  StepPlan plan;
  plan.sequences = {{.tokens = text, .blocks = blocks, .logits_from = 252}};
  engine.step(plan);
  std::vector<float> all;
  for (Index position = 252; position < 259; ++position) {
    const TokenIds one = {static_cast<TokenId>(position % 60)};
    plan.sequences = {{.first_position = position, .tokens = one, .blocks = blocks}};
    const auto row = engine.step(plan);
    all.insert(all.end(), row.begin(), row.end());
  }
  EXPECT_EQ(engine.runner().recordings(), graphs ? 2 : 0);
  return all;
}

/// A graph serves up to a multiple of what one launch divides a text by; the next one is longer.
TEST(DecodeGraphs, TextsOutgrowTheirGraph) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--attention-chunk-size", "64"}}) {
    EXPECT_EQ(logits_of_long_text(true, more), logits_of_long_text(false, more));
  }
}

TEST(DecodeGraphs, ServeStepsOfOneTokenEach) {
  const TokenIds one = {5}, two = {5, 6}, image = {-1};
  StepPlan plan;
  EXPECT_FALSE(DecodeGraphs::serves(plan));
  plan.sequences = {{.tokens = one}, {.tokens = one, .logits_from = 0}};
  EXPECT_TRUE(DecodeGraphs::serves(plan));
  plan.sequences[1].tokens = two;
  EXPECT_FALSE(DecodeGraphs::serves(plan));
  plan.sequences[1].tokens = image;
  EXPECT_FALSE(DecodeGraphs::serves(plan));
  plan.sequences[1] = {.tokens = one, .logits_from = 1};
  EXPECT_FALSE(DecodeGraphs::serves(plan));
}

}  // namespace decode_graphs_test
}  // namespace mpitron::inference
