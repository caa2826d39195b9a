#pragma once
#include "kernels/host/attention/attention_problem.h"
#include "tests/kernels/attention_case.h"

// The tasks of the host's attention one at a time, on the tensors of an AttentionFixture.

namespace mpitron::kernels::host::attention {

/// Workspace of so many floats, full of NaN, with a guard behind it.
class TaskWorkspace {
 public:
  explicit TaskWorkspace(Index words)
      : words_(words), block_(static_cast<std::size_t>(words + kGuard) * 4, std::byte{0xff}) {
    std::fill_n(data() + words, kGuard, 7.f);
  }
  float* data() { return reinterpret_cast<float*>(block_.data()); }
  bool guard_is_whole() {
    return std::all_of(data() + words_, data() + words_ + kGuard, [](float x) { return x == 7; });
  }

 private:
  static constexpr Index kGuard = 64;
  Index words_;
  TestBlock block_;
};

/// Compares the elements of one head of [s, b, n, d]; the others are expected to be NaN still.
inline void expect_only_head(const device::TensorView& got, const device::TensorView& want,
                             Index batch, Index head, double tolerance) {
  const reference::Reader x{device::ConstTensorView(got)}, y{device::ConstTensorView(want)};
  for (Index i = 0; i < got.numel(); ++i) {
    const Index row = i / got.size(3);
    if (row % got.size(2) == head && row / got.size(2) % got.size(1) == batch) {
      ASSERT_NEAR(x(i), y(i), tolerance) << "element " << i;
    } else {
      ASSERT_TRUE(std::isnan(x(i))) << "element " << i << " belongs to another task";
    }
  }
}

}  // namespace mpitron::kernels::host::attention
