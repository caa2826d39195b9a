#include "data/loading/row_prefetcher.h"

#include <numeric>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace mpitron::data {
namespace row_prefetcher_test {

struct Numbers {
  int batch = -1;
  std::vector<int> rows = std::vector<int>(5);
  int sum = 0;
};

RowPrefetcher<Numbers>::Work count_to(int batches, int& planned) {
  return {.plan =
              [=, &planned](Numbers& numbers) {
                numbers.batch = planned;
                return planned++ < batches;
              },
          .fill =
              [](Numbers& numbers, Index row) {
                numbers.rows[static_cast<std::size_t>(row)] =
                    10 * numbers.batch + static_cast<int>(row);
              },
          .finish =
              [](Numbers& numbers) {
                numbers.sum = std::accumulate(numbers.rows.begin(), numbers.rows.end(), 0);
              }};
}

TEST(RowPrefetcher, BatchesAreWholeAndInOrderForAnyNumberOfThreads) {
  for (const Index threads : {0, 1, 2, 8}) {
    int planned = 0;
    RowPrefetcher<Numbers> prefetcher(threads, 2, 5, {}, count_to(300, planned));
    for (int batch = 0; batch < 300; ++batch) {
      const Numbers* numbers = prefetcher.next();
      ASSERT_NE(numbers, nullptr);
      ASSERT_EQ(numbers->batch, batch) << threads;
      ASSERT_EQ(numbers->sum, 50 * batch + 10);
    }
    EXPECT_EQ(prefetcher.next(), nullptr);
    EXPECT_EQ(prefetcher.next(), nullptr);
  }
}

TEST(RowPrefetcher, TheLowestRowsErrorComesInItsTurn) {
  for (const Index threads : {0, 1, 4}) {
    int planned = 0;
    auto work = count_to(10, planned);
    work.fill = [](Numbers& numbers, Index row) {
      if (numbers.batch == 3 && row >= 2) {
        throw std::runtime_error("row " + std::to_string(row));
      }
    };
    RowPrefetcher<Numbers> prefetcher(threads, 2, 5, {}, work);
    for (int batch = 0; batch < 3; ++batch) {
      EXPECT_EQ(prefetcher.next()->batch, batch);
    }
    try {
      prefetcher.next();
      ADD_FAILURE() << threads;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "row 2");
    }
    EXPECT_EQ(prefetcher.next()->batch, 4);
  }
}

TEST(RowPrefetcher, AnErrorOfPlanningEndsIt) {
  RowPrefetcher<Numbers> prefetcher(
      2, 1, 5, {},
      {.plan = [](Numbers&) -> bool { throw std::runtime_error("no data"); },
       .fill = [](Numbers&, Index) {}});
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
}

TEST(RowPrefetcher, MayEndWhileItIsFull) {
  int planned = 0;
  const RowPrefetcher<Numbers> prefetcher(3, 2, 5, {}, count_to(1000, planned));
}

}  // namespace row_prefetcher_test
}  // namespace mpitron::data
