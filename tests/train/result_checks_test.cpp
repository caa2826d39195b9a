#include "train/result_checks.h"

#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::train {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST(CheckFinite, NamesWhatAndWhere) {
  EXPECT_NO_THROW(check_finite(1e30, "loss", {}));
  try {
    check_finite(kNan, "loss", {.iteration = 12, .rank = 3, .microbatch = 0});
    FAIL() << "NaN was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::result_rejected);
    EXPECT_EQ(std::string(error.what()).find("iteration 12, rank 3, microbatch 0: the loss is nan"),
              0U)
        << error.what();
  }
  try {
    check_finite(-kInf, "gradient norm", {.iteration = 2});
    FAIL() << "infinity was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("iteration 2, rank 0: the gradient norm is -inf"), 0U);
  }
}

TEST(UnexpectedlyLarge, LearnsFromTheFirstSamples) {
  UnexpectedlyLarge spiky(10.0, 3);
  EXPECT_FALSE(spiky(2.0));
  EXPECT_FALSE(spiky(-5.0));
  EXPECT_FALSE(spiky(1.0));
  EXPECT_EQ(spiky.largest(), 5.0);
  EXPECT_FALSE(spiky(50.0));
  EXPECT_TRUE(spiky(50.1));
  EXPECT_TRUE(spiky(-51.0));
  EXPECT_EQ(spiky.largest(), 5.0) << "what comes later teaches nothing";
}

TEST(UnexpectedlyLarge, NanAndInfinity) {
  UnexpectedlyLarge spiky(10.0, 1);
  EXPECT_FALSE(spiky(kNan));
  EXPECT_TRUE(spiky(kInf)) << "even while learning";
  EXPECT_FALSE(spiky(1.0)) << "NaN and infinity are no samples";
  EXPECT_TRUE(spiky(11.0));
}

TEST(UnexpectedlyLarge, StateSurvives) {
  UnexpectedlyLarge first(10.0, 1);
  first(2.0);
  std::map<std::string, double> saved;
  first.visit_state(
      [&](const char* name, auto& value) { saved[name] = static_cast<double>(value); });
  UnexpectedlyLarge second(10.0, 1);
  second.visit_state([&](const char* name, auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(saved.at(name));
  });
  EXPECT_TRUE(second(21.0));
}

TEST(SpikeMessage, Text) {
  UnexpectedlyLarge spiky(10.0, 1);
  spiky(2.0);
  EXPECT_EQ(spike_message(50.0, "loss", {.iteration = 7, .rank = 1}, spiky),
            "iteration 7, rank 1: the loss is 50, far above 2, the largest of the first samples");
}

}  // namespace mpitron::train
