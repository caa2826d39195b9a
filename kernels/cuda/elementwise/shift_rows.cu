// Numerical contract: that of kernels/elementwise/shift_rows.h; an element to a thread.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/shift_rows.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Arguments with elements as the integers of their size: bits are copied, whatever they mean.
template <class T>
struct Shift {
  const T* x;
  const T *first_after, *second_after;
  T* y;
  Index part, columns;  // rows of a part, elements of a row
};

/// Copies the element of the next row, or of `after` (zeros without one) behind a part's last row.
template <class T>
__global__ void shift(Shift<T> a, Index n) {
  for_packs(n, false, thread_of_grid(), [&](Index i, auto) {
    const Index row = i / a.columns, column = i % a.columns;
    const T* const after = row < a.part ? a.first_after : a.second_after;
    if ((row + 1) % a.part != 0) {
      a.y[i] = a.x[i + a.columns];
    } else {
      a.y[i] = after != nullptr ? after[column] : T{};
    }
  });
}

template <class T>
void shift_elements(device::CudaStream& stream, const ShiftRows& k) {
  const Shift<T> arguments{static_cast<const T*>(k.x.data),
                           static_cast<const T*>(k.first_after.data),
                           static_cast<const T*>(k.second_after.data),
                           static_cast<T*>(k.y.data),
                           k.x.size(0) / k.parts,
                           k.x.size(1)};
  launch(stream, ShiftRows::name, flat_shape(k.x.numel()), shift<T>, arguments, k.x.numel());
}

}  // namespace

void run(device::CudaStream& stream, const ShiftRows& k) {
  MPITRON_CHECK(k.x.size(0) % k.parts == 0 && k.parts <= 2, k.x.size(0), k.parts);
  switch (size_of(k.x.dtype)) {
    case 1:
      return shift_elements<std::uint8_t>(stream, k);
    case 2:
      return shift_elements<std::uint16_t>(stream, k);
    case 4:
      return shift_elements<std::uint32_t>(stream, k);
    default:
      return shift_elements<std::uint64_t>(stream, k);
  }
}

}  // namespace mpitron::kernels
