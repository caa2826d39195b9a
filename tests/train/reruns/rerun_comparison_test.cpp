#include <gtest/gtest.h>

#include "train/reruns/rerun_engine.h"
#include "train/reruns/small_engine.h"

namespace mpitron::train {
namespace rerun_comparison_test {

TEST(RerunComparison, AnotherFigureInPlaceIsATransientError) {
  RerunEngine tested = engine();
  EXPECT_TRUE(tested.judge(5, rejected(2, true)).again);
  EXPECT_TRUE(tested.rerunning());
  const RerunDecision decision = tested.judge(5, figures(2.0000001));
  EXPECT_EQ(decision.exit, ExitCode::result_rejected);
  EXPECT_EQ(decision.status, "FIRST_RERUN_NOT_REPRODUCIBLE");
  EXPECT_EQ(decision.result, 2.0000001);
  EXPECT_FALSE(decision.pending);
  EXPECT_NE(decision.message.find("transient error of first"), std::string::npos);
}

TEST(RerunComparison, TheSameFigureOnOtherMachinesIsTheModels) {
  for (const double loss : {2.0, kNan}) {
    for (const bool fatal : {false, true}) {
      RerunEngine second = engine("second");
      second.expect(left_by_a_first_run(loss, fatal));
      EXPECT_FALSE(second.judge(4, figures(1)).exit) << "another iteration is not concerned";
      EXPECT_TRUE(second.expecting());
      const RerunDecision decision = second.judge(5, rejected(loss, fatal));
      EXPECT_FALSE(decision.again);
      EXPECT_EQ(decision.status, "SECOND_RERUN_REPRODUCIBLE");
      EXPECT_EQ(decision.exit.has_value(), fatal);
      EXPECT_FALSE(second.expecting());
    }
  }
}

TEST(RerunComparison, AnotherFigureOnOtherMachinesBlamesTheFirst) {
  RerunEngine second = engine("second");
  second.expect(left_by_a_first_run(2, false));
  const RerunDecision decision = second.judge(5, figures(1.5));
  EXPECT_EQ(decision.exit, ExitCode::result_rejected);
  EXPECT_EQ(decision.status, "SECOND_RERUN_NOT_REPRODUCIBLE");
  EXPECT_NE(decision.message.find("persistent"), std::string::npos);
}

TEST(RerunComparison, TheSameMachinesTellNothing) {
  RerunEngine second = engine("first");
  second.expect(left_by_a_first_run(2, false));
  const RerunDecision decision = second.judge(5, figures(2));
  EXPECT_EQ(decision.exit, ExitCode::resume_to_disambiguate);
  EXPECT_TRUE(decision.pending);
  EXPECT_TRUE(second.expecting());
}

TEST(RerunComparison, WithoutAPlaceToSaveAReproducedFigureStands) {
  for (const bool fatal : {false, true}) {
    RerunEngine tested = engine("first", false);
    EXPECT_TRUE(tested.judge(5, rejected(2, fatal)).again);
    const RerunDecision decision = tested.judge(5, figures(2));
    EXPECT_EQ(decision.exit, fatal ? std::optional(ExitCode::result_rejected) : std::nullopt);
    EXPECT_FALSE(decision.pending);
  }
}

}  // namespace rerun_comparison_test

}  // namespace mpitron::train
