#include "train/training_data.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

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

class MockData : public ::testing::Test {
 protected:
  static std::vector<std::int64_t> copy(std::span<const std::int64_t> x) {
    return {x.begin(), x.end()};
  }
  config::RunConfig config_ = tiny_run({"--eval-iters", "3", "--eval-interval", "10"});
  TrainingData data_ = make_training_data(config_);
};

TEST_F(MockData, HasTheSamplesThatTheRunConsumes) {
  ASSERT_TRUE(data_.sets.train);
  EXPECT_GE(data_.sets.train->size(), 40 * 8);
  ASSERT_EQ(data_.sets.valid.size(), 1u);
  EXPECT_GE(data_.sets.valid[0]->size(), (40 / 10 + 1) * 3 * 8);
  EXPECT_GE(data_.sets.test->size(), 3 * 8);
}

TEST_F(MockData, AStreamCountsGlobalSamples) {
  MicrobatchStream stream(data_.sets.train, config_, *data_.tokenizer, 0);
  for (const Index first : {0, 2, 4}) {
    const HostMicrobatch microbatch = stream.next();
    EXPECT_EQ(microbatch.samples, 2);
    EXPECT_EQ(microbatch.sequence_length, 8);
    EXPECT_EQ(microbatch.first_sample, first);
    EXPECT_EQ(microbatch.tokens.size(), 16u);
    EXPECT_EQ(microbatch.loss_mask.size(), 16u);
    EXPECT_TRUE(microbatch.attention_mask.empty());
    // Labels are the tokens one later.
    EXPECT_EQ(microbatch.labels[3], microbatch.tokens[4]);
    EXPECT_EQ(microbatch.position_ids[9], 1);
  }
}

TEST_F(MockData, AStreamContinuesWhereARunStopped) {
  MicrobatchStream whole(data_.sets.train, config_, *data_.tokenizer, 0);
  whole.next(), whole.next();
  const std::vector<std::int64_t> third = copy(whole.next().tokens);
  MicrobatchStream resumed(data_.sets.train, config_, *data_.tokenizer, 4);
  const HostMicrobatch microbatch = resumed.next();
  EXPECT_EQ(microbatch.first_sample, 4);
  EXPECT_EQ(copy(microbatch.tokens), third);
}

TEST_F(MockData, PackedDocumentsBringTheirMasks) {
  const config::RunConfig packed = tiny_run({"--reset-attention-mask"});
  const TrainingData data = make_training_data(packed);
  MicrobatchStream stream(data.sets.train, packed, *data.tokenizer, 0);
  EXPECT_EQ(stream.next().attention_mask.size(), 2u * 8 * 8);
}

}  // namespace
}  // namespace mpitron::train
