#pragma once
#include "kernels/cuda/common/reduce.cuh"

// The second stage of gradients to which several heads give: adds what each part of them left.

namespace mpitron::kernels::cuda {

template <class T>
struct PartSums {
  const float* parts;  // [count, rows, columns]
  Rows<T> to;
  Index count, rows, columns;
  bool packed;
};

/// Adds parts in order.
template <class T>
__global__ void add_parts(const __grid_constant__ PartSums<T> a) {
  for_rows(a.rows, a.columns, a.packed, [&](Index row, Index i, auto width) {
    auto sum = load(a.parts + row * a.columns + i, width);
    for (Index part = 1; part < a.count; ++part) {
      sum = each(Sum{}, sum, load(a.parts + (part * a.rows + row) * a.columns + i, width));
    }
    store(a.to[row] + i, sum);
  });
}

/// to = the sum of `count` parts, rows of fp32 as those of `to`.
template <class T>
void add_parts_to(device::CudaStream& stream, const char* name, const float* parts, Index count,
                  const device::Out& to) {
  const Index rows = row_count(to), columns = to.size(-1);
  const auto target = rows_of<T>(to);
  const bool packed = columns % kPack == 0 && packs_fit(target) && packs_fit(parts);
  launch(stream, name, row_shape(rows, columns), add_parts<T>,
         PartSums<T>{parts, target, count, rows, columns, packed});
}

}  // namespace mpitron::kernels::cuda
