#include "kernels/host/attention/attention_fetch.h"

#include <vector>

#include <gtest/gtest.h>

namespace mpitron::kernels::host::attention {
namespace attention_fetch_test {

constexpr Index kSize = 64, kStride = 200;

/// Counts the calls until all has been asked for.
template <class T>
Index calls(RowFetcher<T>& fetcher) {
  Index count = 0;
  for (; !fetcher.done(); ++count) {
    fetcher.some();
  }
  return count;
}

TEST(AttentionFetch, AsksForSoManyBytesACall) {
  const std::vector<float> data(40 * kStride);
  RowFetcher<float> fetcher;
  EXPECT_TRUE(fetcher.done());
  fetcher.some();
  fetcher.add(HeadRows<const float>{data.data(), kStride, 40}, 36, kSize);
  EXPECT_EQ(calls(fetcher), 36 * kSize * 4 / RowFetcher<float>::kBytes);
  fetcher.add(HeadRows<const float>{data.data(), kStride, 40}, 4, kSize);
  fetcher.add(HeadRows<const float>{data.data(), kStride, 40}, 3, kSize);
  EXPECT_EQ(calls(fetcher), 2);
  fetcher.add(HeadRows<const float>{data.data(), kStride, 40}, 4, kSize);
  fetcher.clear();
  EXPECT_TRUE(fetcher.done());
}

TEST(AttentionFetch, LeavesRowsOutThatAreNotThere) {
  std::vector<BFloat16> data(40 * kStride);
  RowFetcher<BFloat16> fetcher;
  fetcher.add(HeadRows<BFloat16>{data.data(), kStride, 0}, 8, kSize);
  fetcher.add(HeadRows<BFloat16>{data.data(), kStride, -3}, 8, kSize);
  fetcher.add(HeadRows<BFloat16>{data.data(), kStride, 40}, -1, kSize);
  EXPECT_TRUE(fetcher.done());
  fetcher.add(HeadRows<BFloat16>{data.data(), kStride, 6}, 1000, kSize);
  EXPECT_EQ(calls(fetcher), 1);
}

// Ranges that are done make room; what finds none is not asked for.
TEST(AttentionFetch, HasRoomForTheRangesThatWait) {
  const std::vector<float> data(40 * kStride);
  const HeadRows<const float> rows{data.data(), kStride, 40};
  RowFetcher<float> fetcher;
  for (int i = 0; i < 100; ++i) {
    fetcher.add(rows, 6, kSize);
    if (i % 2 == 0) {
      fetcher.some();
    }
  }
  const Index waiting = calls(fetcher);
  EXPECT_GT(waiting, 8);
  EXPECT_LE(waiting, 16);
}

}  // namespace attention_fetch_test
}  // namespace mpitron::kernels::host::attention
