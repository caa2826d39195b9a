#include <map>

#include "optim/two_tensors.h"

namespace mpitron::optim {
namespace optimizer_state_test {

using OptimizerState = test::TwoTensors;

/// Updates too small for bf16 add up in the fp32 master.
TEST_P(OptimizerState, HalfPrecisionParametersHaveFp32Masters) {
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

TEST_P(OptimizerState, Fp32ParametersAreTheirOwnMasters) {
  Optimizer optimizer(*device_, config_, tensors());
  EXPECT_EQ(optimizer.master(0).view().data, matrix_.view().data);
}

/// fp32 masters whose upper half is the parameter take the same steps.
TEST_P(OptimizerState, MastersBelowTheirParametersAreWhole) {
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

TEST_P(OptimizerState, NarrowStatesLeadNearby) {
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

TEST_P(OptimizerState, StatesOfAllTypesAreShownAsFp32AndLoaded) {
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

INSTANTIATE_TEST_SUITE_P(Devices, OptimizerState, ::testing::Values("reference", "host"));

}  // namespace optimizer_state_test
}  // namespace mpitron::optim
