#include "train/batches/sample_schedule.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::train {
namespace sample_schedule_test {

config::RunConfig small_run() {
  config::RunConfig config;
  config.training.micro_batch_size = 2;
  config.training.global_batch_size = 12;
  config.training.train_iters = 5;
  config.parallel.data_parallel_size = 3;
  return config;
}

std::vector<Index> numbers(std::vector<ScheduledSample> samples, Index rank) {
  std::vector<Index> result;
  for (const ScheduledSample& sample : samples) {
    if (sample.data_parallel_rank == rank) {
      result.push_back(sample.sample);
    }
  }
  return result;
}

TEST(SampleSchedule, DealsMicrobatchesToTheRanksInTurn) {
  const SampleSchedule schedule(small_run(), 60);
  const std::vector<ScheduledSample> second = schedule.at(2);
  EXPECT_EQ(second.size(), 12U);
  EXPECT_EQ(numbers(second, 0), (std::vector<Index>{12, 13, 18, 19}));
  EXPECT_EQ(numbers(second, 1), (std::vector<Index>{14, 15, 20, 21}));
  EXPECT_EQ(numbers(second, 2), (std::vector<Index>{16, 17, 22, 23}));
  EXPECT_EQ(second[2].microbatch, 1);
  EXPECT_THROW(schedule.at(0), Error);
  EXPECT_THROW(schedule.at(6), Error);
}

TEST(SampleSchedule, FollowsTheRampUpOfTheBatchSize) {
  config::RunConfig config = small_run();
  config.training.rampup_batch_size = {.start = 6, .increment = 6, .samples = 12};
  const SampleSchedule schedule(config, 60);
  EXPECT_EQ(schedule.at(1).size(), 6U);
  EXPECT_EQ(schedule.consumed_before(2), 6);
  const auto all = schedule.uses([](Index) { return true; });
  std::vector<Index> samples;
  for (const ScheduledSample& use : all) {
    samples.push_back(use.sample);
  }
  std::sort(samples.begin(), samples.end());
  EXPECT_TRUE(std::adjacent_find(samples.begin(), samples.end()) == samples.end());
  EXPECT_EQ(samples.back() + 1, static_cast<Index>(samples.size()));
}

TEST(SampleSchedule, FindsTheIterationsThatItListsItself) {
  for (const bool cyclic : {false, true}) {
    config::RunConfig config = small_run();
    config.data.dataloader_type =
        cyclic ? config::DataloaderType::cyclic : config::DataloaderType::single;
    config.training.train_iters = 12;
    const SampleSchedule schedule(config, cyclic ? 40 : 200);
    std::map<Index, std::vector<Index>> iterations;  // of each sample
    for (Index i = 1; i <= schedule.iterations(); ++i) {
      for (const ScheduledSample& sample : schedule.at(i)) {
        iterations[sample.sample].push_back(i);
      }
    }
    for (const Index wanted : {0, 7, 30}) {
      std::vector<Index> found;
      for (const ScheduledSample& use :
           schedule.uses([&](Index sample) { return sample == wanted; })) {
        found.push_back(use.iteration);
      }
      EXPECT_EQ(found, iterations[wanted]) << cyclic << wanted;
    }
  }
}

}  // namespace sample_schedule_test
}  // namespace mpitron::train
