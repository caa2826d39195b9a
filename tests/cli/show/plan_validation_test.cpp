#include <fstream>

#include <gtest/gtest.h>

#include "cli/plan_words.h"

namespace mpitron::cli {
namespace plan_validation_test {

using namespace mpitron::test;

TEST(PlanValidation, ATableOfMeasuredStepsIsReadOrRefused) {
  EXPECT_EQ(run_alone({"plan", "--validate", "nowhere.tsv"}).code, 4);
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "t.tsv") << "id\tsource\n";
  const Finished refused = run_program(folder.path(), {"plan", "--validate", "t.tsv"});
  EXPECT_EQ(refused.code, 22);
  EXPECT_TRUE(contains(refused.err, "t.tsv:1: column table is missing")) << refused.err;
}

}  // namespace plan_validation_test
}  // namespace mpitron::cli
