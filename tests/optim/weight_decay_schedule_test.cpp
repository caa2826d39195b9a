#include "optim/weight_decay_schedule.h"

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "utils/error.h"

namespace mpitron::optim {

TEST(WeightDecaySchedule, EqualsReferenceTable) {
  const nlohmann::json cases = test::golden_table("weight_decay");
  ASSERT_GE(cases.size(), 7U);
  for (const auto& c : cases) {
    const WeightDecaySchedule schedule{
        .start_wd = c.at("start"),
        .end_wd = c.at("end"),
        .wd_incr_steps = c.at("incr_steps"),
        .wd_incr_style = parse_weight_decay_style(c.at("style").get<std::string>())};
    schedule.validate();
    ASSERT_FALSE(c.at("wd_at_step").empty());
    for (std::size_t n = 0; n < c.at("wd_at_step").size(); ++n) {
      EXPECT_NEAR(schedule.at(static_cast<Index>(n)), c.at("wd_at_step")[n].get<double>(), 1e-15)
          << c.at("style") << " at " << n;
    }
  }
}

TEST(WeightDecaySchedule, RefusesWhatMakesNoSchedule) {
  const WeightDecaySchedule falling{.start_wd = 0.2, .end_wd = 0.1};
  EXPECT_THROW(falling.validate(), Error);
  const WeightDecaySchedule two_constants{.start_wd = 0.1, .end_wd = 0.2};
  EXPECT_THROW(two_constants.validate(), Error);
  const WeightDecaySchedule no_length{
      .start_wd = 0.1, .end_wd = 0.2, .wd_incr_style = WeightDecayStyle::linear};
  EXPECT_THROW(no_length.validate(), Error);
}

TEST(WeightDecaySchedule, StyleNames) {
  for (const char* name : {"constant", "linear", "cosine"}) {
    EXPECT_EQ(to_string(parse_weight_decay_style(name)), name);
  }
  EXPECT_THROW(parse_weight_decay_style("cos"), Error);
}

TEST(WeightDecaySchedule, FromOptions) {
  config::OptimizerConfig config;
  config.start_weight_decay = 0.0;
  config.end_weight_decay = 0.4;
  config.wd_incr_steps = 40;
  config.weight_decay_incr_style = WeightDecayStyle::linear;
  EXPECT_DOUBLE_EQ(make_weight_decay_schedule(config).at(10), 0.1);
}

}  // namespace mpitron::optim
