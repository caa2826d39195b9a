#include "kernels/host/common/views.h"

#include <mutex>
#include <set>
#include <tuple>

#include "tests/kernels/workbench.h"

namespace mpitron::kernels::host {
namespace views_test {

TEST(Views, OnlyLargeAlignedOutputsThatAreNoInputAreStreamed) {
  alignas(64) static float data[16];
  const Index rows = kStreamBytes / 64;  // never written
  const device::TensorView large(data, DType::f32, {rows, 16}), small(data, DType::f32, {1, 16});
  const device::TensorView other(data + 1, DType::f32, {rows, 16});
  EXPECT_TRUE(should_stream(large, Rows<float>(large), other));
  EXPECT_FALSE(should_stream(large, Rows<float>(large), other, large));
  EXPECT_FALSE(should_stream(small, Rows<float>(small), other));
  EXPECT_FALSE(should_stream(other, Rows<float>(other), large));
}

TEST(Views, BothWaysToStoreWriteTheSame) {
  const simd::Float x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const bool streaming : {false, true}) {
    alignas(64) float y[48] = {};
    with_store(streaming, [&](auto store) {
      store(y, x, simd::Full{});
      store(y + 16, x, simd::Part{5});
    });
    for (int i = 0; i < 48; ++i) {
      EXPECT_EQ(y[i], i < 16 ? i + 1 : i < 21 ? i - 15 : 0) << i;
    }
  }
}

TEST(Views, TilesCoverEveryColumnOnce) {
  for (const Index columns : {Index{1}, kTile - 1, kTile, kTile + 1, 3 * kTile + 5}) {
    std::mutex mutex;
    std::set<std::tuple<Index, Index, Index>> tiles;
    for_tiles(7, columns, 8, false, [&](auto, Index row, Index begin, Index end) {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(tiles.insert({row, begin, end}).second);
    });
    Index row = 0, column = 0;
    for (const auto& [r, begin, end] : tiles) {
      EXPECT_EQ(r, row);
      EXPECT_EQ(begin, column);
      EXPECT_LE(end - begin, kTile);
      column = end == columns ? 0 : end;
      row += end == columns ? 1 : 0;
    }
    EXPECT_EQ(row, 7) << columns;
  }
}

}  // namespace views_test
}  // namespace mpitron::kernels::host
