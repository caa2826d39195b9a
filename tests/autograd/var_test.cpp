#include "autograd/var.h"

#include <gtest/gtest.h>

namespace mpitron::autograd {
namespace var_test {

class SlotTest : public ::testing::Test {
 protected:
  Tensor tensor() { return Tensor::empty(*device_, {4}, DType::f32); }
  Index in_use() const { return device_->allocator().statistics().bytes_in_use; }
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
};

TEST_F(SlotTest, ConstantsHaveNone) {
  EXPECT_TRUE(variable(tensor()).slot);
  EXPECT_FALSE(constant(tensor()).slot);
  EXPECT_FALSE(Var{}.value);
}

TEST_F(SlotTest, CopiesShareOneGradient) {
  const Slot a = Slot::make();
  const Slot b = a;
  a.gradient() = tensor();
  EXPECT_TRUE(b.gradient());
  EXPECT_FALSE(Slot::make().gradient());
}

TEST_F(SlotTest, TheLastHandleFreesTheGradient) {
  {
    Slot a = Slot::make();
    a.gradient() = tensor();
    const Slot b = std::move(a);
    EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): what is tested
    EXPECT_GT(in_use(), 0);
  }
  EXPECT_EQ(in_use(), 0);
}

TEST_F(SlotTest, AReusedCellStartsEmpty) {
  for (int i = 0; i < 3; ++i) {
    const Slot slot = Slot::make();
    EXPECT_FALSE(slot.gradient());
    slot.gradient() = tensor();
  }
}

TEST_F(SlotTest, AssigningToItselfKeepsTheGradient) {
  Slot a = Slot::make();
  a.gradient() = tensor();
  const Slot& same = a;
  a = same;
  EXPECT_TRUE(a.gradient());
  a = {};
  EXPECT_EQ(in_use(), 0);
}

}  // namespace var_test
}  // namespace mpitron::autograd
