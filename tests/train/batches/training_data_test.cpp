#include "train/batches/training_data.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "train/tiny_run.h"
#include "utils/error.h"

namespace mpitron::train {
namespace training_data_test {

TEST(PaddedVocabSize, RoundsUpUnlessGiven) {
  config::RunConfig config = tiny_run({"--make-vocab-size-divisible-by", "128"});
  EXPECT_EQ(padded_vocab_size(config, 24), 128);
  EXPECT_EQ(padded_vocab_size(config, 128), 128);
  config.parallel.tensor_model_parallel_size = 2;
  EXPECT_EQ(padded_vocab_size(config, 129), 256);
  config.data.padded_vocab_size = 130;
  EXPECT_EQ(padded_vocab_size(config, 129), 130);
  EXPECT_THROW(padded_vocab_size(config, 131), Error);
}

TEST(MakeRunTokenizer, TheNullTokenizerAddsItsEndOfDocument) {
  EXPECT_EQ(make_run_tokenizer(tiny_run().data)->vocab_size(), 24);
  config::DataConfig unsupported;
  unsupported.tokenizer_type = config::TokenizerType::none;
  EXPECT_THROW(make_run_tokenizer(unsupported), Error);
}

TEST(MakeTrainingData, HasTheSamplesThatTheRunConsumes) {
  const TrainingData data =
      make_training_data(tiny_run({"--eval-iters", "3", "--eval-interval", "10"}));
  ASSERT_TRUE(data.sets.train);
  EXPECT_GE(data.sets.train->size(), 40 * 8);
  ASSERT_EQ(data.sets.valid.size(), 1u);
  EXPECT_GE(data.sets.valid[0]->size(), (40 / 10 + 1) * 3 * 8);
  EXPECT_GE(data.sets.test->size(), 3 * 8);
}

/// Of mock documents of up to 4095 tokens 1, 2, ...
TEST(MakeTrainingData, MockDataStayInsideTheVocabulary) {
  const config::RunConfig run = tiny_run();
  ASSERT_TRUE(run.data.mock_data);
  const TrainingData data = make_training_data(run);
  std::vector<std::int64_t> text(static_cast<std::size_t>(run.training.seq_length) + 1);
  for (Index sample = 0; sample < 8; ++sample) {
    data.sets.train->read(sample, text);
    EXPECT_GE(std::ranges::min(text), 0) << sample;
    EXPECT_LT(std::ranges::max(text), data.tokenizer->vocab_size()) << sample;
  }
}

}  // namespace training_data_test
}  // namespace mpitron::train
