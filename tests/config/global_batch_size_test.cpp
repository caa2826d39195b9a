#include "config/global_batch_size.h"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/flags.h"

namespace mpitron::config {
namespace {

using Json = nlohmann::json;

TrainingConfig training_of(const Json& row) {
  TrainingConfig t;
  t.micro_batch_size = row.at("micro_batch_size");
  t.global_batch_size = row.at("global_batch_size");
  t.decrease_batch_size_if_needed = row.at("decrease_batch_size_if_needed");
  if (row.at("kind") == "rampup") {
    t.rampup_batch_size = TrainingConfig::RampupBatchSize{row.at("start"), row.at("increment"),
                                                          row.at("rampup_samples")};
  }
  return t;
}

TEST(GlobalBatchSize, EqualsTheReference) {
  std::ifstream in(test::golden_folder() / "tables.json");
  if (!in) {
    GTEST_SKIP() << "no tables.json";
  }
  const Json table = Json::parse(in).at("num_microbatches");
  int rows = 0;
  for (const Json& row : table.at("cases")) {
    if (row.contains("error")) {
      continue;
    }
    const TrainingConfig t = training_of(row);
    const Index replicas = row.at("data_parallel_size");
    if (!row.contains("trace")) {
      EXPECT_EQ(global_batch_size_at(t, replicas, 0), row.at("running_global_batch_size")) << row;
      ++rows;
      continue;
    }
    for (const Json& point :
         row.at("trace")) {  // consumed samples, batch, running batch, micro batches
      EXPECT_EQ(global_batch_size_at(t, replicas, point.at(0)), point.at(2))
          << row.dump().substr(0, 200) << point;
      ++rows;
    }
  }
  EXPECT_GT(rows, 20);
}

TEST(GlobalBatchSize, IterationsOfARampByHand) {
  TrainingConfig t;
  t.micro_batch_size = 2;
  t.global_batch_size = 8;
  EXPECT_EQ(iterations_for_samples(t, 163), 20);
  t.rampup_batch_size = TrainingConfig::RampupBatchSize{2, 2, 24};
  // 2 2 2 2 | 4 4 | 6 6 consume 28 samples in 8 steps, then (160 - 28) / 8 = 16 full batches.
  EXPECT_EQ(iterations_for_samples(t, 160), 24);
}

TEST(GlobalBatchSize, ARampThatStartsAtTheFullBatchIsConstant) {
  TrainingConfig t;
  t.micro_batch_size = 1;
  t.global_batch_size = 4;
  t.rampup_batch_size = TrainingConfig::RampupBatchSize{4, 2, 100};
  EXPECT_EQ(global_batch_size_at(t, 1, 0), 4);
  EXPECT_EQ(iterations_for_samples(t, 40), 10);
}

}  // namespace
}  // namespace mpitron::config
