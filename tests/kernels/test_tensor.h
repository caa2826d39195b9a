#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/reference/common/elements.h"
#include "support/test_values.h"
#include "tests/kernels/test_memory.h"

namespace mpitron::kernels {

/// Memory for a test: a contiguous tensor of any dtype, filled from and read back as doubles.
class TestTensor {
 public:
  TestTensor(DType dtype, const Shape& shape)
      : memory_(static_cast<std::size_t>(shape.numel()) * size_of(dtype), std::byte{0}),
        dtype_(dtype),
        shape_(shape) {}

  TestTensor(DType dtype, const Shape& shape, const std::vector<double>& values)
      : TestTensor(dtype, shape) {
    MPITRON_CHECK(static_cast<Index>(values.size()) == shape.numel(), values.size());
    const reference::Writer writer(view());
    for (Index i = 0; i < shape.numel(); ++i) {
      writer.set(values[static_cast<std::size_t>(i)], i);
    }
  }

  device::TensorView view() { return {memory_.data(), dtype_, shape_}; }

  std::vector<double> values() {
    const reference::Reader reader{device::ConstTensorView(view())};
    std::vector<double> result;
    for (Index i = 0; i < shape_.numel(); ++i) {
      result.push_back(reader(i));
    }
    return result;
  }
  std::vector<std::byte> bytes() const { return {memory_.bytes().begin(), memory_.bytes().end()}; }

 private:
  TestBlock memory_;
  DType dtype_;
  Shape shape_;
};

using test::test_values;

}  // namespace mpitron::kernels
