#include "nn/base/adapter_factors.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"

namespace mpitron::nn {
namespace adapter_factors_test {

using autograd::Adapter;
using tensor::Tensor;

/// Factors of two parts that a layer writes into every second block of columns.
class AdapterFactors : public ::testing::Test {
 protected:
  autograd::Parameter& matrix(Index rows, Index columns, float first) {
    autograd::Parameter& made = parameters_->add({.name = "factor", .shape = {rows, columns}});
    made.value = Tensor::empty(*device_, {rows, columns}, DType::f32);
    for (Index i = 0; i < made.value.numel(); ++i) {
      made.value.data<float>()[i] = first + static_cast<float>(i);
    }
    return made;
  }
  Adapter adapter() {
    return {*device_,
            DType::f32,
            1,
            parameters_,
            {{"q", {&matrix(1, 2, 1), &matrix(2, 1, 5), 0.5}},
             {"v", {&matrix(2, 2, 10), &matrix(2, 2, 1), 2}}}};
  }
  static std::vector<float> values_of(const autograd::Parameter& parameter) {
    const auto* values = parameter.value.data<float>();
    return {values, values + parameter.value.numel()};
  }

  const std::unique_ptr<device::Device> device_ = device::make_device("host");
  const std::shared_ptr<autograd::ParameterList> parameters_ =
      std::make_shared<autograd::ParameterList>();
};

TEST_F(AdapterFactors, OfPartsAreJoinedWithTheirFactors) {
  const std::vector<AdapterPlace> places = {
      {"q", {.first = 0, .width = 1, .stride = 2, .count = 2}},
      {"k", {.width = 1}},
      {"v", {.first = 1, .width = 1, .stride = 2, .count = 2}}};
  const Adapter::Joined joined = joined_factors(*device_, adapter(), places, 4, DType::f32);
  EXPECT_EQ(values_of(joined.a), std::vector<float>({1, 2, 10, 11, 12, 13}));
  EXPECT_EQ(values_of(joined.b), std::vector<float>({2.5F, 0, 0,  // first row of q
                                                     0, 2, 4,     // of v
                                                     3, 0, 0,     // second row of q
                                                     0, 6, 8}));
}

TEST_F(AdapterFactors, AreAbsentWhereNoPartIsUpdated) {
  const std::vector<AdapterPlace> places = {{"k", {.width = 1}}};
  EXPECT_FALSE(joined_factors(*device_, adapter(), places, 1, DType::f32).a.value);
}

}  // namespace adapter_factors_test
}  // namespace mpitron::nn
