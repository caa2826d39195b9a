#include "kernels/host/attention/attention_queue.h"

#include <set>

#include <gtest/gtest.h>

namespace mpitron::kernels::host::attention {
namespace attention_queue_test {

TEST(AttentionQueue, GivesEveryTaskOnce) {
  std::atomic<Index> next = 0;
  TaskQueue one(next, 5), other(next, 5);
  std::multiset<Index> taken;
  for (Index task = one.take(); task != TaskQueue::kNone; task = one.take()) {
    taken.insert(task);
    if (const Index second = other.take(); second != TaskQueue::kNone) {
      taken.insert(second);
    }
  }
  EXPECT_EQ(taken, (std::multiset<Index>{0, 1, 2, 3, 4}));
}

TEST(AttentionQueue, TheTaskThatComesIsNobodyElses) {
  std::atomic<Index> next = 0;
  TaskQueue one(next, 3), other(next, 3);
  EXPECT_EQ(one.take(), 0);
  EXPECT_EQ(one.coming(), 1);
  EXPECT_EQ(one.coming(), 1);
  EXPECT_EQ(other.take(), 2);
  EXPECT_EQ(other.coming(), TaskQueue::kNone);
  EXPECT_EQ(one.take(), 1);
  EXPECT_EQ(one.take(), TaskQueue::kNone);
  EXPECT_EQ(one.take(), TaskQueue::kNone);
}

}  // namespace attention_queue_test
}  // namespace mpitron::kernels::host::attention
