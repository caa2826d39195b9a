#include "kernels/host/attention/cached_group.h"

#include <gtest/gtest.h>

#include "kernels/attention/cached_attention.h"
#include "support/host_runtime.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels::host::cached {
namespace cached_group_test {

TEST(CachedGroup, TurnsRowsIntoColumns) {
  Float x[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < kLanes; ++j) {
      x[i][j] = static_cast<float>(kLanes * i + j);
    }
  }
  turn(x);
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < kLanes; ++j) {
      EXPECT_EQ(x[i][j], static_cast<float>(kLanes * j + i)) << i << " " << j;
    }
  }
}

/// Numbers of a type in rows with gaps between them.
template <class T>
struct Numbers {
  Numbers(Index count, Index size, unsigned seed) : stride(size + 3) {
    for (const double value : test_values(count * stride, seed)) {
      if constexpr (std::is_same_v<T, CachedByte>) {
        data.push_back(cached_byte(static_cast<float>(448 * value)));
      } else {
        data.push_back(T(static_cast<float>(value)));
      }
    }
    rows = {data.data(), stride, count, size};
  }
  Index stride;
  std::vector<T> data;
  Rows<T> rows;
};

constexpr int kQueries = 3;

/// Scores of turned keys have the bits of those of one query alone, and are its products.
template <class T, class Q = T>
void check_keys(Index count, Index size) {
  using U = Units<T, std::is_same_v<Q, BFloat16> && sizeof(T) <= 2 && kPairProducts>;
  const Numbers<T> keys(count, size, 1);
  const Numbers<Q> given(kQueries, size, 2);
  const Index steps = U::steps(size), units = steps * kLanes;
  std::vector<float> queries(static_cast<std::size_t>(kQueries * units));
  for (Index q = 0; q < kQueries; ++q) {
    for (Index j = 0; j < size; j += U::kStep) {
      simd::store(queries.data() + q * units + j / U::kNumbers,
                  Units<Q, U::kPairs>::load(given.rows.row(q), j, size));
    }
  }
  std::vector<float> turned(static_cast<std::size_t>(units * kLanes), NAN);
  turn_keys<T, U>(keys.rows, turned.data());
  Float together[kQueries];
  multiply_turned<U, kQueries>(turned.data(), steps, queries.data(), units, together);
  for (Index q = 0; q < kQueries; ++q) {
    const Float alone = multiply_keys<T, U>(queries.data() + q * units, keys.rows);
    for (Index i = 0; i < kGroup; ++i) {
      double want = 0, magnitude = 0;
      for (Index j = 0; i < count && j < size; ++j) {
        const double product = static_cast<double>(static_cast<float>(keys.rows.row(i)[j])) *
                               static_cast<double>(static_cast<float>(given.rows.row(q)[j]));
        want += product;
        magnitude += std::abs(product);
      }
      EXPECT_EQ(alone[i], together[q][i]) << q << " " << i;
      EXPECT_NEAR(static_cast<double>(alone[i]), want, 1e-6 * magnitude) << q << " " << i;
    }
  }
}

/// Values that are widened for several queries give each the bits that it has alone.
template <class T>
void check_values(Index count, Index size) {
  const Numbers<T> values(count, size, 3);
  const Index width = (size + kLanes - 1) / kLanes * kLanes;
  std::vector<float> powers, wide(static_cast<std::size_t>(kGroup * width), NAN);
  for (const double value : test_values(kQueries * kGroup, 4)) {
    powers.push_back(static_cast<float>(value));
  }
  std::vector<float> together(static_cast<std::size_t>(kQueries * width), 0.5F);
  widen_values(values.rows, wide.data(), width);
  add_values<kQueries>(Rows<float>{wide.data(), width, count, size},
                       {powers.data(), kGroup, together.data(), width});
  for (Index q = 0; q < kQueries; ++q) {
    std::vector<float> alone(static_cast<std::size_t>(width), 0.5F);
    add_values<1>(values.rows, {powers.data() + q * kGroup, 0, alone.data(), 0});
    for (Index j = 0; j < size; ++j) {
      double want = 0.5;
      for (Index i = 0; i < count; ++i) {
        want += static_cast<double>(static_cast<float>(values.rows.row(i)[j])) *
                static_cast<double>(powers[static_cast<std::size_t>(q * kGroup + i)]);
      }
      const float got = alone[static_cast<std::size_t>(j)];
      EXPECT_EQ(got, together[static_cast<std::size_t>(q * width + j)]) << q << " " << j;
      EXPECT_NEAR(static_cast<double>(got), want, 1e-5) << q << " " << j;
    }
  }
}

TEST(CachedGroup, SeveralQueriesHaveTheBitsOfEachAlone) {
  for (const Index count : {1, 7, 16}) {
    for (const Index size : {5, 24, 64, 100}) {
      SCOPED_TRACE(::testing::Message() << count << " positions of " << size);
      check_keys<float>(count, size);
      check_keys<BFloat16>(count, size);
      check_keys<Float16>(count, size);
      check_keys<BFloat16, float>(count, size);
      check_keys<CachedByte, float>(count, size);
      check_keys<CachedByte, BFloat16>(count, size);
      check_values<float>(count, size);
      check_values<BFloat16>(count, size);
      check_values<Float16>(count, size);
      check_values<CachedByte>(count, size);
    }
  }
}

/// Words, an image of 40 positions that see each other, and words: more than a tile's queries.
TEST(CachedGroup, PiecesTogetherAreThoseOfTheReference) {
  const std::vector<Index> blocks = {3, 1, 4, 0, 2, 5, 6};
  std::vector<CachedPiece> pieces = {{0, 5, 0, blocks}, {5, 40, 5, blocks}, {45, 3, 45, blocks}};
  pieces[1].together = true;
  TestTensor q(DType::f32, {48, 1, 2, 2, 24}, test_values(48 * 96, 1));
  TestTensor keys(DType::f32, {7, 2, 8, 24}, test_values(7 * 384, 2));
  TestTensor values(DType::f32, {7, 2, 8, 24}, test_values(7 * 384, 3));
  const auto attended = [&](auto&& stream, Index window) {
    TestTensor o(DType::f32, {48, 4, 24}, std::vector<double>(48 * 96, NAN));
    run(stream, CachedAttention{.q = q.view(),
                                .key_cache = keys.view(),
                                .value_cache = values.view(),
                                .sinks = {},
                                .bias = {},
                                .o = o.view(),
                                .lse = {},
                                .pieces = pieces,
                                .window = window});
    return o.values();
  };
  for (const Index window : {-1, 0, 9}) {
    const std::vector<double> want = attended(device::ReferenceStream(), window);
    const std::vector<double> got = attended(device::HostStream(), window);
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], 2e-6) << window << ", " << i;
    }
    pieces[1].together = false;
    EXPECT_NE(attended(device::HostStream(), window), got);
    pieces[1].together = true;
  }
}

}  // namespace cached_group_test
}  // namespace mpitron::kernels::host::cached
