#include <fstream>

#include <gtest/gtest.h>

#include "cli/plan_words.h"

namespace mpitron::cli {
namespace plan_machine_test {

using namespace mpitron::test;

TEST(PlanMachine, ASearchSavesFlagsThatCheckAccepts) {
  const TemporaryFolder folder;
  const Finished found =
      run_program(folder.path(), kPlan + Words{"--machine", "h100-dgx", "--gpus", "16", "--search",
                                               "--save-flags", "best.yaml"});
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_TRUE(contains(found.out, "tokens/s/GPU")) << found.out;
  EXPECT_TRUE(contains(found.out, "slower by")) << found.out;
  const Finished checked = run_program(
      folder.path(), {"check", "--yaml-cfg", "best.yaml", "--world-size", "16", "--no-files"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
}

TEST(PlanMachine, AModelThatFitsNowhereIsRefusedWithWhatWouldHelp) {
  const Finished refused =
      run_alone(kPlan + Words{"--machine", "a100-40", "--gpus", "1", "--search", "--hidden-size",
                              "8192", "--num-layers", "16"});
  EXPECT_EQ(refused.code, 20);
  EXPECT_TRUE(contains(refused.err, "no layout fits on 1 a100-40: the smallest")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "GPUs fit")) << refused.err;
}

TEST(PlanMachine, WrongMachinesAreRefused) {
  EXPECT_TRUE(contains(run_alone(kPlan + Words{"--machine", "abacus"}).err, "one of a100-40"));
  EXPECT_TRUE(
      contains(run_alone(kPlan + Words{"--machine", "h100-dgx", "--what-if", "netwrk=2"}).err,
               "has this name"));
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "m.yaml") << "name: m\nextends: h100-dgx\ngpu: {memory: -1}\n";
  const Finished refused = run_program(folder.path(), kPlan + Words{"--machine", "m.yaml"});
  EXPECT_EQ(refused.code, 21);
  EXPECT_TRUE(contains(refused.err, "gpu.memory -1")) << refused.err;
}

}  // namespace plan_machine_test
}  // namespace mpitron::cli
