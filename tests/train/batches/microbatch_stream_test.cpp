#include "train/batches/microbatch_stream.h"

#include <gtest/gtest.h>

#include "train/batches/training_data.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace microbatch_stream_test {

class MockStream : public ::testing::Test {
 protected:
  static std::vector<std::int64_t> copy(std::span<const std::int64_t> x) {
    return {x.begin(), x.end()};
  }
  config::RunConfig config_ = tiny_run();
  TrainingData data_ = make_training_data(config_);
};

TEST_F(MockStream, CountsGlobalSamples) {
  MicrobatchStream stream(data_.sets.train, config_, data_, 0);
  for (const Index first : {0, 2, 4}) {
    const HostMicrobatch microbatch = stream.next();
    EXPECT_EQ(microbatch.samples, 2);
    EXPECT_EQ(microbatch.sequence_length, 8);
    EXPECT_EQ(microbatch.first_sample, first);
    EXPECT_EQ(microbatch[models::kTokens].size(), 16u);
    EXPECT_EQ(microbatch[models::kLossMask].size(), 16u);
    EXPECT_TRUE(microbatch[models::kAttentionMask].empty());
    // Labels are the tokens one later.
    EXPECT_EQ(microbatch[models::kLabels][3], microbatch[models::kTokens][4]);
    EXPECT_EQ(microbatch[models::kPositionIds][9], 1);
  }
}

TEST_F(MockStream, ContinuesWhereARunStopped) {
  MicrobatchStream whole(data_.sets.train, config_, data_, 0);
  whole.next(), whole.next();
  const std::vector<std::int64_t> third = copy(whole.next()[models::kTokens]);
  MicrobatchStream resumed(data_.sets.train, config_, data_, 4);
  const HostMicrobatch microbatch = resumed.next();
  EXPECT_EQ(microbatch.first_sample, 4);
  EXPECT_EQ(copy(microbatch[models::kTokens]), third);
}

TEST_F(MockStream, PackedDocumentsBringTheirMasks) {
  const config::RunConfig packed = tiny_run({"--reset-attention-mask"});
  const TrainingData data = make_training_data(packed);
  MicrobatchStream stream(data.sets.train, packed, data, 0);
  EXPECT_EQ(stream.next()[models::kAttentionMask].size(), 2u * 8 * 8);
}

}  // namespace microbatch_stream_test
}  // namespace mpitron::train
