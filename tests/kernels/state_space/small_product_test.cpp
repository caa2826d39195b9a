#include "kernels/host/state_space/small_product.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace small_product_test {

std::vector<float> numbers(Index count, int seed) {
  std::vector<float> values;
  for (Index i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((i * 7 + seed) % 11 - 5));
  }
  return values;
}

/// Small integers: every order of the sums has the same bits.
TEST(SmallProduct, AddsTheProductOfAnySizes) {
  for (const Index m : {1, 4, 13}) {
    for (const Index n : {1, 21, 123}) {
      const Index k = 3;
      const std::vector<float> a = numbers(m * k, 1), b = numbers(k * n, 2);
      std::vector<float> c = numbers(m * n, 3), turned_c = c, expected = c;
      std::vector<float> a_turned(a.size());
      host::turn(m, k, a.data(), a_turned.data());
      host::add_product<float>({m, n, k}, host::as_it_is(a.data(), k), b.data(), c.data());
      host::add_product<float>({m, n, k}, host::turned(a_turned.data(), m), b.data(),
                               turned_c.data());
      for (Index i = 0; i < m * n; ++i) {
        for (Index l = 0; l < k; ++l) {
          expected[static_cast<std::size_t>(i)] += a[static_cast<std::size_t>(i / n * k + l)] *
                                                   b[static_cast<std::size_t>(l * n + i % n)];
        }
      }
      EXPECT_EQ(c, expected) << m << " " << n;
      EXPECT_EQ(turned_c, expected) << m << " " << n;
    }
  }
}

/// Numbers that bf16 does not hold, with zeros where the triangle says so; tiles, where there are
/// any, and the plain product against each other, in what is wanted.
TEST(SmallProduct, TilesComputeTheSame) {
  using enum host::Triangle;
  constexpr Index kSize = 64;
  std::vector<float> a(kSize * kSize), b = a;
  for (const bool turn : {false, true}) {
    for (const host::Triangle triangle : {none, lower, upper, lower_result}) {
      for (Index i = 0; i < kSize * kSize; ++i) {
        const Index row = turn ? i % kSize : i / kSize, column = turn ? i / kSize : i % kSize;
        const bool zero =
            (triangle == lower && column > row) || (triangle == upper && column < row);
        a[static_cast<std::size_t>(i)] = zero ? 0 : std::sin(static_cast<float>(i));
        b[static_cast<std::size_t>(i)] = std::cos(static_cast<float>(3 * i));
      }
      const auto factor = turn ? host::turned(a.data(), kSize) : host::as_it_is(a.data(), kSize);
      const host::ProductSize size{kSize, kSize, kSize, triangle};
      std::vector<float> plain(b), tiles(b), fresh(b.size());
      host::add_product<float>(size, factor, b.data(), plain.data());
      host::add_product<BFloat16>(size, factor, b.data(), tiles.data());
      host::set_product<BFloat16>(size, factor, b.data(), fresh.data());
      for (Index i = 0; i < kSize * kSize; ++i) {
        if (triangle != lower_result || i % kSize <= i / kSize) {
          const auto place = static_cast<std::size_t>(i);
          EXPECT_NEAR(tiles[place], plain[place], 2e-4) << i;
          EXPECT_NEAR(fresh[place], plain[place] - b[place], 2e-4) << i;
        }
      }
    }
  }
}

}  // namespace small_product_test
}  // namespace mpitron::kernels
