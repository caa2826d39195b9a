#include "inference/uncached_engine.h"

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "support/host_runtime.h"
#include "tests/inference/recorded_answers.h"

namespace mpitron::inference {
namespace uncached_engine_test {

TEST(UncachedEngine, AnswersAsTheReference) {
  if (!test::has_generation_models()) {
    GTEST_SKIP() << "no recorded models";
  }
  for (const std::string& name : test::generation_models()) {
    SCOPED_TRACE(name);
    const test::GoldenModel golden(name, test::recorded_length(name));
    UncachedEngine engine(*golden.device, golden.model,
                          {.block_size = 8, .blocks = 40, .slots = 4, .max_step_tokens = 16},
                          golden.tokenizer->vocab_size());
    test::expect_greedy(engine, *golden.tokenizer, name);
  }
}

TEST(UncachedEngine, CopiesBlocks) {
  const auto device = device::make_device("host");
  config::ModelConfig config =
      config::parse_run_config({"--num-layers", "1", "--hidden-size", "16", "--num-attention-heads",
                                "2", "--seq-length", "8", "--max-position-embeddings", "8",
                                "--micro-batch-size", "1", "--train-iters", "1", "--lr", "1e-3",
                                "--mock-data"})
          .model;
  config.padded_vocab_size = 32;
  models::GptModel model(config, *device);
  model.initialize();
  UncachedEngine engine(*device, model, {.block_size = 2, .blocks = 4}, 30);
  EXPECT_EQ(engine.shape().max_positions, 8);
  const TokenIds prompt = {3, 4, 5}, last = {6};
  const std::vector<Index> blocks = {0, 1}, copied = {2, 3};
  StepPlan first;
  first.sequences = {{.tokens = prompt, .blocks = blocks, .logits_from = 3}};
  EXPECT_TRUE(engine.step(first).empty());
  StepPlan copies;
  copies.block_copies = {{0, 2}, {1, 3}};
  engine.step(copies);
  const SequenceStep a{.first_position = 3, .tokens = last, .blocks = blocks};
  const SequenceStep b{.first_position = 3, .tokens = last, .blocks = copied};
  const auto rows_of = [&](const SequenceStep& step) {
    StepPlan plan;
    plan.sequences = {step};
    const auto rows = engine.step(plan);
    return std::vector<float>(rows.begin(), rows.end());
  };
  EXPECT_EQ(rows_of(a).size(), 32u);
  EXPECT_EQ(rows_of(a), rows_of(b));
}

}  // namespace uncached_engine_test
}  // namespace mpitron::inference
