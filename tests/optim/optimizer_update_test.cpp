#include <numeric>

#include <gtest/gtest.h>

#include "device/launch_profile.h"
#include "kernels/elementwise/optimizer.h"
#include "optim/optimizer.h"
#include "support/far_device.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace optimizer_update_test {

using tensor::Tensor;

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

}  // namespace optimizer_update_test

}  // namespace mpitron::optim
