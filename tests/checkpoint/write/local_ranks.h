#pragma once

#include <gtest/gtest.h>

#include "checkpoint/read/checkpoint_reader.h"
#include "checkpoint/write/local_checkpoints.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

// Ranks of several nodes that keep local checkpoints.

namespace mpitron::checkpoint {

inline constexpr Index kRanks = 4;
inline constexpr const char* kLayout = "{\"world_size\": 4}";

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

}  // namespace mpitron::checkpoint
