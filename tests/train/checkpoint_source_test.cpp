#include "train/checkpoint_source.h"

#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/folder.h"
#include "train/checkpoint_run.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

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

  const testing::TemporaryFolder folder_;
  config::CheckpointConfig config_;
  std::unique_ptr<comm::World> world_ = comm::make_single_world();
};

TEST_F(CheckpointSourceTest, IsTheNewestOne) {
  const auto source = choose_checkpoint(*world_, config_);
  ASSERT_TRUE(source);
  EXPECT_EQ(source->file, file(2));
  EXPECT_FALSE(source->weights_only);
  EXPECT_EQ(vocabulary_rows(*world_, source), 24);
  config_.ckpt_step = 1;
  config_.finetune = true;
  const auto first = choose_checkpoint(*world_, config_);
  EXPECT_EQ(first->file, file(1));
  EXPECT_TRUE(first->weights_only);
}

/// What a run takes the vocabulary's size from is what it loads.
TEST_F(CheckpointSourceTest, ADamagedOneIsPassedByOnce) {
  damage(2);
  const auto source = choose_checkpoint(*world_, config_);
  ASSERT_TRUE(source);
  EXPECT_EQ(source->file, file(1));
  EXPECT_EQ(vocabulary_rows(*world_, source), 24);
  damage(1);
  EXPECT_THROW(choose_checkpoint(*world_, config_), Error);
}

TEST_F(CheckpointSourceTest, NothingIsAskedForOrNothingIsThere) {
  EXPECT_FALSE(choose_checkpoint(*world_, {}));
  EXPECT_FALSE(vocabulary_rows(*world_, std::nullopt));
  config_.load = folder_.path() / "empty";
  EXPECT_THROW(choose_checkpoint(*world_, config_), Error);
  config_.allow_random_init = true;
  EXPECT_FALSE(choose_checkpoint(*world_, config_));
}

}  // namespace
}  // namespace mpitron::train
