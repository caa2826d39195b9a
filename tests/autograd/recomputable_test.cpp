#include "autograd/recomputable.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::autograd {
namespace recomputable_test {

class RecomputableTest : public ::testing::Test {
 protected:
  std::unique_ptr<device::Device> device_ = device::make_device("host");
  Tape tape_;
  Context context_{.device = *device_, .recorder = {.tape = &tape_, .usage = &tape_}};
};

TEST_F(RecomputableTest, AValueWithoutRecipeIsTheTensor) {
  const Var x = variable(test::make_tensor(*device_, {2}, DType::f32, {1, 2}));
  const SavedValue kept{Recomputable(x)};
  EXPECT_EQ(kept(context_).view().data, x.value.view().data);
  EXPECT_EQ(kept.shape(), (Shape{2}));
}

TEST_F(RecomputableTest, AValueWithARecipeIsMadeEachTimeAndNotRecorded) {
  int made = 0;
  Recomputable x(variable(test::make_tensor(*device_, {2}, DType::f32, {1, 2})),
                 [&](Context& again) {
                   EXPECT_FALSE(again.recording());
                   EXPECT_EQ(again.recorder.usage, nullptr);
                   ++made;
                   return test::make_tensor(again.device, {2}, DType::f32, {1, 2});
                 });
  const SavedValue kept(x);
  x.var.value = {};
  EXPECT_EQ(made, 0);
  EXPECT_EQ(test::values_of(kept(context_)), (std::vector<double>{1, 2}));
  kept(context_);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(kept.shape(), (Shape{2}));
}

}  // namespace recomputable_test
}  // namespace mpitron::autograd
