#include "data/loading/prefetcher.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace mpitron::data {
namespace prefetcher_test {

TEST(Prefetcher, HandsOutEverythingInOrderAtAnyDepth) {
  for (const std::size_t depth : {0u, 1u, 2u, 7u}) {
    int produced = 0;
    Prefetcher<int> prefetcher(depth, 0, [&](int& item) {
      item = produced;
      return produced++ < 1000;
    });
    for (int i = 0; i < 1000; ++i) {
      const int* item = prefetcher.next();
      ASSERT_NE(item, nullptr);
      ASSERT_EQ(*item, i);
    }
    EXPECT_EQ(prefetcher.next(), nullptr);
    if (depth > 0) {
      EXPECT_EQ(prefetcher.next(), nullptr);
    }
  }
}

TEST(Prefetcher, TheHeldItemIsNotOverwritten) {
  int produced = 0;
  Prefetcher<std::vector<int>> prefetcher(2, std::vector<int>(64), [&](std::vector<int>& item) {
    std::fill(item.begin(), item.end(), produced++);
    return true;
  });
  for (int i = 0; i < 500; ++i) {
    const std::vector<int>& item = *prefetcher.next();
    EXPECT_EQ(std::count(item.begin(), item.end(), i), 64);
  }
}

TEST(Prefetcher, AnErrorComesInItsTurnAndAgain) {
  int produced = 0;
  Prefetcher<int> prefetcher(3, 0, [&](int& item) {
    if (produced == 2) {
      throw std::runtime_error("disk gone");
    }
    item = produced++;
    return true;
  });
  EXPECT_EQ(*prefetcher.next(), 0);
  EXPECT_EQ(*prefetcher.next(), 1);
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
}

TEST(Prefetcher, CanBeDroppedWhileFull) {
  for (int i = 0; i < 50; ++i) {
    Prefetcher<int> prefetcher(2, 0, [](int&) { return true; });
    if (i % 2 == 0) {
      EXPECT_NE(prefetcher.next(), nullptr);
    }
  }
}

}  // namespace prefetcher_test
}  // namespace mpitron::data
