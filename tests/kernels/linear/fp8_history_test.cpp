#include "kernels/linear/fp8_history.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace fp8_history_test {

using Numbers = std::vector<double>;

/// What the reference and the tested device make of histories of `steps` steps.
void expect_advanced(Index steps, const Numbers& rows, const Numbers& amax, bool largest,
                     const Numbers& expected) {
  const auto tensors = static_cast<Index>(amax.size());
  const auto advance = [&](auto&& run_kernel) {
    TestTensor history(DType::f32, {tensors, steps}, rows), newest(DType::f32, {tensors}, amax);
    run_kernel(Fp8HistoryUpdate{history.view(), newest.view(), largest});
    EXPECT_EQ(history.values(), expected);
    EXPECT_EQ(newest.values(), Numbers(amax.size(), 0));
  };
  advance([](const Fp8HistoryUpdate& kernel) {
    device::ReferenceStream reference;
    run(reference, kernel);
  });
  advance([](const Fp8HistoryUpdate& kernel) { run_on_device(kernel); });
}

TEST(Fp8History, TheNewestCountsAndTheRestMovesOn) {
  expect_advanced(3, {9, 5, 7, 9, 0, 4}, {1, 2}, false, {1, 1, 5, 2, 2, 0});
}

TEST(Fp8History, TheLargestCounts) {
  expect_advanced(3, {9, 5, 7, 9, 6, 7}, {1, 8}, true, {7, 1, 5, 8, 8, 6});
}

TEST(Fp8History, AStepWithoutValuesKeepsTheScale) {
  expect_advanced(1, {9, 4}, {0, 3}, false, {9, 3});
  expect_advanced(2, {9, 0}, {0}, true, {9, 0});
}

}  // namespace fp8_history_test
}  // namespace mpitron::kernels
