#include "plan/calibration/calibration_programs.h"

#include <gtest/gtest.h>

#include "plan/model/flops_formula.h"

namespace mpitron::plan {
namespace calibration_programs_test {

TEST(CalibrationPrograms, AreInBothTypesWithTheirVocabularies) {
  int narrow = 0;
  for (const config::RunConfig& run : calibration_programs()) {
    EXPECT_GT(run.model.padded_vocab_size, 0);
    EXPECT_EQ(run.parallel.world_size, 1);
    narrow += run.model.params_dtype == DType::bf16;
  }
  EXPECT_EQ(2 * narrow, std::ssize(calibration_programs()));
}

TEST(CalibrationPrograms, TheShortOnesComeFirst) {
  const std::vector<config::RunConfig> programs = calibration_programs();
  const auto work = [&](std::size_t i) {
    return step_flops(make_job(programs[i]), FlopsFormula::megatron);
  };
  for (std::size_t i = 0; i + 4 < programs.size(); i += 4) {
    EXPECT_LT(work(i) + work(i + 1), work(i + 4) + work(i + 5)) << "a pair and the next wider one";
  }
}

TEST(CalibrationPrograms, AreCutAmongTensorRanksWhereTheyCanBe) {
  const std::vector<config::RunConfig> programs = tensor_programs(2);
  ASSERT_EQ(programs.size(), 2U);
  for (const config::RunConfig& run : programs) {
    EXPECT_EQ(run.parallel.world_size, 2);
    EXPECT_EQ(run.parallel.tensor_model_parallel_size, 2);
  }
  EXPECT_NE(programs[0].parallel.sequence_parallel, programs[1].parallel.sequence_parallel);
  EXPECT_EQ(tensor_programs(4).size(), 1U) << "the Llama has two groups of heads";
  EXPECT_TRUE(tensor_programs(3).empty());
}

}  // namespace calibration_programs_test
}  // namespace mpitron::plan
