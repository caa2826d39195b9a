#include "optim/loss_scaler.h"

#include <map>

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "utils/error.h"

namespace mpitron::optim {
namespace loss_scaler_test {

config::OptimizerConfig fp16_options() {
  config::OptimizerConfig config;
  config.fp16 = true;
  return config;
}

TEST(LossScaler, DynamicEqualsReferenceTable) {
  const nlohmann::json cases = test::golden_table("loss_scaler");
  ASSERT_GE(cases.size(), 12U);
  for (const auto& c : cases) {
    ASSERT_EQ(c.at("growth"), 2.0);
    ASSERT_EQ(c.at("backoff"), 0.5);
    config::OptimizerConfig config = fp16_options();
    config.initial_loss_scale = c.at("initial");
    config.min_loss_scale = c.at("min");
    config.loss_scale_window = c.at("window");
    config.hysteresis = c.at("hysteresis");
    LossScaler scaler = make_loss_scaler(config);
    ASSERT_TRUE(scaler.skips_overflows());
    const auto& trace = c.at("trace_scale_growth_hysteresis");
    ASSERT_EQ(trace.size(), c.at("found_inf").size());
    for (std::size_t i = 0; i < trace.size(); ++i) {
      scaler.update(c.at("found_inf")[i] == 1);
      const LossScaler::State expected{.scale = trace[i][0].get<double>(),
                                       .growth_tracker = trace[i][1].get<Index>(),
                                       .hysteresis_tracker = trace[i][2].get<Index>()};
      ASSERT_EQ(scaler.state(), expected) << "step " << i << " of " << c.at("window");
    }
  }
}

TEST(LossScaler, ConstantNeverChangesAndHasNoState) {
  config::OptimizerConfig config = fp16_options();
  config.loss_scale = 1024.0;
  LossScaler scaler = make_loss_scaler(config);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1024.0);
  EXPECT_EQ(scaler.inverse_scale(), 1.0F / 1024.0F);
  scaler.visit_state([](const char* name, auto&) { ADD_FAILURE() << name; });
  EXPECT_TRUE(scaler.skips_overflows());
  EXPECT_EQ(make_loss_scaler(config::OptimizerConfig{}).scale(), 1.0);
  EXPECT_FALSE(make_loss_scaler(config::OptimizerConfig{}).skips_overflows());
}

TEST(LossScaler, StateSurvivesARoundTrip) {
  LossScaler scaler = make_loss_scaler(fp16_options());
  scaler.update(true);
  scaler.update(false);
  std::map<std::string, double> saved;
  scaler.visit_state(
      [&](const char* name, auto& value) { saved[name] = static_cast<double>(value); });
  EXPECT_EQ(saved.size(), 3U);
  LossScaler resumed = make_loss_scaler(fp16_options());
  ASSERT_NE(resumed.state(), scaler.state());
  resumed.visit_state([&](const char* name, auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(saved.at(name));
  });
  EXPECT_EQ(resumed.state(), scaler.state());
}

TEST(LossScaler, RefusesBadOptions) {
  EXPECT_THROW(LossScaler::constant(0.0), Error);
  config::OptimizerConfig config = fp16_options();
  config.min_loss_scale = 0.0;
  EXPECT_THROW(make_loss_scaler(config), Error);
  config = fp16_options();
  config.loss_scale_window = 0.0;
  EXPECT_THROW(make_loss_scaler(config), Error);
  config = fp16_options();
  config.hysteresis = 0;
  EXPECT_THROW(make_loss_scaler(config), Error);
}

}  // namespace loss_scaler_test
}  // namespace mpitron::optim
