#include "checkpoint/write/local_checkpoints.h"

#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/read/checkpoint_reader.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace local_checkpoints_test {

constexpr Index kRanks = 4;
constexpr const char* kLayout = "{\"world_size\": 4}";

/// What a rank holds: values that say whose they are and from which iteration.
struct RankState {
  RankState(Index rank, Index iteration) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(1000 * iteration + 100 * rank) + static_cast<float>(i);
    }
  }
  std::vector<tensor::ShardedTensor> tensors() {
    // A half of a matrix cut by columns: in a local file its elements are a row.
    return {{.name = "model/w",
             .shape = {5, 8},
             .shard = {.dim = 1, .ranges = {{0, 4}}},
             .value = {values.data(), DType::f32, {5, 4}}}};
  }
  std::vector<float> values = std::vector<float>(20);
};

class LocalCheckpointsTest : public ::testing::Test {
 protected:
  /// `body` on every rank, with its local checkpoints.
  void on_ranks(const std::function<void(Index, LocalCheckpoints&)>& body, Index factor = 1) const {
    comm::run_thread_world(kRanks, [&](comm::World& world) {
      LocalCheckpoints local(world, {.folder = folder_.path(),
                                     .replication_jump = factor > 1 ? 2 : 0,
                                     .replication_factor = factor});
      body(world.rank(), local);
    });
  }
  void save(Index iteration, Index factor = 1) const {
    on_ranks(
        [&](Index rank, LocalCheckpoints& local) {
          RankState state(rank, iteration);
          const Header header{.iteration = iteration, .layout = kLayout};
          const std::vector<tensor::ShardedTensor> tensors = state.tensors();
          local.save({.tensors = tensors,
                      .header = &header,
                      .iteration = iteration,
                      .asynchronous = iteration % 2 == 0});
          local.wait_for_copies();
          if (iteration % 2 == 0) {
            std::fill(state.values.begin(), state.values.end(), -1.0f);
          }
          std::optional<SaveReport> report;
          while (!report) {
            report = local.finish(false);
          }
          EXPECT_EQ(report->error, "");
          EXPECT_EQ(report->bytes, kRanks * 80);
        },
        factor);
  }
  void expect_newest(std::optional<Index> iteration, Index factor = 1,
                     const char* layout = kLayout) const {
    on_ranks(
        [&](Index rank, LocalCheckpoints& local) {
          ASSERT_EQ(local.newest(layout), iteration);
          if (iteration) {
            RankState loaded(rank, 0);
            const auto alone = comm::make_single_world();
            CheckpointReader reader(*alone, local.fetch(*iteration));
            reader.read(std::vector<LoadTarget>{{LocalCheckpoints::own(loaded.tensors()[0])}});
            EXPECT_EQ(loaded.values, RankState(rank, *iteration).values);
          }
        },
        factor);
  }
  std::filesystem::path rank(Index rank) const {
    return folder_.path() / ("rank_0000" + std::to_string(rank));
  }

  const test::TemporaryFolder folder_;
};

TEST_F(LocalCheckpointsTest, TheNewestIsKeptAndLoaded) {
  expect_newest(std::nullopt);
  save(3);
  expect_newest(3);
  save(4);
  expect_newest(4);
  EXPECT_EQ(Folder(rank(1)).iterations(), std::vector<Index>{4});
  expect_newest(std::nullopt, 1, "another layout");
}

TEST_F(LocalCheckpointsTest, WhatOneRankHasLostIsLostWithoutReplicas) {
  save(3);
  std::filesystem::remove_all(rank(2));
  expect_newest(std::nullopt);
}

TEST_F(LocalCheckpointsTest, ANodeThatLostItsCopyGetsItFromItsReplica) {
  save(3, 2);
  std::filesystem::remove_all(rank(2));
  std::filesystem::remove_all(rank(3));
  expect_newest(3, 2);
  EXPECT_EQ(Folder(rank(3)).iterations(), std::vector<Index>{3});
  std::filesystem::remove_all(rank(1));
  std::filesystem::remove_all(rank(3));  // both of a group
  expect_newest(std::nullopt, 2);
}

TEST_F(LocalCheckpointsTest, ADamagedFileIsReplacedByItsReplica) {
  save(5, 2);
  {
    const std::filesystem::path path = Folder(rank(0)).file(5);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path)) / 2);
    file.put('!');
  }
  expect_newest(5, 2);
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
