#pragma once
#include <cstdint>

#include "utils/numbers/shape.h"

namespace mpitron::kernels::host {

/// Describes to[column * to_stride + row] = from[row * from_stride + column], elements of 2 or 4
/// bytes.
template <class T>
struct Transpose {
  const T* from;  // [rows, columns]
  Index rows, columns;
  Index from_stride;
  T* to;  // [columns, rows]
  Index to_stride;
};

void run_transpose(const Transpose<std::uint16_t>& task);
void run_transpose(const Transpose<std::uint32_t>& task);

}  // namespace mpitron::kernels::host
