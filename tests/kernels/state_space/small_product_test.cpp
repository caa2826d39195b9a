#include "kernels/host/state_space/small_product.h"

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
  for (const Index m : {1, 4, 6}) {
    for (const Index n : {1, 5, 37}) {
      const Index k = 3;
      const std::vector<float> a = numbers(m * k, 1), b = numbers(k * n, 2);
      std::vector<float> c = numbers(m * n, 3), turned_c = c, expected = c;
      std::vector<float> a_turned(a.size());
      host::turn(m, k, a.data(), a_turned.data());
      host::add_product({m, n, k}, host::as_it_is(a.data(), k), b.data(), c.data());
      host::add_product({m, n, k}, host::turned(a_turned.data(), m), b.data(), turned_c.data());
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

}  // namespace small_product_test
}  // namespace mpitron::kernels
