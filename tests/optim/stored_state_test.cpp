#include "optim/stored_state.h"

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace stored_state_test {

using tensor::Tensor;

class StoredStateTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<double> numbers_of(const StoredState& state, Index n) {
    const Tensor numbers = Tensor::empty(*device_, {n}, DType::f32);
    state.read(*device_, numbers);
    return test::values_of(numbers);
  }
  std::unique_ptr<device::Device> device_ = device::make_device(GetParam());
};

TEST_P(StoredStateTest, BeginsWithZerosInFewBytes) {
  const std::pair<DType, Index> bytes[] = {
      {DType::f32, 400}, {DType::bf16, 200}, {DType::f16, 202}, {DType::u8, 102}};
  for (const auto& [dtype, expected] : bytes) {
    const StoredState state = StoredState::zeros(*device_, 100, dtype);
    EXPECT_EQ(state.bytes(), expected) << name_of(dtype);
    EXPECT_EQ(state.plain(), dtype == DType::f32 || dtype == DType::bf16);
    EXPECT_EQ(numbers_of(state, 100), std::vector<double>(100, 0)) << name_of(dtype);
  }
}

TEST_P(StoredStateTest, KeepsAWholeNumberBelowItsUpperHalf) {
  const Tensor upper = test::make_tensor(*device_, {2}, DType::bf16, {5, 6});
  const StoredState state = StoredState::below(*device_, upper);
  EXPECT_TRUE(state.has_upper());
  EXPECT_EQ(state.bytes(), 4);
  const std::vector<double> numbers = {static_cast<double>(0.1f), -1000.25};
  state.write(*device_, test::make_tensor(*device_, {2}, DType::f32, numbers));
  EXPECT_EQ(numbers_of(state, 2), numbers);
  EXPECT_EQ(test::values_of(upper), (std::vector<double>{0.10009765625, -1000}));
}

TEST_P(StoredStateTest, SharesTheMemoryOfNumbersThatAreGiven) {
  const Tensor numbers = test::make_tensor(*device_, {2}, DType::f32, {1, 2});
  const StoredState state(numbers);
  state.write(*device_, test::make_tensor(*device_, {2}, DType::f32, {3, 4}));
  EXPECT_EQ(test::values_of(numbers), (std::vector<double>{3, 4}));
}

INSTANTIATE_TEST_SUITE_P(Devices, StoredStateTest, ::testing::Values("reference", "host"));

}  // namespace stored_state_test
}  // namespace mpitron::optim
