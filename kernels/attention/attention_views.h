#pragma once
#include <algorithm>

#include "kernels/attention/attention.h"

// What the attention kernels of all devices ask of their views.
namespace mpitron::kernels {

/// The shape of a view of heads without the split of its heads.
inline Shape merged(const Shape& shape) {
  if (shape.rank() == 5) {
    return {shape[0], shape[1], shape[2] * shape[3], shape[4]};
  }
  MPITRON_CHECK(shape.rank() == 4, to_string(shape));
  return shape;
}

template <class Kernel>
AttentionPositions positions_of(const Kernel& kernel) {
  return kernel.positions.value_or(last_positions(kernel.q.size(0), kernel.k.size(0)));
}

/// Checks what forward and backward ask of the views that both have.
template <class Kernel>
void check_inputs(const Kernel& kernel) {
  const Shape q = merged(kernel.q.shape), k = merged(kernel.k.shape), v = merged(kernel.v.shape);
  const Shape o = merged(kernel.o.shape), &lse = kernel.lse.shape;
  MPITRON_CHECK(k[0] == v[0] && k[1] == q[1] && v[1] == q[1] && k[2] == v[2] && k[3] == q[3],
                to_string(q), to_string(k), to_string(v));
  MPITRON_CHECK(k[2] > 0 && q[2] % k[2] == 0, q[2], k[2]);
  MPITRON_CHECK((o == Shape{q[0], q[1], q[2], v[3]}), to_string(o));
  MPITRON_CHECK((lse == Shape{q[1], q[2], q[0]}), to_string(lse));
  MPITRON_CHECK(kernel.lse.stride(2) == 1 && kernel.lse.dtype == DType::f32, kernel.lse.stride(2));
  MPITRON_CHECK(kernel.scale > 0 && kernel.softcap >= 0, kernel.scale, kernel.softcap);
  MPITRON_CHECK(kernel.k.dtype == kernel.q.dtype && kernel.v.dtype == kernel.q.dtype,
                name_of(kernel.q.dtype));
  if (kernel.mask) {
    const auto& mask = kernel.mask;
    const Index columns = k[0] == 0 ? 0 : positions_of(kernel).keys(k[0] - 1) + 1;
    MPITRON_CHECK((mask.shape == Shape{mask.size(0) == 1 ? 1 : q[1], mask.size(1) == 1 ? 1 : q[0],
                                       std::max(columns, mask.size(2))}),
                  to_string(mask.shape));
    MPITRON_CHECK(mask.dtype == DType::u8 && mask.stride(2) == 1, name_of(mask.dtype));
  }
  if (kernel.seen_until) {
    const auto& until = kernel.seen_until;
    MPITRON_CHECK((until.shape == Shape{until.size(0) == 1 ? 1 : q[1], q[0]}) && !kernel.bias,
                  to_string(until.shape));
    MPITRON_CHECK(until.dtype == DType::i64 && until.stride(1) == 1, name_of(until.dtype));
  }
  if (kernel.bias) {
    MPITRON_CHECK(kernel.softcap == 0, kernel.softcap);
    MPITRON_CHECK((kernel.bias.shape == Shape{q[2], q[0] + k[0] - 1}) && !kernel.positions,
                  to_string(kernel.bias.shape));
    MPITRON_CHECK(kernel.bias.dtype == kernel.q.dtype, name_of(kernel.bias.dtype));
  }
}

/// Checks what the callers of forward must keep to.
inline void check_views(const AttentionForward& kernel) {
  check_inputs(kernel);
}

/// Checks what the callers of backward must keep to.
inline void check_views(const AttentionBackward& kernel) {
  check_inputs(kernel);
  MPITRON_CHECK(merged(kernel.d_o.shape) == merged(kernel.o.shape) &&
                    merged(kernel.dq.shape) == merged(kernel.q.shape),
                to_string(kernel.d_o.shape), to_string(kernel.dq.shape));
  MPITRON_CHECK(kernel.o.dtype == kernel.q.dtype && kernel.d_o.dtype == kernel.q.dtype,
                name_of(kernel.o.dtype), name_of(kernel.d_o.dtype));
  MPITRON_CHECK(merged(kernel.dk.shape) == merged(kernel.k.shape) &&
                    merged(kernel.dv.shape) == merged(kernel.v.shape),
                to_string(kernel.dk.shape), to_string(kernel.dv.shape));
  MPITRON_CHECK(
      !kernel.bias || (kernel.dbias.dtype == DType::f32 &&
                       kernel.dbias.shape ==
                           Shape{kernel.lse.size(0), kernel.bias.size(0), kernel.bias.size(1)}),
      to_string(kernel.dbias.shape));
}

}  // namespace mpitron::kernels
