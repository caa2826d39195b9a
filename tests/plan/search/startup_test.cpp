#include "plan/search/startup.h"

#include <gtest/gtest.h>

#include "plan/machine/library.h"
#include "plan/planned_run.h"

namespace mpitron::plan {
namespace startup_test {

Job job(Index gpus) {
  return make_job(test::planned_run({.layers = 96, .hidden = 12288, .heads = 96}, 4096, gpus,
                                    {.gpus = gpus, .tensor = 8, .pipeline = 8}));
}

TEST(Startup, CommunicatorsAreTheGroupsOfSeveralRanks) {
  const std::vector<Communicator> groups = communicators(job(1024));
  ASSERT_EQ(groups.size(), 6U);
  EXPECT_EQ(groups[0].name, "tensor");
  EXPECT_EQ(groups[0].ranks, 8);
  EXPECT_EQ(groups[1].name, "data");
  EXPECT_EQ(groups[1].ranks, 16);
  EXPECT_EQ(groups.back().ranks, 1024);
}

TEST(Startup, PhasesGrowWithTheJobAndFilesAreOpenedOnceANode) {
  const Machine machine = *Library().machine("h100-dgx");
  const auto small = startup_phases(machine, job(1024)),
             large = startup_phases(machine, job(10240));
  ASSERT_EQ(small.size(), large.size());
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_GE(large[i].seconds, small[i].seconds) << small[i].name;
    EXPECT_FALSE(small[i].what.empty());
  }
  EXPECT_EQ(large[1].what.substr(0, 18), "76800 files opened") << "60 on each of 1,280 nodes";
}

}  // namespace startup_test
}  // namespace mpitron::plan
