#include "optim/learning_rate_schedule.h"

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "utils/error.h"

namespace mpitron::optim {
namespace learning_rate_schedule_test {

WsdDecayStyle wsd_style(const nlohmann::json& name) {
  if (name == "linear") {
    return WsdDecayStyle::linear;
  }
  if (name == "cosine") {
    return WsdDecayStyle::cosine;
  }
  return name == "minus_sqrt" ? WsdDecayStyle::minus_sqrt : WsdDecayStyle::exponential;
}

LearningRateSchedule from_case(const nlohmann::json& c) {
  return {.lr_warmup_init = c.at("init_lr"),
          .bounds = {.max_lr = c.at("max_lr"), .min_lr = c.at("min_lr")},
          .lr_warmup_steps = c.at("warmup_steps"),
          .lr_decay_steps = c.at("decay_steps"),
          .wsd_decay_steps =
              c.at("wsd_decay_steps").is_null() ? Index{0} : c.at("wsd_decay_steps").get<Index>(),
          .lr_decay_style = parse_lr_decay_style(c.at("style").get<std::string>()),
          .lr_wsd_decay_style = wsd_style(c.at("wsd_style"))};
}

LearningRateSchedule valid() {
  return {.bounds = {.max_lr = 1.0, .min_lr = 0.1},
          .lr_warmup_steps = 2,
          .lr_decay_steps = 10,
          .wsd_decay_steps = 5};
}

void expect_usage(const LearningRateSchedule& schedule, const std::string& option) {
  try {
    schedule.validate();
    ADD_FAILURE() << "accepted, though " << option << " is wrong";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find(option), std::string::npos) << error.what();
  }
}

TEST(LearningRateSchedule, EqualsReferenceTable) {
  const nlohmann::json cases = test::golden_table("learning_rate");
  ASSERT_GE(cases.size(), 24U);
  for (const auto& c : cases) {
    const LearningRateSchedule schedule = from_case(c);
    schedule.validate();
    const LrBounds half{.max_lr = schedule.bounds.max_lr / 2, .min_lr = schedule.bounds.min_lr / 2};
    ASSERT_FALSE(c.at("lr_at_step").empty());
    for (std::size_t n = 0; n < c.at("lr_at_step").size(); ++n) {
      const auto step = static_cast<Index>(n);
      const double expected = c.at("lr_at_step")[n];
      EXPECT_NEAR(schedule.at(step), expected, 1e-12 * expected) << c.at("style") << " at " << n;
      const double own = c.at("lr_group_with_own_max_min_half")[n];
      EXPECT_NEAR(schedule.at(step, half), own, 1e-12 * own) << c.at("style") << " at " << n;
      const double scaled = c.at("lr_with_multiplier_half")[n];
      EXPECT_NEAR(schedule.at(step) * 0.5, scaled, 1e-12 * scaled) << c.at("style") << " at " << n;
    }
  }
}

TEST(LearningRateSchedule, FractionalWarmup) {
  LearningRateSchedule schedule = valid();
  schedule.lr_warmup_steps = 2.5;
  EXPECT_DOUBLE_EQ(schedule.at(2), 2 / 2.5);
  EXPECT_DOUBLE_EQ(schedule.at(5), 0.1 + 0.9 * (1.0 - 2.5 / 7.5));
}

TEST(LearningRateSchedule, RefusesWhatMakesNoSchedule) {
  EXPECT_NO_THROW(valid().validate());
  LearningRateSchedule schedule = valid();
  schedule.bounds.min_lr = -1;
  expect_usage(schedule, "--min-lr");
  schedule = valid();
  schedule.bounds.max_lr = 0.01;
  expect_usage(schedule, "--lr");
  schedule = valid();
  schedule.lr_warmup_init = 2;
  expect_usage(schedule, "--lr-warmup-init");
  schedule = valid();
  schedule.lr_warmup_steps = 10;
  expect_usage(schedule, "--lr-warmup-samples");
  schedule = valid();
  schedule.lr_decay_steps = 0;
  expect_usage(schedule, "--lr-decay-iters");
  schedule = valid();
  schedule.lr_decay_style = LrDecayStyle::wsd;
  EXPECT_NO_THROW(schedule.validate());
  schedule.wsd_decay_steps = 0;
  expect_usage(schedule, "--lr-wsd-decay-samples");
}

TEST(LearningRateSchedule, StyleNames) {
  for (const char* name : {"constant", "linear", "cosine", "inverse-square-root", "WSD"}) {
    EXPECT_EQ(to_string(parse_lr_decay_style(name)), name);
  }
  EXPECT_THROW(parse_lr_decay_style("wsd"), Error);
}

TEST(LearningRateSchedule, FromOptions) {
  config::OptimizerConfig config;
  config.lr = 2e-3;
  config.min_lr = 1e-5;
  config.lr_decay_style = LrDecayStyle::wsd;
  config.lr_wsd_decay_style = WsdDecayStyle::linear;
  config.lr_warmup_steps = 32;
  config.lr_warmup_init = 1e-4;
  config.lr_decay_steps = 160;
  config.lr_wsd_decay_steps = 64;
  const LearningRateSchedule schedule = make_learning_rate_schedule(config);
  EXPECT_DOUBLE_EQ(schedule.at(0), 1e-4);
  EXPECT_DOUBLE_EQ(schedule.at(96), 2e-3);
  EXPECT_DOUBLE_EQ(schedule.at(128), (2e-3 + 1e-5) / 2);
  EXPECT_DOUBLE_EQ(schedule.at(161), 1e-5);
}

}  // namespace learning_rate_schedule_test
}  // namespace mpitron::optim
