#include "plan/time/product_time.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace product_time_test {

Machine machine() {
  Machine m;
  m.peak_16 = 100e12;
  m.peak_8 = 200e12;
  m.share_16 = 0.5;
  m.share_fp8 = 0.5;
  m.memory_bandwidth = 1e12;
  m.memory_share = 1;
  m.multiprocessors = 100;
  return m;
}

TEST(ProductTime, ManyWavesRunAtTheRate) {
  EXPECT_NEAR(product_time(machine(), {65536, 8192, 8192}), 2.0 * 65536 * 8192 * 8192 / 50e12,
              1e-9);
}

TEST(ProductTime, EightBitsRunAtTheirOwnRate) {
  const Product wide{65536, 8192, 8192}, narrow{65536, 8192, 8192, 1, Precision::fp8};
  EXPECT_NEAR(product_time(machine(), wide), 2 * product_time(machine(), narrow), 1e-9);
}

TEST(ProductTime, AWaveIsPaidWhole) {
  // One tile of 128 x 128 takes as long as a hundred of them on a hundred multiprocessors.
  EXPECT_DOUBLE_EQ(product_time(machine(), {128, 128, 8192}),
                   product_time(machine(), {12800, 128, 8192}));
}

TEST(ProductTime, NeverFasterThanItsBytes) {
  Machine fast = machine();
  fast.peak_16 *= 1000;
  const Product thin{16, 65536, 16};
  EXPECT_DOUBLE_EQ(product_time(fast, thin), 2.0 * (16 * 16 + 16 * 65536 + 16 * 65536) / 1e12);
}

TEST(ProductTime, AShortDepthCosts) {
  Machine m = machine();
  m.half_depth = 64;
  EXPECT_NEAR(product_time(m, {65536, 8192, 64}) / product_time(machine(), {65536, 8192, 64}), 1,
              1);
  EXPECT_GT(product_time(m, {65536, 8192, 64}), product_time(machine(), {65536, 8192, 64}));
}

}  // namespace product_time_test
}  // namespace mpitron::plan
