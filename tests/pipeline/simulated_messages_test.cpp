#include "pipeline/simulated_messages.h"

#include <gtest/gtest.h>

namespace mpitron::pipeline {
namespace simulated_messages_test {

constexpr ScheduleOptions kTwoStages{.stages = 2, .chunks = 1, .microbatches = 2};
constexpr double kLatency = 0.5;

/// The activation of a microbatch, from stage 0 to stage 1.
Action activation(ActionKind kind, Index microbatch) {
  const bool at_sender = kind == ActionKind::send || kind == ActionKind::wait_send;
  return {.kind = kind,
          .payload = Payload::activation,
          .microbatch = microbatch,
          .peer_stage = at_sender ? 1 : 0,
          .peer_chunk = 0};
}

class SimulatedMessagesTest : public ::testing::Test {
 protected:
  bool send(Index microbatch, double time) {
    return messages_.post(0, activation(ActionKind::send, microbatch), time);
  }
  bool receive(Index microbatch, double time) {
    return messages_.post(1, activation(ActionKind::receive, microbatch), time);
  }
  SimulatedMessages::Wait wait_send(Index microbatch) {
    return messages_.wait(0, activation(ActionKind::wait_send, microbatch));
  }
  SimulatedMessages::Wait wait_receive(Index microbatch) {
    return messages_.wait(1, activation(ActionKind::wait_receive, microbatch));
  }
  bool complete(Index microbatch) const {
    return messages_.complete(1, 0, microbatch, Payload::activation);
  }

  SimulatedMessages messages_{kTwoStages, Transport::rendezvous, kLatency};
};

TEST_F(SimulatedMessagesTest, AMessageIsOverWhenBothEndsHaveComeAndItHasTravelled) {
  EXPECT_TRUE(send(0, 1));
  EXPECT_FALSE(wait_send(0).over);
  EXPECT_TRUE(receive(0, 3));
  EXPECT_EQ(wait_send(0).over, 3 + kLatency);
  EXPECT_FALSE(messages_.received(1, 0, 0, Payload::activation));
  EXPECT_EQ(wait_receive(0).over, 3 + kLatency);
  EXPECT_TRUE(messages_.received(1, 0, 0, Payload::activation));
  EXPECT_FALSE(messages_.received(1, 0, 0, Payload::gradient));
  EXPECT_TRUE(complete(0));
  EXPECT_FALSE(complete(1));
}

TEST_F(SimulatedMessagesTest, ABufferedSendIsOverAtOnce) {
  messages_ = SimulatedMessages(kTwoStages, Transport::buffered, kLatency);
  send(0, 1);
  EXPECT_EQ(wait_send(0).over, 1);
  receive(0, 1.25);
  EXPECT_EQ(wait_receive(0).over, 1 + kLatency);
  send(1, 2);
  receive(1, 7);
  EXPECT_EQ(wait_receive(1).over, 7);
}

TEST_F(SimulatedMessagesTest, EachEndPostsAndWaitsOnce) {
  EXPECT_NE(wait_send(0).problem, "") << "nothing is under way";
  EXPECT_TRUE(send(0, 0));
  EXPECT_FALSE(send(0, 1));
  EXPECT_TRUE(receive(0, 0));
  EXPECT_FALSE(receive(0, 1));
  EXPECT_EQ(wait_send(0).problem, "");
  EXPECT_NE(wait_send(0).problem, "");
  EXPECT_FALSE(complete(0)) << "the receiver has not waited";
}

TEST_F(SimulatedMessagesTest, BothEndsOfAChannelAgreeOnTheOrder) {
  send(0, 0);
  send(1, 0);
  receive(1, 0);
  receive(0, 0);
  EXPECT_EQ(wait_receive(1).problem,
            "it is message 2 of its channel at the sender and 1 at the receiver");
}

}  // namespace simulated_messages_test
}  // namespace mpitron::pipeline
