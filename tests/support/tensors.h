#pragma once
#include <cstring>
#include <vector>

#include "kernels/reference/common/elements.h"
#include "support/test_values.h"
#include "tensor/tensor.h"

// Tensors of a host or reference device, filled from and read back as doubles.

namespace mpitron::test {

inline void set_values(const tensor::Tensor& x, const std::vector<double>& values) {
  MPITRON_CHECK(static_cast<Index>(values.size()) == x.numel(), values.size());
  const kernels::reference::Writer writer(x.view());
  for (Index i = 0; i < x.numel(); ++i) {
    writer.set(values[static_cast<std::size_t>(i)], i);
  }
}

inline std::vector<double> values_of(const tensor::Tensor& x) {
  const kernels::reference::Reader reader{tensor::ConstTensorView(x)};
  std::vector<double> values;
  for (Index i = 0; i < x.numel(); ++i) {
    values.push_back(reader(i));
  }
  return values;
}

/// The elements' bytes: what "the same bits" compares.
inline std::vector<std::byte> bits_of(const tensor::Tensor& x) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.view().bytes()));
  std::memcpy(bytes.data(), x.view().data, bytes.size());
  return bytes;
}

inline tensor::Tensor make_tensor(device::Device& device, const Shape& shape, DType dtype,
                                  const std::vector<double>& values) {
  tensor::Tensor x = tensor::Tensor::empty(device, shape, dtype);
  set_values(x, values);
  return x;
}

/// Reproducible values in [-1, 1).
inline tensor::Tensor random_tensor(device::Device& device, const Shape& shape, DType dtype,
                                    unsigned seed) {
  return make_tensor(device, shape, dtype, test_values(shape.numel(), seed));
}

/// An attention mask: 1 = hidden.
inline tensor::Tensor make_mask(device::Device& device, const Shape& shape,
                                const std::vector<std::uint8_t>& hidden) {
  MPITRON_CHECK(static_cast<Index>(hidden.size()) == shape.numel(), hidden.size());
  tensor::Tensor x = tensor::Tensor::empty(device, shape, DType::u8);
  std::memcpy(x.view().data, hidden.data(), hidden.size());
  return x;
}

inline tensor::Tensor make_ids(device::Device& device, const Shape& shape,
                               const std::vector<std::int64_t>& ids) {
  MPITRON_CHECK(static_cast<Index>(ids.size()) == shape.numel(), ids.size());
  tensor::Tensor x = tensor::Tensor::empty(device, shape, DType::i64);
  std::memcpy(x.view().data, ids.data(), ids.size() * sizeof(std::int64_t));
  return x;
}

}  // namespace mpitron::test
