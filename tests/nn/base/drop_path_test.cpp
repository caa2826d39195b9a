#include "nn/base/drop_path.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::nn {
namespace drop_path_test {

TEST(DropPath, SamplesAreLeftOutWholeWhereverTheyLie) {
  const auto device = device::make_device("host");
  const autograd::RngKey key{.seed = 5, .iteration = 2, .layer = 3, .site = 17};
  const std::vector<double> ones(2 * 32 * 3, 1.0);
  autograd::Context context{.device = *device};
  const autograd::Var x =
      autograd::variable(test::make_tensor(*device, {2, 32, 3}, DType::f32, ones));
  const std::vector<double> dropped = test::values_of(drop_path(context, x, 0.5, key).value);
  Index kept = 0;
  for (std::size_t sample = 0; sample < 32; ++sample) {
    for (const std::size_t row : {std::size_t{0}, std::size_t{32}}) {
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(dropped[(row + sample) * 3 + i], dropped[sample * 3]);
      }
    }
    EXPECT_TRUE(dropped[sample * 3] == 0 || dropped[sample * 3] == 2);
    kept += dropped[sample * 3] > 0 ? 1 : 0;
  }
  EXPECT_GT(kept, 8);
  EXPECT_LT(kept, 24);

  // The same samples in another place of a batch.
  context.position.first_sample = 8;
  const autograd::Var part = autograd::variable(
      test::make_tensor(*device, {1, 4, 3}, DType::f32, {ones.begin(), ones.begin() + 12}));
  const std::vector<double> again = test::values_of(drop_path(context, part, 0.5, key).value);
  EXPECT_EQ(again, std::vector<double>(dropped.begin() + 24, dropped.begin() + 36));

  context.mode = autograd::Mode::evaluate;
  EXPECT_EQ(test::values_of(drop_path(context, x, 0.5, key).value), ones);
}

}  // namespace drop_path_test
}  // namespace mpitron::nn
