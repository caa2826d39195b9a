#include "checkpoint/write/local_checkpoints.h"

#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/read/checkpoint_reader.h"
#include "checkpoint/write/local_ranks.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace local_checkpoints_test {

TEST_F(LocalCheckpointsTest, TheNewestIsKeptAndLoaded) {
  expect_newest(std::nullopt);
  save(3);
  expect_newest(3);
  save(4);
  expect_newest(4);
  EXPECT_EQ(Folder(rank(1)).iterations(), std::vector<Index>{4});
  expect_newest(std::nullopt, 1, "another layout");
}

TEST_F(LocalCheckpointsTest, AFolderThatCannotBeWrittenIsToldToAll) {
  std::ofstream(rank(3)) << "no folder";
  on_ranks([&](Index rank, LocalCheckpoints& local) {
    RankState state(rank, 1);
    const Header header{.iteration = 1, .layout = kLayout};
    const std::vector<tensor::ShardedTensor> tensors = state.tensors();
    local.save({.tensors = tensors, .header = &header, .iteration = 1});
    const std::optional<SaveReport> report = local.finish(true);
    EXPECT_NE(report->error.find("rank_00003"), std::string::npos) << report->error;
  });
  std::filesystem::remove(rank(3));
  save(2);
  expect_newest(2);
}

}  // namespace local_checkpoints_test

}  // namespace mpitron::checkpoint
