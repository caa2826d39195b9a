#include "ops/elementwise/initialize.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::ops {
namespace initialize_test {

using autograd::Initialization;
using autograd::Parameter;

class InitializeTest : public ::testing::Test {
 protected:
  Parameter made(const std::string& name, const Shape& shape, const Initialization& start,
                 DType dtype = DType::f32, std::uint64_t seed = 1234) {
    Parameter p;
    p.name = name, p.shape = shape, p.initialization = start;
    initialize(*device_, p, dtype, seed);
    return p;
  }
  static double std_of(const Parameter& p) {
    double squares = 0;
    for (const double value : test::values_of(p.value)) {
      squares += value * value;
    }
    return std::sqrt(squares / static_cast<double>(p.value.numel()));
  }
  using Kind = Initialization::Kind;
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
};

TEST_F(InitializeTest, ZerosAndOnes) {
  EXPECT_EQ(test::values_of(made("a", {2}, {Kind::zeros}).value), (std::vector<double>{0, 0}));
  EXPECT_EQ(test::values_of(made("a", {2}, {Kind::ones}, DType::bf16).value),
            (std::vector<double>{1, 1}));
}

TEST_F(InitializeTest, NormalValuesHaveTheAskedDeviation) {
  EXPECT_NEAR(std_of(made("w", {100, 100}, {Kind::normal, 0.02})), 0.02, 0.0006);
}

/// Glorot: uniform below sqrt(6 / (fan_in + fan_out)), so the deviation is sqrt(2 / the same).
TEST_F(InitializeTest, XavierValuesAreUniformWithGlorotsDeviation) {
  const auto parameter = made("w", {50, 150}, {Kind::xavier_uniform, 0});
  EXPECT_NEAR(std_of(parameter), 0.1, 0.004);
  float largest = 0;
  for (Index i = 0; i < parameter.value.numel(); ++i) {
    largest = std::max(largest, std::abs(parameter.value.data<float>()[i]));
  }
  EXPECT_LE(largest, std::sqrt(6.f / 200));
  EXPECT_GT(largest, 0.99f * std::sqrt(6.f / 200));
}

/// The starts of Mamba-2: rates of 1 to 16, steps of 0.001 to 0.1 behind softplus.
TEST_F(InitializeTest, RatesAndStepsOfStateSpaces) {
  double least = 1e9, most = 0;
  for (const double value :
       test::values_of(made("A_log", {500}, {.kind = Kind::log_of_rate}).value)) {
    least = std::min(least, std::exp(value)), most = std::max(most, std::exp(value));
  }
  EXPECT_GE(least, 1 - 1e-6);
  EXPECT_LT(least, 1.3);
  EXPECT_LE(most, 16 + 1e-5);
  EXPECT_GT(most, 15.7);
  least = 1e9, most = 0;
  for (const double value :
       test::values_of(made("dt_bias", {500}, {.kind = Kind::inverse_steps}).value)) {
    const double step = std::log1p(std::exp(value));
    least = std::min(least, step), most = std::max(most, step);
  }
  EXPECT_NEAR(least, 0.001, 1e-4);
  EXPECT_NEAR(most, 0.1, 5e-3);
  const auto bounded = made("conv", {500}, {.kind = Kind::uniform, .bound = 0.5});
  EXPECT_NEAR(std_of(bounded), 0.5 / std::sqrt(3), 0.02);
}

TEST_F(InitializeTest, ValuesAreAFunctionOfSeedAndName) {
  const Initialization normal{Kind::normal, 1};
  const auto values = [&](const char* name, std::uint64_t seed) {
    return test::values_of(made(name, {8}, normal, DType::f32, seed).value);
  };
  EXPECT_EQ(values("w", 1), values("w", 1));
  EXPECT_NE(values("w", 1), values("w", 2));
  EXPECT_NE(values("w", 1), values("v", 1));
}

/// A rank's values are the slice of what one rank draws, for any cut and any way of drawing.
TEST_F(InitializeTest, AShardIsASliceOfTheWholeTensor) {
  const tensor::Shard shards[] = {{.dim = 0, .ranges = {{2, 4}, {7, 9}}},
                                  {.dim = 1, .ranges = {{3, 8}}},
                                  {.dim = 1, .ranges = {{0, 1}, {9, 11}}}};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const Kind kind : {Kind::normal, Kind::xavier_uniform, Kind::ones}) {
      for (const tensor::Shard& shard : shards) {
        for (const bool like_torch : {false, true}) {
          const auto start = [&](const tensor::Shard& part) {
            Parameter p;
            p.name = "w", p.shape = {9, 11}, p.placement.shard = part,
            p.initialization = {kind, 0.5};
            TorchGenerator generator(7);
            like_torch ? initialize_like_torch(*device_, p, dtype, generator)
                       : initialize(*device_, p, dtype, 1234);
            return p.value;
          };
          const tensor::Tensor whole = start({}), mine = start(shard);
          const auto expected = tensor::Tensor::empty(*device_, shard.local({9, 11}), dtype);
          tensor::take_shard(whole, shard, expected);
          EXPECT_EQ(test::bits_of(mine), test::bits_of(expected));
        }
      }
    }
  }
}

/// Half precision starts from the same numbers, rounded.
TEST_F(InitializeTest, HalfPrecisionRoundsTheSameNumbers) {
  const std::vector<double> wide = test::values_of(made("w", {64}, {Kind::normal, 1}).value),
                            half = test::values_of(
                                made("w", {64}, {Kind::normal, 1}, DType::bf16).value);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    EXPECT_NEAR(half[i], wide[i], std::abs(wide[i]) * 0x1p-8);
  }
}

}  // namespace initialize_test
}  // namespace mpitron::ops
