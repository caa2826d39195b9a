#include "train/checkpointing/checkpoint_source.h"

#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/folders/folder.h"
#include "train/checkpoint_run.h"
#include "utils/error.h"

namespace mpitron::train {
namespace checkpoint_source_test {

class CheckpointSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    run_with_checkpoints({"--save", folder_.path()}, 1, 2, {1, 2});
    config_.load = folder_.path();
  }
  std::string file(Index iteration) const {
    return checkpoint::Folder(folder_.path()).file(iteration);
  }
  void damage(Index iteration) const {
    std::fstream bytes(file(iteration), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-100, std::ios::end);
    bytes.put('\x55').put('\x55').put('\x55');
  }

  const test::TemporaryFolder folder_;
  config::CheckpointConfig config_;
  std::unique_ptr<comm::World> world_ = comm::make_single_world();
};

TEST_F(CheckpointSourceTest, TheNewestComesFirst) {
  const auto sources = checkpoint_sources(*world_, config_);
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_EQ(sources[0].file, file(2));
  EXPECT_EQ(sources[1].file, file(1));
  EXPECT_FALSE(sources[0].weights_only);
  EXPECT_EQ(vocabulary_rows(*world_, sources), 24);
  config_.ckpt_step = 1;
  config_.finetune = true;
  const auto first = checkpoint_sources(*world_, config_);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].file, file(1));
  EXPECT_TRUE(first[0].weights_only);
  config_.ckpt_step = 3;
  EXPECT_THROW(checkpoint_sources(*world_, config_), Error);
}

TEST_F(CheckpointSourceTest, TheVocabularyIsThatOfTheFirstThatOpens) {
  damage(2);
  EXPECT_EQ(vocabulary_rows(*world_, checkpoint_sources(*world_, config_)), 24);
  damage(1);
  EXPECT_FALSE(vocabulary_rows(*world_, checkpoint_sources(*world_, config_)));
}

TEST_F(CheckpointSourceTest, PretrainedWeightsComeLast) {
  config_.pretrained_checkpoint = config_.load;
  const auto sources = checkpoint_sources(*world_, config_);
  ASSERT_EQ(sources.size(), 4U);
  EXPECT_FALSE(sources[1].weights_only);
  EXPECT_TRUE(sources[2].weights_only);
  EXPECT_EQ(sources[2].file, file(2));
}

TEST_F(CheckpointSourceTest, NothingIsAskedForOrNothingIsThere) {
  EXPECT_TRUE(checkpoint_sources(*world_, {}).empty());
  EXPECT_FALSE(vocabulary_rows(*world_, {}));
  config_.load = folder_.path() / "empty";
  EXPECT_TRUE(checkpoint_sources(*world_, config_).empty());
  config_.load = file(1);
  EXPECT_THROW(checkpoint_sources(*world_, config_), Error);
}

}  // namespace checkpoint_source_test
}  // namespace mpitron::train
