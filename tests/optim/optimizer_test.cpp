#include "optim/optimizer.h"

#include <cmath>

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace {

using tensor::Tensor;

/// Two tensors whose gradients lie in one flat buffer: a matrix with weight decay, a bias without.
class OptimizerTest : public ::testing::TestWithParam<const char*> {
 protected:
  OptimizerTest() {
    config_.lr = 0.1;
    config_.weight_decay = config_.start_weight_decay = config_.end_weight_decay = 0.5;
    config_.lr_decay_style = config::LrDecayStyle::constant;
    config_.lr_decay_steps = config_.wd_incr_steps = 1000;
    config_.clip_grad = 0;
  }
  std::vector<TrainedTensor> tensors(DType dtype = DType::f32) {
    matrix_ = testing::make_tensor(*device_, {1, 2}, dtype, {1, -2});
    bias_ = testing::make_tensor(*device_, {2}, dtype, {0.5, 0.25});
    flat_ = testing::make_tensor(*device_, {4}, DType::f32, {3, 0, 0, -4});
    return {{.traits = {.name = "w.weight", .rank = 2},
             .value = matrix_,
             .main_grad = flat_.slice(0, 0, 2)},
            {.traits = {.name = "w.bias", .rank = 1},
             .value = bias_,
             .main_grad = flat_.slice(0, 2, 4)}};
  }
  StepResult step(Optimizer& optimizer, float scale = 1, bool check_overflow = false) {
    const tensor::ConstTensorView gradients[] = {flat_.view()};
    return optimizer.step(
        {.gradients = gradients, .gradient_scale = scale, .check_overflow = check_overflow},
        ParameterScheduler(config_));
  }
  static void expect_values(const Tensor& x, const std::vector<double>& expected,
                            double tolerance = 1e-6) {
    const std::vector<double> values = testing::values_of(x);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
    }
  }

  std::unique_ptr<device::Device> device_ = device::make_device(GetParam());
  config::OptimizerConfig config_;
  Tensor matrix_, bias_, flat_;
};

/// Adam's first step moves every element with a gradient by lr; decay is decoupled.
TEST_P(OptimizerTest, AdamTakesItsFirstStep) {
  Optimizer optimizer(*device_, config_, tensors());
  const StepResult result = step(optimizer);
  EXPECT_FALSE(result.skipped);
  EXPECT_NEAR(result.grad_norm, 5, 1e-6);
  expect_values(matrix_, {1 * 0.95 - 0.1, -2 * 0.95});
  expect_values(bias_, {0.5, 0.25 + 0.1});
}

TEST_P(OptimizerTest, AdamCorrectsItsBiasByTheNumberOfUpdates) {
  Optimizer optimizer(*device_, config_, tensors());
  step(optimizer);
  testing::set_values(flat_, {-1, 0, 0, 0});
  step(optimizer);
  const double m = (0.9 * 0.1 * 3 + 0.1 * -1) / (1 - 0.81),
               v = (0.999 * 0.001 * 9 + 0.001 * 1) / (1 - 0.998001);
  const double first = 0.85;
  expect_values(matrix_, {first * 0.95 - 0.1 * m / (std::sqrt(v) + 1e-8), -2 * 0.95 * 0.95});
}

TEST_P(OptimizerTest, SgdWithMomentum) {
  config_.optimizer = config::OptimizerKind::sgd;
  config_.sgd_momentum = 0.5;
  Optimizer optimizer(*device_, config_, tensors());
  step(optimizer);
  // Decay is part of the gradient: 3 + 0.5 * 1 and 0 + 0.5 * -2.
  expect_values(matrix_, {1 - 0.1 * 3.5, -2 + 0.1});
  expect_values(bias_, {0.5, 0.25 + 0.4});
  testing::set_values(flat_, {0, 0, 0, 0});
  step(optimizer);
  expect_values(bias_, {0.5, 0.65 + 0.2});
}

/// The norm is that of the unscaled gradients, and clipping makes it 1.
TEST_P(OptimizerTest, ClipsByTheGlobalNormOfTheUnscaledGradients) {
  config_.optimizer = config::OptimizerKind::sgd;
  config_.sgd_momentum = 0;
  config_.clip_grad = 1;
  config_.weight_decay = config_.start_weight_decay = config_.end_weight_decay = 0;
  Optimizer optimizer(*device_, config_, tensors());
  EXPECT_NEAR(step(optimizer, 0.5f).grad_norm, 2.5, 1e-6);
  expect_values(matrix_, {1 - 0.1 * 0.6, -2});
  expect_values(bias_, {0.5, 0.25 + 0.1 * 0.8});
  // Below the limit nothing is clipped.
  step(optimizer, 0.1f);
  expect_values(matrix_, {1 - 0.1 * 0.6 - 0.1 * 0.3, -2});
}

TEST_P(OptimizerTest, AnOverflowSkipsTheUpdateAndDoesNotCount) {
  Optimizer optimizer(*device_, config_, tensors());
  for (const double bad : {static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    testing::set_values(flat_, {bad, 0, 0, -4});
    EXPECT_TRUE(step(optimizer, 1, true).skipped);
    expect_values(matrix_, {1, -2}, 0);
    expect_values(bias_, {0.5, 0.25}, 0);
  }
  testing::set_values(flat_, {3, 0, 0, -4});
  EXPECT_FALSE(step(optimizer, 1, true).skipped);
  expect_values(bias_, {0.5, 0.25 + 0.1});  // still Adam's first step
}

/// Updates too small for bf16 add up in the fp32 master.
TEST_P(OptimizerTest, HalfPrecisionParametersHaveFp32Masters) {
  config_.lr = 1e-4;
  config_.weight_decay = config_.start_weight_decay = config_.end_weight_decay = 0;
  Optimizer optimizer(*device_, config_, tensors(DType::bf16));
  EXPECT_EQ(optimizer.size(), 2u);
  EXPECT_EQ(optimizer.master(0).dtype(), DType::f32);
  step(optimizer);
  expect_values(matrix_, {1, -2}, 0);
  expect_values(optimizer.master(0), {1 - 1e-4, -2});
  for (int i = 0; i < 30; ++i) {
    step(optimizer);
  }
  expect_values(optimizer.master(0), {1 - 31e-4, -2}, 1e-5);
  expect_values(matrix_, {1 - 0x1p-8, -2}, 0);
}

TEST_P(OptimizerTest, Fp32ParametersAreTheirOwnMasters) {
  const Optimizer optimizer(*device_, config_, tensors());
  EXPECT_EQ(optimizer.master(0).view().data, matrix_.view().data);
}

INSTANTIATE_TEST_SUITE_P(Devices, OptimizerTest, ::testing::Values("reference", "host"));

}  // namespace
}  // namespace mpitron::optim
