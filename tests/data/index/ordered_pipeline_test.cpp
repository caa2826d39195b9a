#include "data/index/ordered_pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace mpitron::data {
namespace ordered_pipeline_test {

struct Item {
  int number = 0;
  int square = 0;
};

// Items 0 .. count - 1 through `workers` threads; returns what came out, in the order it came.
std::vector<int> run(int workers, int count, int fail_in_process, int fail_in_consume = -1) {
  std::vector<int> squares;
  int next = 0;
  std::atomic<int> alive = 0;
  std::atomic<int> most = 0;
  try {
    OrderedPipeline<Item>(workers).run(
        [&](Item& item) {
          item.number = next++;
          most = std::max<int>(most, ++alive);
          return item.number < count;
        },
        [&](int, Item& item) {
          if (item.number % 7 == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(300));
          }
          if (item.number >= fail_in_process && fail_in_process >= 0) {
            throw std::runtime_error(std::to_string(item.number));
          }
          item.square = item.number * item.number;
        },
        [&](Item& item) {
          if (item.number == fail_in_consume) {
            throw std::runtime_error("consume");
          }
          squares.push_back(item.square);
          --alive;
        });
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), fail_in_consume >= 0 ? "consume" : std::to_string(fail_in_process));
  }
  EXPECT_LE(most, 4 * workers - 3 + 1);  // and the one that is not produced
  return squares;
}

TEST(OrderedPipeline, KeepsTheOrderForAnyNumberOfWorkers) {
  for (const int workers : {1, 2, 5}) {
    const auto squares = run(workers, 300, -1);
    ASSERT_EQ(squares.size(), 300U);
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i);
    }
  }
}

// Its one item stays on the calling thread, in one place.
TEST(OrderedPipeline, OneWorkerNeedsNoOtherThread) {
  const auto caller = std::this_thread::get_id();
  const Item* first = nullptr;
  int count = 0;
  const auto check = [&](const Item& item) {
    first = first == nullptr ? &item : first;
    EXPECT_EQ(&item, first);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  };
  OrderedPipeline<Item>(1).run(
      [&](Item& item) {
        check(item);
        return ++count < 10;
      },
      [&](int, Item& item) { check(item); }, [&](Item& item) { check(item); });
  EXPECT_EQ(count, 10);
}

TEST(OrderedPipeline, NothingToDo) {
  EXPECT_TRUE(run(3, 0, -1).empty());
}

TEST(OrderedPipeline, TheFirstFailureInOrderWins) {
  for (const int workers : {1, 2, 5}) {
    EXPECT_EQ(run(workers, 100, 40).size(), 40U);
  }
}

TEST(OrderedPipeline, AFailingConsumerEndsTheRun) {
  EXPECT_EQ(run(3, 1000, -1, 10).size(), 10U);
}

}  // namespace ordered_pipeline_test
}  // namespace mpitron::data
