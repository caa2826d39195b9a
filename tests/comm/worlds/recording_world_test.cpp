#include "comm/worlds/recording_world.h"

#include <array>

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace recording_world_test {

TEST(RecordingWorld, WritesDownWhatARankStartsAndWaitsFor) {
  RankRecord record;
  const auto world = make_recording_world(1, 4, record);
  const auto group = world->make_group("tensor", {0, 1});
  std::array<float, 6> x{};
  const TensorView view(x.data(), DType::f32, {6});
  Work sum = group->all_reduce(view);
  Work sent = group->send(view, 0, 7);
  sum.wait();
  sent.wait();
  ASSERT_EQ(record.groups.size(), 1U);
  EXPECT_EQ(record.groups[0].name, "tensor");
  EXPECT_EQ(record.groups[0].ranks, (std::vector<Index>{0, 1}));
  ASSERT_EQ(record.events.size(), 4U);
  EXPECT_EQ(record.events[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(record.events[0].received, 6);
  EXPECT_FALSE(record.events[0].waits);
  EXPECT_EQ(record.events[1].kind, CollectiveKind::send);
  EXPECT_EQ(record.events[1].peer, 1) << "one place behind, around the ring";
  EXPECT_EQ(record.events[1].label, 7);
  EXPECT_TRUE(record.events[2].waits && record.events[3].waits);
  EXPECT_EQ(record.events[2].call, record.events[0].call);
}

TEST(RecordingWorld, GroupsOfOneDoNothing) {
  RankRecord record;
  const auto world = make_recording_world(0, 2, record);
  std::array<float, 2> x{};
  world->make_group("data", {0})->all_reduce(TensorView(x.data(), DType::f32, {2})).wait();
  EXPECT_TRUE(record.groups.empty() && record.events.empty());
}

TEST(RecordingWorld, TablesOfNumbersAreGatheredAsIfAllRanksHadThem) {
  RankRecord record;
  const auto world = make_recording_world(0, 3, record);
  const std::array<std::int64_t, 2> own = {5, 6};
  std::array<std::int64_t, 6> all{};
  world->make_group("expert", {0, 1, 2})
      ->all_gather(ConstTensorView(own.data(), DType::i64, {2}),
                   TensorView(all.data(), DType::i64, {6}))
      .wait();
  EXPECT_EQ(all, (std::array<std::int64_t, 6>{5, 6, 5, 6, 5, 6}));
}

}  // namespace recording_world_test
}  // namespace mpitron::comm
