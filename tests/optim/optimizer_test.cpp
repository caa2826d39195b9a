#include "optim/optimizer.h"

#include <cmath>
#include <map>
#include <numeric>

#include "device/launch_profile.h"
#include "kernels/elementwise/optimizer.h"
#include "support/far_device.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace optimizer_test {

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
    matrix_ = test::make_tensor(*device_, {1, 2}, dtype, {1, -2});
    bias_ = test::make_tensor(*device_, {2}, dtype, {0.5, 0.25});
    flat_ = test::make_tensor(*device_, {4}, DType::f32, {3, 0, 0, -4});
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
    const std::vector<double> values = test::values_of(x);
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
  test::set_values(flat_, {-1, 0, 0, 0});
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
  test::set_values(flat_, {0, 0, 0, 0});
  step(optimizer);
  expect_values(bias_, {0.5, 0.65 + 0.2});
}

/// Lion moves matrices by the sign, Adam the bias.
TEST_P(OptimizerTest, LionTakesSignsOfMatrices) {
  config_.optimizer = config::OptimizerKind::lion;
  config_.lion_beta1 = 0.9, config_.lion_beta2 = 0.5;
  Optimizer optimizer(*device_, config_, tensors());
  step(optimizer);
  expect_values(matrix_, {1 * 0.95 - 0.1, -2 * 0.95});
  expect_values(bias_, {0.5, 0.25 + 0.1});
  test::set_values(flat_, {-1, 0, 0, 0});  // 0.9 * 1.5 - 0.1 * 1 > 0
  step(optimizer);
  expect_values(matrix_, {(1 * 0.95 - 0.1) * 0.95 - 0.1, -2 * 0.95 * 0.95});
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
    test::set_values(flat_, {bad, 0, 0, -4});
    EXPECT_TRUE(step(optimizer, 1, true).skipped);
    expect_values(matrix_, {1, -2}, 0);
    expect_values(bias_, {0.5, 0.25}, 0);
  }
  test::set_values(flat_, {3, 0, 0, -4});
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
  Optimizer optimizer(*device_, config_, tensors());
  EXPECT_EQ(optimizer.master(0).view().data, matrix_.view().data);
}

/// fp32 masters whose upper half is the parameter take the same steps.
TEST_P(OptimizerTest, MastersBelowTheirParametersAreWhole) {
  const auto run = [this](bool below) {
    config_.state_types.masters_below_params = below;
    Optimizer optimizer(*device_, config_, tensors(DType::bf16));
    for (int i = 0; i < 5; ++i) {
      step(optimizer);
    }
    EXPECT_EQ(optimizer.device_bytes(), 4 * (below ? 2 : 4) + 2 * 4 * 4);
    return std::pair{test::values_of(optimizer.master(0)), test::values_of(optimizer.master(1))};
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_P(OptimizerTest, NarrowStatesLeadNearby) {
  const auto run = [this](const config::StateTypes& types) {
    config_.state_types = types;
    Optimizer optimizer(*device_, config_, tensors(DType::bf16));
    for (int i = 0; i < 5; ++i) {
      step(optimizer);
    }
    return test::values_of(optimizer.master(0));
  };
  const std::vector<double> expected = run({});
  for (const DType dtype : {DType::bf16, DType::f16, DType::u8}) {
    const std::vector<double> got = run({.exp_avg = dtype, .exp_avg_sq = dtype});
    EXPECT_NEAR(got[0], expected[0], 0.02) << name_of(dtype);
    EXPECT_NEAR(got[1], expected[1], 0.02) << name_of(dtype);
  }
}

/// Collects what is shown, as fp32; then gives other numbers.
class Recorder final : public tensor::StateVisitor {
 public:
  void tensor(const tensor::ShardedTensor& t) override {
    EXPECT_EQ(t.value.dtype, DType::f32) << t.name;
    shown[t.name] = {t.value.as<float>(), t.value.as<float>() + t.value.numel()};
    if (overwrite) {
      std::fill_n(t.value.as<float>(), t.value.numel(), 0.75f);
    }
  }
  void number(const std::string&, Index&) override {}
  void number(const std::string&, double&) override {}
  void text(const std::string&, std::string&) override {}
  std::map<std::string, std::vector<float>> shown;
  bool overwrite = false;
};

TEST_P(OptimizerTest, StatesOfAllTypesAreShownAsFp32AndLoaded) {
  config_.state_types = {
      .exp_avg = DType::u8, .exp_avg_sq = DType::f16, .masters_below_params = true};
  std::vector<TrainedTensor> trained = tensors(DType::bf16);
  trained[0].place.name = "w.weight", trained[1].place.name = "w.bias";
  Optimizer optimizer(*device_, config_, trained);
  step(optimizer);
  Recorder recorder;
  recorder.overwrite = true;
  optimizer.visit_state(recorder);
  EXPECT_EQ(recorder.shown.size(), 6U);
  EXPECT_EQ(recorder.shown.at("optimizer/exp_avg/w.weight")[0], 0.3125f);  // e4m3 of 0.3
  EXPECT_NEAR(recorder.shown.at("optimizer/fp32_param/w.bias")[1], 0.35, 1e-6);
  optimizer.state_loaded(true);
  recorder.overwrite = false;
  optimizer.visit_state(recorder);
  for (const auto& [name, values] : recorder.shown) {
    EXPECT_EQ(values, std::vector<float>(2, 0.75f)) << name;
  }
  expect_values(bias_, {0.75, 0.75}, 0);
}

/// A device with memory of its own and the host's kernels.
std::unique_ptr<device::Device> far() {
  return std::make_unique<device::Device>(
      device::HostStream{}, std::make_unique<test::FarAllocator>(),
      std::make_unique<device::CachingHostAllocator>(), std::make_unique<test::FarAllocator>());
}

/// On the host one after the other, on other devices many with each launch: the same bits.
TEST(OptimizerOfManyTensors, LaunchesThemTogetherAndTellsOfEach) {
  constexpr std::size_t kTensors = 2 * kernels::kStepsTogether + 3;
  const auto run = [&](device::Device& device, config::OptimizerKind kind, Index launches) {
    config::OptimizerConfig config;
    config.optimizer = kind;
    config.lr = 0.1;
    config.lr_decay_style = config::LrDecayStyle::constant;
    config.lr_decay_steps = config.wd_incr_steps = 1000;
    std::vector<TrainedTensor> trained;
    for (std::size_t i = 0; i < kTensors; ++i) {
      const auto n = static_cast<Index>(1 + 5 * i);
      trained.push_back(
          {.traits = {.name = "w"},
           .value = test::random_tensor(device, {n}, i % 3 == 0 ? DType::f32 : DType::bf16, 3),
           .main_grad = test::random_tensor(device, {n}, DType::f32, 4)});
    }
    Optimizer optimizer(device, config, trained);
    std::vector<std::size_t> updated, expected(kTensors);
    std::iota(expected.begin(), expected.end(), 0U);
    device::LaunchProfile profile(device);
    optimizer.step({.grad_norm = 1, .updated = [&](std::size_t k) { updated.push_back(k); }},
                   ParameterScheduler(config));
    EXPECT_EQ(updated, expected);
    const auto entries = profile.kernels();
    const char* const kernel = kind == config::OptimizerKind::adam ? "adam_steps" : "sgd_steps";
    const auto steps = std::ranges::find(entries, kernel, &device::LaunchProfile::Entry::kernel);
    EXPECT_EQ(steps == entries.end() ? 0 : steps->calls, launches);
    std::vector<std::vector<double>> values;
    for (std::size_t i = 0; i < kTensors; ++i) {
      values.push_back(test::values_of(trained[i].value));
      values.push_back(test::values_of(optimizer.master(i)));
    }
    return values;
  };
  for (const auto kind : {config::OptimizerKind::adam, config::OptimizerKind::sgd}) {
    EXPECT_EQ(run(*far(), kind, 3), run(*device::make_device("host"), kind, kTensors));
  }
}

/// The processor's share of a device with memory of its own: the same bits.
TEST(OffloadedOptimizer, HasTheBitsOfOneOnTheDevice) {
  const auto run = [&](DType dtype, std::optional<config::OffloadConfig> offload) {
    const auto device = far();
    config::OptimizerConfig config;
    config.lr = 0.1;
    config.lr_decay_style = config::LrDecayStyle::constant;
    config.lr_decay_steps = config.wd_incr_steps = 1000;
    config.state_types = {.exp_avg = DType::bf16,
                          .exp_avg_sq = DType::u8,
                          .masters_below_params = dtype == DType::bf16};
    config.offload = offload;
    std::vector<Tensor> values;
    std::vector<TrainedTensor> trained;
    for (const Index n : {100, 200, 50}) {
      values.push_back(test::random_tensor(*device, {n}, dtype, 3));
      trained.push_back({.traits = {.name = "w"},
                         .value = values.back(),
                         .main_grad = test::random_tensor(*device, {n}, DType::f32, 4)});
    }
    Optimizer optimizer(*device, config, trained);
    std::vector<std::size_t> updated;
    for (int i = 0; i < 3; ++i) {
      optimizer.step({.grad_norm = 1, .updated = [&](std::size_t k) { updated.push_back(k); }},
                     ParameterScheduler(config));
    }
    EXPECT_EQ(updated, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(optimizer.host_bytes() > 0, offload && offload->fraction > 0);
    EXPECT_EQ(optimizer.device_bytes() > 0, !offload || offload->fraction < 1);
    std::vector<std::vector<double>> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.push_back(test::values_of(values[i]));
      result.push_back(test::values_of(optimizer.master(i)));
    }
    return std::pair{result, optimizer.parameters_norm()};
  };
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const auto expected = run(dtype, {});
    for (const double fraction : {0.0, 0.5, 1.0}) {
      for (const bool overlap : {false, true}) {
        EXPECT_EQ(run(dtype, config::OffloadConfig{.fraction = fraction, .overlap = overlap}),
                  expected)
            << name_of(dtype) << " " << fraction << " " << overlap;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, OptimizerTest, ::testing::Values("reference", "host"));

}  // namespace optimizer_test
}  // namespace mpitron::optim
