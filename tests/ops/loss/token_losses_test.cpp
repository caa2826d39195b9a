#include "ops/loss/token_losses.h"

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::ops {
namespace token_losses_test {

TEST(TokenLosses, CountWhatTheMaskSays) {
  const auto device = device::make_device("reference");
  autograd::Context context{.device = *device};
  const auto losses = test::make_tensor(*device, {2, 2}, DType::f32, {1, 2, 4, 8});
  const auto mask = test::make_tensor(*device, {2, 2}, DType::f32, {1, 0, 0.5, 1});
  const auto [loss, tokens] = read_sums(*device, sum_tokens(context, losses, mask));
  EXPECT_EQ(loss, 11);
  EXPECT_EQ(tokens, 2.5);
  EXPECT_EQ(test::values_of(token_seed(context, mask, 3)), (std::vector<double>{3, 0, 1.5, 3}));
}

}  // namespace token_losses_test
}  // namespace mpitron::ops
