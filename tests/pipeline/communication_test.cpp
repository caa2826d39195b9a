#include <gtest/gtest.h>

#include "pipeline/schedule.h"

namespace mpitron::pipeline {
namespace communication_test {

/// A list in short: F0 B0; s, r: send, receive; S, R: their waits; a, g: activation, gradient.
std::string short_text(const ActionList& list) {
  constexpr std::string_view kKinds = "FBBWrRsS";
  std::string text;
  for (const Action& action : list) {
    text += text.empty() ? "" : " ";
    text += kKinds[static_cast<std::size_t>(action.kind)];
    text += action.payload == Payload::none         ? ""
            : action.payload == Payload::activation ? "a"
                                                    : "g";
    text += std::to_string(action.microbatch);
  }
  return text;
}

std::vector<std::string> lists(bool overlapped) {
  const Schedule schedule =
      make_schedule({.stages = 2, .microbatches = 3, .overlap_p2p_comm = overlapped});
  return {short_text(schedule.stages[0]), short_text(schedule.stages[1])};
}

TEST(Communication, OverlappedReceivesArePostedBeforeTheComputationBeforeTheirUse) {
  const std::vector<std::string> expected = {
      "F0 sa0 rg0 F1 sa1 Rg0 B0 rg1 F2 Sa0 sa2 rg2 Rg1 B1 Rg2 B2 Sa1 Sa2",
      "ra0 Ra0 F0 ra1 B0 sg0 Ra1 F1 ra2 B1 sg1 Ra2 F2 B2 Sg0 sg2 Sg1 Sg2"};
  EXPECT_EQ(lists(true), expected);
}

TEST(Communication, OtherwiseMessagesAreReceivedBetweenTwoComputations) {
  const std::vector<std::string> expected = {
      "F0 sa0 F1 sa1 rg0 Rg0 B0 F2 Sa0 sa2 rg1 Rg1 B1 rg2 Rg2 B2 Sa1 Sa2",
      "ra0 Ra0 F0 ra1 Ra1 B0 sg0 F1 B1 sg1 ra2 Ra2 F2 B2 Sg0 sg2 Sg1 Sg2"};
  EXPECT_EQ(lists(false), expected);
}

TEST(Communication, NamesBothEndsAcrossChunks) {
  const Schedule schedule = make_schedule(
      {.kind = ScheduleKind::interleaved, .stages = 2, .chunks = 2, .microbatches = 2});
  const Action wrap{.kind = ActionKind::send,
                    .payload = Payload::activation,
                    .chunk = 0,
                    .microbatch = 1,
                    .peer_stage = 0,
                    .peer_chunk = 1};
  const Action unwrap{.kind = ActionKind::receive,
                      .payload = Payload::activation,
                      .chunk = 1,
                      .microbatch = 1,
                      .peer_stage = 1,
                      .peer_chunk = 0};
  EXPECT_EQ(std::count(schedule.stages[1].begin(), schedule.stages[1].end(), wrap), 1);
  EXPECT_EQ(std::count(schedule.stages[0].begin(), schedule.stages[0].end(), unwrap), 1);
}

/// Between the two there is no message: both are there before, both are sent behind them.
TEST(Communication, AJoinedPairIsOneComputation) {
  for (const bool overlapped : {true, false}) {
    const Schedule schedule = make_schedule({.kind = ScheduleKind::interleaved,
                                             .stages = 2,
                                             .chunks = 2,
                                             .microbatches = 4,
                                             .overlap_p2p_comm = overlapped,
                                             .join_passes = true});
    int pairs = 0;
    for (const ActionList& list : schedule.stages) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].joined) {
          ++pairs;
          ASSERT_LT(i + 1, list.size());
          EXPECT_EQ(list[i + 1].kind, ActionKind::backward);
        }
      }
    }
    EXPECT_EQ(pairs, (8 - 5) + (8 - 3));  // all but the warm-up of each stage
  }
}

TEST(Communication, AForwardAloneIsNotJoined) {
  const Schedule schedule = make_schedule({.kind = ScheduleKind::no_pipelining,
                                           .microbatches = 3,
                                           .join_passes = true,
                                           .forward_only = true});
  EXPECT_EQ(short_text(schedule.stages[0]), "F0 F1 F2");
  for (const Action& action : schedule.stages[0]) {
    EXPECT_FALSE(action.joined);
  }
}

TEST(Communication, OneStageSendsNothing) {
  const Schedule schedule = make_schedule({.kind = ScheduleKind::no_pipelining, .microbatches = 2});
  EXPECT_EQ(short_text(schedule.stages[0]), "F0 B0 F1 B1");
}

}  // namespace communication_test
}  // namespace mpitron::pipeline
