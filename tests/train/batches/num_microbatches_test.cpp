#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "train/batches/sample_schedule.h"
#include "utils/error.h"

namespace mpitron::train {
namespace num_microbatches_test {

config::TrainingConfig options(const nlohmann::json& c) {
  config::TrainingConfig config;
  config.global_batch_size = c.at("global_batch_size");
  config.micro_batch_size = c.at("micro_batch_size");
  config.decrease_batch_size_if_needed = c.at("decrease_batch_size_if_needed");
  if (c.at("kind") == "rampup") {
    config.rampup_batch_size = {
        .start = c.at("start"), .increment = c.at("increment"), .samples = c.at("rampup_samples")};
  }
  return config;
}

config::TrainingConfig ramp_2_2_24() {
  config::TrainingConfig config;
  config.global_batch_size = 8;
  config.micro_batch_size = 2;
  config.rampup_batch_size = {.start = 2, .increment = 2, .samples = 24};
  return config;
}

TEST(NumMicrobatches, EqualsReferenceTable) {
  const nlohmann::json table = test::golden_table("num_microbatches");
  int refused = 0;
  ASSERT_GE(table.at("cases").size(), 11U);
  for (const auto& c : table.at("cases")) {
    const Index dp = c.at("data_parallel_size");
    if (c.contains("error") && c.at("error") != "ZeroDivisionError") {
      EXPECT_THROW(NumMicrobatches(options(c), dp), Error) << c;
      ++refused;
      continue;
    }
    const NumMicrobatches batches(options(c), dp);
    if (c.contains("error")) {  // start = full size: constant here
      EXPECT_EQ(batches.at(0).global, c.at("global_batch_size"));
    } else if (c.at("kind") == "constant") {
      EXPECT_EQ(batches.at(12345), (BatchSize{.global = c.at("current_global_batch_size"),
                                              .running = c.at("running_global_batch_size"),
                                              .num_microbatches = c.at("num_microbatches")}));
    } else {
      ASSERT_FALSE(c.at("trace").empty());
      for (const auto& row : c.at("trace")) {
        EXPECT_EQ(batches.at(row[0]),
                  (BatchSize{.global = row[1], .running = row[2], .num_microbatches = row[3]}))
            << c.at("rampup_samples") << " at " << row[0];
      }
    }
  }
  EXPECT_EQ(refused, 2);
}

TEST(NumMicrobatches, SkippedSamplesOfADecreasedBatch) {
  config::TrainingConfig config;
  config.global_batch_size = 10;
  config.micro_batch_size = 2;
  config.decrease_batch_size_if_needed = true;
  EXPECT_EQ(NumMicrobatches(config, 4).at(0),
            (BatchSize{.global = 10, .running = 8, .num_microbatches = 1}));
  EXPECT_THROW(NumMicrobatches(config, 8), Error) << "10 samples do not fill 8 ranks";
}

TEST(NumMicrobatches, EveryRampUpSizeIsCheckedAtOnce) {
  config::TrainingConfig config = ramp_2_2_24();
  EXPECT_THROW(NumMicrobatches(config, 2), Error) << "2 samples do not fill 2 ranks of 2";
  config.rampup_batch_size = {.start = 2, .increment = 4, .samples = 24};
  EXPECT_THROW(NumMicrobatches(config, 1), Error) << "2 + 4 + 4 misses 8";
}

}  // namespace num_microbatches_test
}  // namespace mpitron::train
