#include "checkpoint/plan/agreement.h"

#include <atomic>

#include <gtest/gtest.h>

#include "comm/groups/world.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace agreement_test {

TEST(Agreement, AnErrorOfOneIsThrownByAll) {
  std::atomic<int> thrown = 0, worked = 0;
  comm::run_thread_world(3, [&](comm::World& world) {
    const auto group = world.all();
    on_member_0(*group, [&] { ++worked; });
    try {
      throw_first_error(*group, world.rank() == 1 ? "the disk is full" : "");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_TRUE(error.on_all_ranks());
      EXPECT_STREQ(error.what(), "the disk is full");
      ++thrown;
    }
  });
  EXPECT_EQ(worked, 1);
  EXPECT_EQ(thrown, 3);
}

TEST(Agreement, TextsTravelWhole) {
  comm::run_thread_world(3, [](comm::World& world) {
    const auto group = world.all();
    const std::string own(static_cast<std::size_t>(world.rank()), 'x');
    EXPECT_EQ(gather_texts(*group, own), (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_EQ(broadcast_text(*group, own, 2), "xx");
  });
}

}  // namespace agreement_test
}  // namespace mpitron::checkpoint
