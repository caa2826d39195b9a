#include <gtest/gtest.h>

#include "ops/linear/fp8_products.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::ops {
namespace quantized_weight_test {

using autograd::Context;
using autograd::Fp8Products;
using autograd::KeptFp8Weight;
using Scaling = Fp8Products::Scaling;
using tensor::Tensor;
using Numbers = std::vector<double>;

constexpr Index kOut = 130, kIn = 150;

class QuantizedWeightTest : public ::testing::TestWithParam<Scaling> {
 protected:
  QuantizedWeightTest() {
    const bool blocks = GetParam() == Scaling::blocks;
    history_.value = test::make_tensor(*device_, history_.shape, DType::f32, {0, 0, 2, 0, 0, 0});
    kept_.values = Tensor::empty(*device_, {kOut, kIn}, DType::u8);
    kept_.transposed = Tensor::empty(*device_, {kIn, kOut}, DType::u8);
    if (GetParam() != Scaling::delayed) {
      kept_.amax = Tensor::empty(*device_, blocks ? Shape{2, 2} : Shape{1, 1}, DType::f32);
    }
    weight_.name = "weight";
    weight_.value = random(1);
    weight_.fp8 = {.scaling = GetParam(), .history = &history_, .amax = zeros()};
  }
  Tensor random(int seed) const {
    return test::random_tensor(*device_, {kOut, kIn}, DType::bf16, seed);
  }
  Tensor zeros() const { return test::make_tensor(*device_, {3}, DType::f32, {0, 0, 0}); }
  /// Both directions' numbers, and the largest values that their scales follow from.
  std::vector<Numbers> quantized() {
    std::vector<Numbers> all;
    for (const bool transpose : {false, true}) {
      const Quantized result = quantize_weight(context_, weight_, transpose);
      all.push_back(test::values_of(result.values));
      const device::ConstTensorView& amax = result.factor.amax;
      for (Index i = 0; i < amax.size(0); ++i) {
        for (Index j = 0; j < amax.size(1); ++j) {
          const auto* const numbers = static_cast<const float*>(amax.data);
          all.back().push_back(
              static_cast<double>(numbers[i * amax.stride(0) + j * amax.stride(1)]));
        }
      }
    }
    return all;
  }
  void begin_pass() { kept_.has_values = kept_.has_transposed = kept_.has_amax = false; }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
  Context context_{.device = *device_};
  autograd::Buffer history_{.name = "history", .shape = {3, 2}, .value = {}};
  autograd::Parameter weight_;
  KeptFp8Weight kept_;
};

TEST_P(QuantizedWeightTest, KeptNumbersAreThoseMadeAnew) {
  const std::vector<Numbers> anew = quantized();
  weight_.fp8->kept = &kept_;
  EXPECT_EQ(quantized(), anew);
  EXPECT_EQ(quantized(), anew);
}

TEST_P(QuantizedWeightTest, KeptNumbersStayUntilThePassEnds) {
  weight_.fp8->kept = &kept_;
  const std::vector<Numbers> first = quantized();
  weight_.value = random(2);
  EXPECT_EQ(quantized(), first);
  begin_pass();
  const std::vector<Numbers> second = quantized();
  EXPECT_NE(second, first);
  weight_.fp8->kept = nullptr;
  EXPECT_EQ(quantized(), second);
}

TEST_P(QuantizedWeightTest, LargestValuesOfDelayedScalesAreNotedOncePerPass) {
  weight_.fp8->kept = &kept_;
  quantized();
  const Numbers noted = test::values_of(weight_.fp8->amax);
  EXPECT_EQ(noted[Fp8Products::weight] > 0, GetParam() == Scaling::delayed);
  weight_.fp8->amax = zeros();
  quantized();
  EXPECT_EQ(test::values_of(weight_.fp8->amax), (Numbers{0, 0, 0}));
  begin_pass();
  context_.mode = autograd::Mode::evaluate;
  quantized();
  EXPECT_EQ(test::values_of(weight_.fp8->amax), (Numbers{0, 0, 0}));
  begin_pass();
  context_.mode = autograd::Mode::train;
  quantized();
  EXPECT_EQ(test::values_of(weight_.fp8->amax), noted);
}

std::string name_of_recipe(const ::testing::TestParamInfo<Scaling>& info) {
  constexpr const char* kNames[] = {"current", "delayed", "blocks"};
  return kNames[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Recipes, QuantizedWeightTest,
                         ::testing::Values(Scaling::current, Scaling::delayed, Scaling::blocks),
                         name_of_recipe);

}  // namespace quantized_weight_test
}  // namespace mpitron::ops
