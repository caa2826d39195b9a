#include "ops/attention/largest_scores.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::ops {
namespace largest_scores_test {

/// Two positions; a group of two query heads of one column, a key and a value. The second key is
/// large, and only the second query sees it.
TEST(LargestScores, AreThoseOfEachHead) {
  const auto device = device::make_device("host");
  Context context{.device = *device};
  AttentionSettings settings;
  settings.layout = {2, 1, 1};
  settings.scale = 0.5F, settings.causal = true;
  const tensor::Tensor qkv =
      test::make_tensor(*device, {2, 1, 4}, DType::f32, {3, -1, 2, 9, 1, 2, 100, 9});
  EXPECT_EQ(test::values_of(largest_scores(context, qkv, settings)),
            (std::vector<double>{50, 100}));
  settings.causal = false;
  EXPECT_EQ(test::values_of(largest_scores(context, qkv, settings)),
            (std::vector<double>{150, 100}));
}

}  // namespace largest_scores_test
}  // namespace mpitron::ops
