#include "emulator/units/matrix_unit.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::emulator {
namespace matrix_unit_test {

/// c + the sum of a b, of one element.
float sum_of(const MatrixUnit& unit, float c, const std::vector<float>& a,
             const std::vector<float>& b) {
  add_products(unit, &c, a.data(), b.data(), 1, 1, static_cast<std::int64_t>(a.size()));
  return c;
}

TEST(MatrixUnit, AddsExactlyWhatHasRoom) {
  EXPECT_EQ(sum_of(kMatrixUnit, 1, {2, 3, -4}, {0.5f, 8, 1}), 22);
  const float a[] = {1, 2, 3, 4}, b[] = {1, 10, 100, 1, 10, 100};
  float c[] = {0, 0, 0, 1, 1, 1};
  add_products(kMatrixUnit, c, a, b, 2, 3, 2);
  EXPECT_EQ(std::vector<float>(c, c + 6), (std::vector<float>{3, 30, 300, 8, 71, 701}));
  EXPECT_EQ(sum_of(kMatrixUnit, 0, std::vector<float>(40, 1), std::vector<float>(40, 1)), 40);
}

TEST(MatrixUnit, CutsOffWhereFp32WouldRound) {
  EXPECT_EQ(sum_of(kMatrixUnit, 1, {0x1.8p-24f}, {1}), 1);   // not 1 + 2^-23
  EXPECT_EQ(sum_of(kMatrixUnit, -1, {0x1p-25f}, {-1}), -1);  // towards zero
  EXPECT_EQ(sum_of(kMatrixUnit, 1, {0x1p-24f, 0x1p-24f}, {1, 1}), 1 + 0x1p-23f);
  EXPECT_EQ(sum_of(kMatrixUnit, 1, {0x1p-26f, 0x1p-26f}, {1, 1}), 1);  // each is cut off
  EXPECT_EQ(sum_of(kFp8MatrixUnit, 1, {0x1p-14f}, {1}), 1);
  EXPECT_EQ(sum_of(kFp8MatrixUnit, 1, {0x1p-13f}, {1}), 1 + 0x1p-13f);
}

TEST(MatrixUnit, KeepsWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(sum_of(kMatrixUnit, 1, {infinity}, {1}), infinity);
  EXPECT_EQ(sum_of(kMatrixUnit, -infinity, {3}, {1}), -infinity);
  EXPECT_TRUE(std::isnan(sum_of(kMatrixUnit, 1, {infinity, 1}, {0, 1})));
  EXPECT_TRUE(std::isnan(sum_of(kMatrixUnit, 1, {std::nanf("")}, {1})));
  EXPECT_EQ(sum_of(kMatrixUnit, 0, {0, 0}, {0, 3}), 0);
}

}  // namespace matrix_unit_test
}  // namespace mpitron::emulator
