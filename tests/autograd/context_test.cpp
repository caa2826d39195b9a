#include "autograd/context.h"

#include <set>

#include <gtest/gtest.h>

#include "kernels/linear/matmul.h"
#include "support/tensors.h"

namespace mpitron::autograd {
namespace context_test {

TEST(RngKey, IsAFunctionOfItsFields) {
  const RngKey key{.seed = 1234, .iteration = 7, .layer = 2, .site = 3};
  EXPECT_EQ(key.philox(), (RngKey{1234, 7, 2, 3}.philox()));
}

/// Every combination of small fields has its own key: also where two of them are swapped.
TEST(RngKey, NoTwoUsesShareAKey) {
  std::set<Philox::Key> keys;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    for (std::uint64_t iteration = 0; iteration < 6; ++iteration) {
      for (std::uint32_t layer = 0; layer < 6; ++layer) {
        for (std::uint32_t site = 0; site < 6; ++site) {
          keys.insert(RngKey{seed, iteration, layer, site}.philox());
        }
      }
    }
  }
  EXPECT_EQ(keys.size(), 6u * 6 * 6 * 6);
}

TEST(Context, RecordingAndTrainingAreTwoThings) {
  const auto device = device::make_device("reference");
  Tape tape;
  Context context{.device = *device};
  EXPECT_TRUE(context.training());
  EXPECT_FALSE(context.recording());
  context.recorder.tape = &tape;
  context.mode = Mode::evaluate;
  EXPECT_FALSE(context.training());
  EXPECT_TRUE(context.recording());
}

TEST(Context, NotesUsesOnlyWhereAsked) {
  const auto device = device::make_device("reference");
  Tape tape;
  Parameter parameter;
  Context context{.device = *device, .recorder = {.tape = &tape}};
  context.use(parameter);
  EXPECT_TRUE(tape.uses().empty());
  context.recorder.usage = &tape;
  context.use(parameter);
  EXPECT_EQ(tape.uses(), ParameterUses{&parameter});
}

/// Scratch memory lives for one launch and only where the kernel wants some.
TEST(Context, GivesAKernelItsWorkspaceForOneLaunch) {
  const auto device = device::make_device("reference");
  Context context{.device = *device};
  const Tensor a = test::make_tensor(*device, {1, 2}, DType::f32, {2, 3});
  const Tensor c = context.empty({1, 1}, DType::f32);
  const Index before = device->allocator().statistics().bytes_in_use;
  context.launch_with_workspace(
      kernels::Matmul{.a = a.view(), .b = a.view(), .c = c.view(), .transpose_b = true});
  EXPECT_EQ(test::values_of(c), std::vector<double>{13});
  EXPECT_EQ(device->allocator().statistics().bytes_in_use, before);
}

}  // namespace context_test
}  // namespace mpitron::autograd
