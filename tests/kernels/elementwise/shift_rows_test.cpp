#include "kernels/elementwise/shift_rows.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace shift_rows_test {

using Numbers = std::vector<double>;

TestTensor row_of(const Numbers& values) {
  return {DType::i64, {static_cast<Index>(values.size())}, values};
}

/// What the reference and the tested device make of rows of two numbers.
void expect_shifted(const Numbers& x, Index parts, const Numbers& first, const Numbers& second,
                    const Numbers& expected) {
  const Shape shape{static_cast<Index>(x.size()) / 2, 2};
  TestTensor from(DType::i64, shape, x), first_after = row_of(first), second_after = row_of(second);
  TestTensor by_reference(DType::i64, shape), by_device(DType::i64, shape);
  ShiftRows kernel{.x = from.view(), .parts = parts, .y = by_reference.view()};
  if (!first.empty()) {
    kernel.first_after = first_after.view();
  }
  if (!second.empty()) {
    kernel.second_after = second_after.view();
  }
  device::ReferenceStream reference;
  run(reference, kernel);
  kernel.y = by_device.view();
  run_on_device(kernel);
  EXPECT_EQ(by_reference.values(), expected);
  EXPECT_EQ(by_device.values(), expected);
}

const Numbers kRows{1, 2, 3, 4, 5, 6, 7, 8};

TEST(ShiftRows, MovesUpAndEndsInZeros) {
  expect_shifted(kRows, 1, {}, {}, {3, 4, 5, 6, 7, 8, 0, 0});
  expect_shifted({1, 2}, 1, {}, {}, {0, 0});
}

TEST(ShiftRows, PartsEndInWhatComesBehindThem) {
  expect_shifted(kRows, 2, {10, 11}, {}, {3, 4, 10, 11, 7, 8, 0, 0});
  expect_shifted(kRows, 2, {10, 11}, {20, 21}, {3, 4, 10, 11, 7, 8, 20, 21});
}

}  // namespace shift_rows_test
}  // namespace mpitron::kernels
