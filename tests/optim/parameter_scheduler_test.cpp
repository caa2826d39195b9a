#include "optim/parameter_scheduler.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "utils/error.h"

namespace mpitron::optim {
namespace parameter_scheduler_test {

config::OptimizerConfig options() {
  config::OptimizerConfig config;
  config.lr = 2e-3;
  config.min_lr = 2e-4;
  config.lr_decay_style = LrDecayStyle::cosine;
  config.lr_warmup_steps = 32;
  config.lr_decay_steps = 160;
  config.wd_incr_steps = 160;
  config.weight_decay = config.start_weight_decay = config.end_weight_decay = 0.1;
  return config;
}

nlohmann::json iterations_of(const std::string& curve) {
  const std::string path = test::golden_folder() + "/curves/" + curve + "/losses.json";
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  return nlohmann::json::parse(file).at("iterations");
}

// gpt-rampup of the reference: the batch grows from 2 to 8, and the rates follow the samples.
TEST(ParameterScheduler, FollowsTheRampUpCurve) {
  ParameterScheduler scheduler(options());
  const nlohmann::json iterations = iterations_of("gpt-rampup");
  ASSERT_EQ(iterations.size(), 24U);
  for (const auto& row : iterations) {
    const double expected = row.at("learning_rate");
    EXPECT_NEAR(scheduler.learning_rate(), expected, 1e-12) << row.at("iteration");
    scheduler.advance(row.at("global_batch_size"));
  }
}

// gpt-fp16: skipped updates do not advance the schedule.
TEST(ParameterScheduler, SkippedUpdatesDoNotAdvance) {
  config::OptimizerConfig config = options();
  config.lr_decay_steps = config.wd_incr_steps = 192;
  ParameterScheduler scheduler(config);
  int skipped = 0;
  for (const auto& row : iterations_of("gpt-fp16")) {
    EXPECT_NEAR(scheduler.learning_rate(), row.at("learning_rate").get<double>(), 1e-12);
    skipped += row.at("update_skipped") ? 1 : 0;
    scheduler.advance(row.at("update_skipped") ? 0 : 8);
  }
  EXPECT_GT(skipped, 0);
}

TEST(ParameterScheduler, WeightDecayOfTheCurve) {
  config::OptimizerConfig config = options();
  config.lr_decay_style = LrDecayStyle::linear;
  config.lr_warmup_init = 1e-4;
  config.weight_decay_incr_style = WeightDecayStyle::cosine;
  config.start_weight_decay = 0.01;
  config.end_weight_decay = 0.4;
  ParameterScheduler scheduler(config);
  for (const auto& row : iterations_of("gpt-linear-wd-incr")) {
    EXPECT_NEAR(scheduler.learning_rate(), row.at("learning_rate").get<double>(), 1e-12);
    EXPECT_NEAR(scheduler.weight_decay(), row.at("weight_decay").get<double>(), 1e-12);
    scheduler.advance(8);
  }
}

TEST(ParameterScheduler, GroupRatesTakeMultipliersAndOwnBounds) {
  ParameterScheduler scheduler(options());
  scheduler.advance(32);
  const auto rates =
      scheduler.rates({.wd_mult = 0.0, .lr_mult = 0.5}, scheduler.learning_rate_schedule().bounds);
  EXPECT_DOUBLE_EQ(rates.learning_rate, 1e-3);
  EXPECT_EQ(rates.weight_decay, 0.0);
  EXPECT_DOUBLE_EQ(scheduler.rates({}, {.max_lr = 8e-3, .min_lr = 0.0}).learning_rate, 8e-3);
}

TEST(ParameterScheduler, ResumeContinues) {
  ParameterScheduler first(options());
  first.advance(77);
  SchedulerState state = first.state();
  ParameterScheduler second(options());
  second.restore(state, ScheduleConflict::refuse);
  EXPECT_EQ(second.learning_rate(), first.learning_rate());
  EXPECT_EQ(second.state(), state);
}

TEST(ParameterScheduler, ConflictsNameTheDifferenceAndFollowThePolicy) {
  ParameterScheduler saved(options());
  saved.advance(64);
  config::OptimizerConfig longer = options();
  longer.lr_decay_steps = 320;
  ParameterScheduler resumed(longer);
  try {
    resumed.restore(saved.state(), ScheduleConflict::refuse);
    FAIL() << "a differing schedule was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("lr_decay_steps (option 320, checkpoint 160)"),
              std::string::npos)
        << error.what();
  }
  resumed.restore(saved.state(), ScheduleConflict::use_options);
  EXPECT_EQ(resumed.num_steps(), 64);
  EXPECT_EQ(resumed.state().lr_decay_steps, 320);
  resumed.restore(saved.state(), ScheduleConflict::use_checkpoint);
  EXPECT_EQ(resumed.state(), saved.state());
}

TEST(ParameterScheduler, ConflictPolicyOfTheOptions) {
  config::OptimizerConfig config;
  EXPECT_EQ(schedule_conflict(config), ScheduleConflict::refuse);
  config.use_checkpoint_opt_param_scheduler = true;
  EXPECT_EQ(schedule_conflict(config), ScheduleConflict::use_checkpoint);
  config.override_opt_param_scheduler = true;
  EXPECT_THROW(schedule_conflict(config), Error);
  config.use_checkpoint_opt_param_scheduler = false;
  EXPECT_EQ(schedule_conflict(config), ScheduleConflict::use_options);
}

TEST(ParameterScheduler, StateVisitsEveryMember) {
  SchedulerState state;
  int members = 0;
  state.visit_state([&](const std::string&, auto&) { ++members; });
  EXPECT_EQ(members, 10);
}

}  // namespace parameter_scheduler_test
}  // namespace mpitron::optim
