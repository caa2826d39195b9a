#include "comm/groups/request.h"

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace request_test {

TEST(SequenceNumbers, CollectivesAndEachDirectionOfEachPairCountAlone) {
  SequenceNumbers numbers(3);
  EXPECT_EQ(numbers.next({.kind = CollectiveKind::all_reduce}), 0);
  EXPECT_EQ(numbers.next({.kind = CollectiveKind::broadcast, .peer = 2}), 1);
  EXPECT_EQ(numbers.next({.kind = CollectiveKind::send, .peer = 2}), 0);
  EXPECT_EQ(numbers.next({.kind = CollectiveKind::send, .peer = 1}), 0);
  EXPECT_EQ(numbers.next({.kind = CollectiveKind::send, .peer = 2}), 1);
  EXPECT_EQ(numbers.next({.kind = CollectiveKind::receive, .peer = 2}), 0);
  EXPECT_EQ(numbers.next({.kind = CollectiveKind::barrier}), 2);
}

}  // namespace request_test
}  // namespace mpitron::comm
