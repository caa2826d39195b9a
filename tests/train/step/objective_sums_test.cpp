#include "train/step/objective_sums.h"

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::train {
namespace objective_sums_test {

class ObjectiveSumsTest : public ::testing::Test {
 protected:
  tensor::Tensor numbers(const std::vector<double>& values) {
    return test::make_tensor(*device_, {static_cast<Index>(values.size())}, DType::f32, values);
  }
  std::unique_ptr<device::Device> device_ = device::make_device("host");
  autograd::Tape tape_;
};

TEST_F(ObjectiveSumsTest, CountsTokensAndMeansOfMicrobatches) {
  ObjectiveSums sums(2, false);
  sums.begin();
  autograd::Context context{.device = *device_};
  const auto told = autograd::constant(numbers({4}));
  sums.add(context,
           {{.losses = autograd::constant(numbers({1, 2, 3})), .mask = numbers({1, 1, 0})},
            {.losses = told, .mask = {}, .count = 1}},
           0);
  sums.add(context,
           {{.losses = autograd::constant(numbers({5, 6, 7})), .mask = numbers({0, 0, 0})},
            {.losses = told, .mask = {}, .count = 1}},
           0);
  const std::vector<LossSums> read = read_sums(*device_, sums.take());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].loss, 3);
  EXPECT_EQ(read[0].tokens, 2);
  EXPECT_EQ(read[0].means, 1.5);  // a microbatch without a token counts as 0
  EXPECT_EQ(read[0].microbatches, 2);
  EXPECT_EQ(read[1].loss, 8);
  EXPECT_EQ(read[1].tokens, 2);
}

TEST_F(ObjectiveSumsTest, AGradientIsThatOfTheMeanOrOfATokensLoss) {
  for (const bool per_token : {false, true}) {
    ObjectiveSums sums(1, per_token);
    sums.begin();
    autograd::Context context{.device = *device_, .recorder = {.tape = &tape_}};
    const auto outputs = sums.add(context,
                                  {{.losses = autograd::variable(numbers({1, 2, 3})),
                                    .mask = numbers({1, 0, 1}),
                                    .count = 2}},
                                  6);
    ASSERT_EQ(outputs.size(), 1u);
    const double one = per_token ? 6 : 3;
    EXPECT_EQ(test::values_of(outputs[0].gradient), (std::vector<double>{one, 0, one}));
  }
}

}  // namespace objective_sums_test
}  // namespace mpitron::train
