#pragma once
#include <gtest/gtest.h>

#include "optim/optimizer.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::test {

/// Two tensors whose gradients lie in one flat buffer: a matrix with weight decay, a bias without.
class TwoTensors : public ::testing::TestWithParam<const char*> {
 protected:
  TwoTensors() {
    config_.lr = 0.1;
    config_.weight_decay = config_.start_weight_decay = config_.end_weight_decay = 0.5;
    config_.lr_decay_style = config::LrDecayStyle::constant;
    config_.lr_decay_steps = config_.wd_incr_steps = 1000;
    config_.clip_grad = 0;
  }
  std::vector<optim::TrainedTensor> tensors(DType dtype = DType::f32) {
    matrix_ = make_tensor(*device_, {1, 2}, dtype, {1, -2});
    bias_ = make_tensor(*device_, {2}, dtype, {0.5, 0.25});
    flat_ = make_tensor(*device_, {4}, DType::f32, {3, 0, 0, -4});
    return {{.traits = {.name = "w.weight", .rank = 2},
             .value = matrix_,
             .main_grad = flat_.slice(0, 0, 2)},
            {.traits = {.name = "w.bias", .rank = 1},
             .value = bias_,
             .main_grad = flat_.slice(0, 2, 4)}};
  }
  optim::StepResult step(optim::Optimizer& optimizer, float scale = 1,
                         bool check_overflow = false) {
    const tensor::ConstTensorView gradients[] = {flat_.view()};
    return optimizer.step(
        {.gradients = gradients, .gradient_scale = scale, .check_overflow = check_overflow},
        optim::ParameterScheduler(config_));
  }
  static void expect_values(const tensor::Tensor& x, const std::vector<double>& expected,
                            double tolerance = 1e-6) {
    const std::vector<double> values = values_of(x);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
    }
  }

  std::unique_ptr<device::Device> device_ = device::make_device(GetParam());
  config::OptimizerConfig config_;
  tensor::Tensor matrix_, bias_, flat_;
};

}  // namespace mpitron::test
