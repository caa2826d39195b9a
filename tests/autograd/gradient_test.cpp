#include "autograd/gradient.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/elementwise/elementwise.h"
#include "support/tensors.h"

namespace mpitron::autograd {
namespace gradient_test {

using test::make_tensor;
using test::values_of;
using Values = std::vector<double>;

class GradientTest : public ::testing::Test {
 protected:
  Tensor tensor(const Values& values, DType dtype = DType::f32) {
    return make_tensor(*device_, {static_cast<Index>(values.size())}, dtype, values);
  }
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  Context context_{.device = *device_};
  Slot slot_ = Slot::make();
};

TEST_F(GradientTest, TheFirstContributionIsKeptAsItIs) {
  const Tensor first = tensor({1, 2});
  accumulate(context_, slot_, first);
  EXPECT_EQ(slot_.gradient().view().data, first.view().data);
}

TEST_F(GradientTest, ASlotThatWantsNoGradientTakesNone) {
  const Tensor x = tensor({1, 2});
  accumulate(context_, {}, x);
  EXPECT_TRUE(x.unique());
  EXPECT_FALSE(take_gradient({}));
}

TEST_F(GradientTest, AddsInPlaceWhereTheSumIsNobodyElses) {
  Tensor first = tensor({1, 2});
  const void* memory = first.view().data;
  accumulate(context_, slot_, std::move(first));
  const Tensor second = tensor({10, 20});
  accumulate(context_, slot_, second);
  EXPECT_EQ(slot_.gradient().view().data, memory);
  EXPECT_EQ(values_of(slot_.gradient()), (Values{11, 22}));
  EXPECT_EQ(values_of(second), (Values{10, 20}));
}

TEST_F(GradientTest, ASharedSumIsNotOverwritten) {
  const Tensor first = tensor({1, 2});
  accumulate(context_, slot_, first);
  Tensor second = tensor({10, 20});
  const void* memory = second.view().data;
  accumulate(context_, slot_, std::move(second));
  EXPECT_EQ(values_of(first), (Values{1, 2}));
  EXPECT_EQ(slot_.gradient().view().data, memory);
  EXPECT_EQ(values_of(slot_.gradient()), (Values{11, 22}));

  const Slot other = Slot::make();
  const Tensor third = tensor({5, 6}), fourth = tensor({7, 8});
  accumulate(context_, other, third);
  accumulate(context_, other, fourth);
  EXPECT_EQ(values_of(third), (Values{5, 6}));
  EXPECT_EQ(values_of(fourth), (Values{7, 8}));
  EXPECT_EQ(values_of(other.gradient()), (Values{12, 14}));
}

TEST_F(GradientTest, TakingEmptiesTheSlot) {
  accumulate(context_, slot_, tensor({3}));
  EXPECT_EQ(values_of(take_gradient(slot_)), Values{3});
  EXPECT_FALSE(slot_.gradient());
}

TEST_F(GradientTest, ContributionsOfDifferentSizesAreABrokenInvariant) {
  accumulate(context_, slot_, tensor({1, 2}));
  EXPECT_THROW(accumulate(context_, slot_, tensor({1})), InternalError);
}

class ParameterGradientTest : public GradientTest {
 protected:
  Parameter parameter(DType value_dtype, DType grad_dtype) {
    Parameter p;
    p.value = tensor({0, 0}, value_dtype);
    p.sink.main_grad = tensor({NAN, NAN}, grad_dtype);
    return p;
  }
  /// As a kernel would: `=` or `+=`, rounded once to the destination's type.
  void add(Parameter& p, const Values& gradient) {
    accumulate_parameter(context_, p, [&](const device::TensorView& sink, bool adding) {
      written_.push_back({sink.dtype, adding});
      const kernels::reference::Writer writer(sink);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        writer.set((adding ? writer(i) : 0) + gradient[i], i);
      }
    });
  }
  struct Written {
    DType dtype;
    bool adding;
    bool operator==(const Written&) const = default;
  };
  std::vector<Written> written_;
};

TEST_F(ParameterGradientTest, TheFirstWriteOfAStepOverwrites) {
  Parameter p = parameter(DType::bf16, DType::f32);
  add(p, {1, 1e-3});
  EXPECT_TRUE(p.sink.written);
  add(p, {1, 2e-3});
  EXPECT_EQ(written_, (std::vector<Written>{{DType::f32, false}, {DType::f32, true}}));
  const Values sum = values_of(p.sink.main_grad);
  EXPECT_EQ(sum[0], 2);
  EXPECT_NEAR(sum[1], 3e-3, 1e-9);
}

/// fp16: 1 + 2^-12 is 1 in half precision, so two microbatches add up to 2 and not to 2 + 2^-11.
TEST_F(ParameterGradientTest, RoundsEachMicrobatchWhereTheReferenceDoes) {
  Parameter p = parameter(DType::f16, DType::f32);
  p.sink.rounds = true;
  add(p, {1 + 0x1p-12, 0.5});
  add(p, {1 + 0x1p-12, 0.25});
  EXPECT_EQ(written_, (std::vector<Written>{{DType::f16, false}, {DType::f16, false}}));
  EXPECT_EQ(values_of(p.sink.main_grad), (Values{2, 0.75}));
}

/// A sink of half precision is written directly once; kernels add in fp32, so later contributions
/// are rounded before they are added.
TEST_F(ParameterGradientTest, AddsToAHalfPrecisionSinkThroughABuffer) {
  Parameter p = parameter(DType::f16, DType::f16);
  add(p, {1, 2});
  add(p, {0.5, 2048});
  EXPECT_EQ(written_, (std::vector<Written>{{DType::f16, false}, {DType::f16, false}}));
  EXPECT_EQ(values_of(p.sink.main_grad), (Values{1.5, 2050}));
}

}  // namespace gradient_test
}  // namespace mpitron::autograd
