#include "data/loading/batch_sampler.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/golden_json.h"
#include "utils/error.h"

namespace mpitron::data {
namespace batch_sampler_test {

BatchSamplerRequest request_of(const nlohmann::json& expected, Index rank) {
  BatchSamplerRequest request;
  request.total_samples = expected["total_samples"];
  request.consumed_samples = expected["consumed_samples"];
  request.micro_batch_size = expected["micro_batch_size"];
  request.data_parallel_rank = rank;
  request.data_parallel_size = expected["data_parallel_size"];
  return request;
}

TEST(BatchSampler, ReproducesEverySequentialReference) {
  const auto cases = test::golden_json("dataset/samplers.json")["pretraining"];
  ASSERT_FALSE(cases.empty());
  for (const auto& expected : cases) {
    for (Index rank = 0; rank < expected["data_parallel_size"].get<Index>(); ++rank) {
      BatchSamplerRequest request = request_of(expected, rank);
      request.drop_last = expected["drop_last"];
      BatchSampler sampler(request);
      std::vector<std::vector<Index>> batches;
      for (std::vector<Index> batch; sampler.next(batch);) {
        batches.push_back(batch);
      }
      EXPECT_EQ(batches, expected["batches_per_rank"][static_cast<std::size_t>(rank)]) << expected;
    }
  }
}

TEST(BatchSampler, ReproducesEveryRandomReference) {
  const auto cases = test::golden_json("dataset/samplers.json")["random"];
  ASSERT_FALSE(cases.empty());
  for (const auto& expected : cases) {
    for (Index rank = 0; rank < expected["data_parallel_size"].get<Index>(); ++rank) {
      BatchSamplerRequest request = request_of(expected, rank);
      request.kind = SamplerKind::cyclic;
      request.data_sharding = expected["data_sharding"];
      BatchSampler sampler(request);
      std::vector<Index> batch;
      for (const auto& reference : expected["batches_per_rank"][static_cast<std::size_t>(rank)]) {
        ASSERT_TRUE(sampler.next(batch));
        EXPECT_EQ(batch, reference) << expected << rank;
      }
    }
  }
}

TEST(BatchSampler, ResumesAnywhereAcrossEpochs) {
  for (const SamplerKind kind : {SamplerKind::single, SamplerKind::cyclic}) {
    for (const bool sharding : {false, true}) {
      BatchSamplerRequest request{kind, 50, 0, 2, 1, 3, true, sharding};
      BatchSampler uninterrupted(request);
      std::vector<Index> expected;
      std::vector<Index> resumed;
      for (int i = 0; i < 40; ++i) {
        request.consumed_samples = uninterrupted.consumed_samples();
        if (!uninterrupted.next(expected)) {
          break;
        }
        BatchSampler(request).next(resumed);
        EXPECT_EQ(resumed, expected);
      }
    }
  }
}

TEST(BatchSampler, PadsWithEmptyBatches) {
  const auto batches = [](Index rank) {
    BatchSampler sampler({.total_samples = 5,
                          .micro_batch_size = 2,
                          .data_parallel_rank = rank,
                          .data_parallel_size = 2,
                          .drop_last = false,
                          .padded_samples = 12});
    std::vector<std::vector<Index>> all;
    for (std::vector<Index> batch; sampler.next(batch);) {
      all.push_back(batch);
    }
    return all;
  };
  EXPECT_EQ(batches(0), (std::vector<std::vector<Index>>{{0, 1}, {4}, {}}));
  EXPECT_EQ(batches(1), (std::vector<std::vector<Index>>{{2, 3}, {}, {}}));
}

TEST(BatchSampler, RefusesWhatItCannotServe) {
  EXPECT_THROW(BatchSampler({SamplerKind::single, 0, 0}), Error);
  EXPECT_THROW(BatchSampler({SamplerKind::single, 10, 10}), Error);
  EXPECT_THROW(BatchSampler({SamplerKind::cyclic, 3, 0, 2, 0, 2}), Error);
}

TEST(EpochOrder, IsTheRecordedOne) {
  const std::string file = "generation/heads/orders.json";
  if (!std::filesystem::exists(test::golden_folder() + "/" + file)) {
    GTEST_SKIP() << file << " is not in MPITRON_GOLDEN_DIR";
  }
  const nlohmann::json recorded = test::golden_json(file);
  for (const auto& expected : recorded["cases"]) {
    const Index replicas = expected["replicas"];
    const auto order = epoch_order(expected["samples"], replicas, expected["seed_plus_epoch"],
                                   expected["drop_last"]);
    std::vector<std::vector<std::int64_t>> ranks(static_cast<std::size_t>(replicas));
    for (std::size_t i = 0; i < order.size(); ++i) {
      ranks[i % ranks.size()].push_back(order[i]);
    }
    EXPECT_EQ(ranks, expected["ranks"]) << expected;
  }
}

TEST(BatchSampler, EpochsGoOnWhereTheyStopped) {
  const BatchSamplerRequest request{.kind = SamplerKind::epochs,
                                    .total_samples = 11,
                                    .micro_batch_size = 2,
                                    .data_parallel_rank = 1,
                                    .data_parallel_size = 2,
                                    .seed = 1234,
                                    .batches_of_step = 1};
  EXPECT_EQ(request.batches_of_epoch(), 3);
  BatchSampler whole(request);
  std::vector<Index> batch, other;
  for (int i = 0; i < 4; ++i) {
    whole.next(batch);
  }
  BatchSamplerRequest later = request;
  later.consumed_samples = 4 * 4;
  BatchSampler resumed(later);
  for (int i = 0; i < 5; ++i) {
    whole.next(batch);
    resumed.next(other);
    EXPECT_EQ(batch, other);
  }
  BatchSamplerRequest shorter = request;
  shorter.batches_of_step = 2;
  EXPECT_EQ(shorter.batches_of_epoch(), 2);
  shorter.batches_of_step = 4;
  EXPECT_THROW(BatchSampler{shorter}, Error);
}

}  // namespace batch_sampler_test
}  // namespace mpitron::data
