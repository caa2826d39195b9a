#include <gtest/gtest.h>

#include "comm/worlds.h"
#include "emulator/nccl/emulated_nccl.h"

namespace mpitron::comm {
namespace nccl_group_test {

using emulator::NcclHistory;

/// What the ranks of the only communicator have called, as text.
std::vector<std::string> calls_of(const NcclHistory& history, std::size_t rank) {
  std::vector<std::string> calls;
  for (const emulator::NcclCall& call : history.ranks[rank]) {
    calls.push_back(emulator::describe(call));
  }
  return calls;
}

TEST(NcclGroup, TensorsTravelByNcclInOneOrderAndNumbersDoNot) {
  emulator::take_nccl_histories();
  run_gpu_world(2, {}, [](World& world) {
    const auto group = world.all();
    Floats x(8, 1.f), y(4);
    group->all_reduce(x.view(), Reduction::maximum).wait();
    group->reduce_scatter(x.view(), y.view()).wait();
    EXPECT_EQ(group->reduce(2), 4);
    group->broadcast(y.view(), 1).wait();
    EXPECT_EQ(y[0], 2);
  });
  const std::vector<NcclHistory> histories = emulator::take_nccl_histories();
  ASSERT_EQ(histories.size(), 1U);
  const std::vector<std::string> expected = {"all_reduce(8 fp32, 2)", "reduce_scatter(4 fp32, 0)",
                                             "broadcast(16 u8, 1)"};
  EXPECT_EQ(calls_of(histories[0], 0), expected);
  EXPECT_EQ(calls_of(histories[0], 1), expected);
}

TEST(NcclGroup, LimitsAndPriorityAreThoseOfTheGroup) {
  emulator::take_nccl_histories();
  DeviceTransport transport;
  transport.limits["world"] = {
      .min_ctas = 2, .max_ctas = 8, .cga_cluster_size = {}, .net_name = "IB", .in_switches = true};
  transport.high_priority = {"other"};
  run_gpu_world(2, transport, [](World& world) {
    Floats x(4);
    world.all()->all_reduce(x.view()).wait();
    world.make_group("other", {0, 1})->all_reduce(x.view()).wait();
    x.read();
  });
  const std::vector<NcclHistory> histories = emulator::take_nccl_histories();
  ASSERT_EQ(histories.size(), 2U);
  const NcclHistory& all = histories[0];
  const NcclHistory& other = histories[1];
  EXPECT_EQ(all.config.minCTAs, 2);
  EXPECT_EQ(all.config.maxCTAs, 8);
  EXPECT_EQ(all.config.cgaClusterSize, NCCL_CONFIG_UNDEF_INT);
  EXPECT_EQ(all.net_name, "IB");
  EXPECT_EQ(all.config.collnetEnable, 1);
  EXPECT_EQ(other.config.collnetEnable, NCCL_CONFIG_UNDEF_INT);
  EXPECT_EQ(other.config.minCTAs, NCCL_CONFIG_UNDEF_INT);
  EXPECT_LT(other.priority, all.priority);  // smaller is more urgent
}

TEST(NcclGroup, WhatIsQueuedBehindAWaitSeesTheResult) {
  run_gpu_world(2, {}, [](World& world) {
    Floats x(1000, 1.f), copy(1000);
    Work work = world.all()->all_reduce(x.view());
    work.wait();
    device::copy_bytes(rank_device->stream(), copy.view().data, x.view().data, 4000);
    EXPECT_EQ(copy[999], 2);
    world.all()->barrier();
  });
}

TEST(NcclGroup, WhoHasNoTokensTakesPartInTheExchange) {
  run_gpu_world(3, {}, [](World& world) {
    // Ranks 0 and 1 send each other two numbers, rank 2 nothing at all.
    const bool alone = world.rank() == 2;
    const Index n = alone ? 0 : 2;
    Floats x(n, static_cast<float>(world.rank() + 1)), y(n, -1);
    const std::vector<Index> counts = alone               ? std::vector<Index>{0, 0, 0}
                                      : world.rank() == 0 ? std::vector<Index>{0, 2, 0}
                                                          : std::vector<Index>{2, 0, 0};
    world.all()->all_to_all(x.view(), y.view(), counts, counts).wait();
    if (!alone) {
      EXPECT_EQ(y[1], static_cast<float>(2 - world.rank()));
    }
    world.all()->barrier();
  });
}

TEST(NcclGroup, AGroupOfOneCopiesOnTheDevice) {
  run_gpu_world(1, {}, [](World& world) {
    Floats x(5, 3.f), y(5);
    world.all()->all_gather(x.view(), y.view()).wait();
    EXPECT_EQ(y[4], 3);
    EXPECT_EQ(world.all()->reduce(7), 7);
  });
}

// Deviations end the process with the sequences of both ranks.

class NcclGroupDeathTest : public ::testing::Test {
 protected:
  NcclGroupDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(NcclGroupDeathTest, AnotherCollectiveOrOrderIsFound) {
  const auto swapped = [](World& world) {
    Floats x(4), y(8);
    if (world.rank() == 0) {
      world.all()->all_reduce(x.view());
    }
    world.all()->all_gather(x.view(), y.view()).wait();
    y.read();
  };
  EXPECT_DEATH(run_gpu_world(2, {}, swapped),
               "call different things:\n  rank .: all_.*\n  rank .: all_");
}

TEST_F(NcclGroupDeathTest, MessagesOfUnequalSizesAreFound) {
  const auto unequal = [](World& world) {
    Floats x(4 + world.rank());
    if (world.rank() == 0) {
      world.all()->send(x.view(), 1).wait();
    } else {
      world.all()->receive(x.view(), 0).wait();
    }
    x.read();
  };
  EXPECT_DEATH(run_gpu_world(2, {}, unequal), "send.16 u8, .*receive.20 u8|receive.20 u8, .*send");
}

TEST_F(NcclGroupDeathTest, ACollectiveThatOneRankLeavesOutIsFound) {
  const auto missing = [](World& world) {
    Floats x(4);
    world.all()->all_reduce(x.view()).wait();
    x.read();
    if (world.rank() == 0) {
      world.all()->all_reduce(x.view());
    }
  };
  EXPECT_DEATH(run_gpu_world(2, {}, missing),
               "rank 1 has ended a communicator without what rank 0 calls");
}

TEST_F(NcclGroupDeathTest, AnOpenGroupOfCallsIsFound) {
  EXPECT_DEATH(std::thread([] { ncclGroupStart(); }).join(), "open group of calls");
}

}  // namespace nccl_group_test
}  // namespace mpitron::comm
