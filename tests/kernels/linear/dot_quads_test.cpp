#include "kernels/host/linear/dot_quads.h"

#include <random>

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace dot_quads_test {

/// All ways to multiply bytes give the same sums, also at the ends of their range.
TEST(DotQuads, AllInstructionsAgree) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    host::quads::Bytes weights;
    std::int8_t factors[4];
    simd::Int sum;
    const bool extreme = round % 3 == 0;
    for (int i = 0; i < 64; ++i) {
      weights[i] = static_cast<std::uint8_t>(extreme ? (random() % 2 == 0 ? 0 : 255) : random());
    }
    for (std::int8_t& factor : factors) {
      factor = static_cast<std::int8_t>(extreme ? (random() % 2 == 0 ? -127 : 127)
                                                : static_cast<int>(random() % 255) - 127);
    }
    for (int lane = 0; lane < simd::kLanes; ++lane) {
      sum[lane] = static_cast<std::int32_t>(random() % 2000000) - 1000000;
    }
    const simd::Int want = host::quads::portable::dot(sum, weights, factors);
    const simd::Int got = host::quads::dot(sum, weights, factors);
    for (int lane = 0; lane < simd::kLanes; ++lane) {
      ASSERT_EQ(got[lane], want[lane]) << lane;
    }
    const simd::Int with_avx2 = host::quads::avx2::dot(sum, weights, factors);
    for (int lane = 0; lane < simd::kLanes; ++lane) {
      ASSERT_EQ(with_avx2[lane], want[lane]) << lane;
    }
  }
}

}  // namespace dot_quads_test
}  // namespace mpitron::kernels
