#include "kernels/host/views.h"

#include <mutex>
#include <set>
#include <tuple>

#include "tests/kernels/host_check.h"

namespace mpitron::kernels::host {
namespace {

/// Where row r of a [2, 3, 4, 5] view with these strides starts, by its definition.
Index offset_of(Index row, const device::Strides& strides) {
  return row / 12 * strides[0] + row / 4 % 3 * strides[1] + row % 4 * strides[2];
}

TEST(Rows, FollowTheStridesOfAllLeadingDimensions) {
  std::vector<float> data(2000);
  const device::Strides all[] = {{60, 20, 5, 1},  {100, 20, 5, 1}, {60, 20, 6, 1},
                                 {5, 10, 400, 1}, {0, 50, 7, 1},   {800, 33, 8, 1}};
  for (const device::Strides& strides : all) {
    const device::TensorView view(data.data(), DType::f32, {2, 3, 4, 5}, strides);
    const Rows<float> rows(view);
    const Rows<const float> constant{device::ConstTensorView(view)};
    EXPECT_EQ(row_count(view), 24);
    for (Index row = 0; row < 24; ++row) {
      EXPECT_EQ(rows[row] - data.data(), offset_of(row, strides)) << row;
      EXPECT_EQ(constant[row], rows[row]);
    }
  }
}

TEST(Rows, OfVectorsAndOfEmptyViews) {
  std::vector<float> data(8);
  EXPECT_EQ(Rows<float>(device::TensorView(data.data(), DType::f32, {8}))[0], data.data());
  EXPECT_EQ(row_count(device::TensorView(data.data(), DType::f32, {8})), 1);
  EXPECT_EQ(row_count(device::TensorView(data.data(), DType::f32, {4, 0})), 0);
  EXPECT_FALSE(Rows<const float>(device::In{}));
}

TEST(Rows, AlignedMeansEveryRow) {
  alignas(64) static float data[1024];
  const auto aligned = [&](Index first, Index stride) {
    const device::TensorView view(data + first, DType::f32, {3, 5}, {stride, 1});
    return Rows<float>(view).aligned(64);
  };
  EXPECT_TRUE(aligned(0, 32));
  EXPECT_TRUE(aligned(16, 16));
  EXPECT_FALSE(aligned(1, 32));
  EXPECT_FALSE(aligned(0, 24));
}

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

}  // namespace
}  // namespace mpitron::kernels::host
