#include <gtest/gtest.h>

#include "plan/time/timed_layer.h"

namespace mpitron::plan {
namespace head_time_test {

/// Products of the backward pass are two, and as large.
TEST(HeadTime, GrowsWithTheVocabulary) {
  const Machine machine = *Library().machine("h100-dgx");
  const Stack stack = *Library().stack("megatron");
  const auto time = [&](Index vocabulary) {
    test::Sizes sizes = test::kTimedGpt;
    sizes.vocabulary = vocabulary;
    const Job job = make_job(test::planned_run(sizes, 2048, 64, {.gpus = 1}));
    return head_time({machine, stack, job});
  };
  const LayerTime small = time(51200), large = time(102400);
  EXPECT_NEAR(large.forward.elementwise, 2 * small.forward.elementwise, 1e-12);
  EXPECT_GT(large.forward.products, 1.8 * small.forward.products);
  EXPECT_NEAR(small.backward.products, 2 * small.forward.products, 0.2 * small.forward.products);
}

/// A depth has the output layer's product, and one of its own.
TEST(HeadTime, ADepthTakesLongerThanTheHead) {
  const Machine machine = *Library().machine("h100-dgx");
  const Stack stack = *Library().stack("megatron");
  const Job job = make_job(test::planned_run(test::kTimedGpt, 2048, 64, {.gpus = 1}));
  const Setting setting{machine, stack, job};
  EXPECT_GT(depth_time(setting).forward.products, head_time(setting).forward.products);
  EXPECT_EQ(depth_time(setting).forward.elementwise, head_time(setting).forward.elementwise);
}

}  // namespace head_time_test
}  // namespace mpitron::plan
