#include "comm/worlds/mpi_world.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "comm/worlds.h"
#include "utils/error.h"

namespace mpitron::comm {
namespace mpi_world_test {

/// A process that no launcher has started, with some of a launcher's variables.
class Launch : public ::testing::Test {
 protected:
  static constexpr const char* kNames[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK",
                                           "SLURM_STEP_NUM_TASKS"};
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : kNames) {
      ::unsetenv(name);
    }
  }
};

TEST_F(Launch, IsRecognisedByTheLaunchersVariables) {
  EXPECT_FALSE(launched_by_mpi());
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    ::setenv(name, "1", 1);
    EXPECT_TRUE(launched_by_mpi()) << name;
    clear();
  }
}

TEST_F(Launch, TasksThatDoNotKnowOfEachOtherAreRefused) {
  ::setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  EXPECT_FALSE(launched_by_mpi());
  ::setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  try {
    launched_by_mpi();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find("srun --mpi=pmix"), std::string::npos);
  }
}

TEST_F(Launch, AloneIsAWorldOfOne) {
  const auto world = make_world();
  EXPECT_EQ(world->size(), 1);
  EXPECT_EQ(world->local_rank(), 0);
  EXPECT_EQ(world->all()->reduce(2.5), 2.5);
  EXPECT_FALSE(world->host(0).empty());
}

class OnRanks : public ::testing::TestWithParam<WorldKind> {};

TEST_P(OnRanks, EachKnowsItsPlaceAndTheHosts) {
  run_world(GetParam(), [](World& world) {
    EXPECT_EQ(world.size(), GetParam().size);
    EXPECT_EQ(world.host(world.size() - 1), world.host(0));  // one machine
    const Index expected[] = {0, world.rank(), 0, world.rank() % 2};
    EXPECT_EQ(world.local_rank(), expected[static_cast<int>(GetParam().transport)]);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, OnRanks, ::testing::ValuesIn(worlds_to_test()), name_of_world);

}  // namespace mpi_world_test
}  // namespace mpitron::comm
