#include "models/vit/dino_schedule.h"

#include <gtest/gtest.h>

namespace mpitron::models {
namespace dino_schedule_test {

constexpr config::DinoConfig kDino{.frozen_epochs = 1.5,
                                   .first_temperature = 0.04,
                                   .temperature = 0.07,
                                   .temperature_epochs = 4,
                                   .iterations_per_epoch = 2,
                                   .iterations = 9};

TEST(DinoSchedule, TheTemperatureRisesInEvenStepsFromEpochToEpoch) {
  EXPECT_EQ(teacher_temperature(kDino, 0), 0.04);
  EXPECT_EQ(teacher_temperature(kDino, 1), 0.04);
  EXPECT_NEAR(teacher_temperature(kDino, 2), 0.05, 1e-12);
  EXPECT_NEAR(teacher_temperature(kDino, 6), 0.07, 1e-12);
  EXPECT_EQ(teacher_temperature(kDino, 1000), 0.07);
}

TEST(DinoSchedule, TheMomentumReachesOneBehindTheLastWholeEpoch) {
  EXPECT_NEAR(teacher_momentum(kDino, 0), 0.996, 1e-12);
  EXPECT_NEAR(teacher_momentum(kDino, 4), 0.998, 1e-12);
  EXPECT_EQ(teacher_momentum(kDino, 8), 1);
}

TEST(DinoSchedule, TheLastLayerIsHeldInTheFirstEpochs) {
  EXPECT_TRUE(last_layer_is_held(kDino, 3));
  EXPECT_FALSE(last_layer_is_held(kDino, 4));
}

}  // namespace dino_schedule_test
}  // namespace mpitron::models
