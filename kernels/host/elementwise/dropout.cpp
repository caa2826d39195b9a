// Adds bias, dropout and residual in one pass on the host. Masks are drawn where they are needed,
// eight columns from one Philox call, and never stored.
#include "kernels/elementwise/dropout.h"

#include "kernels/host/common/dropout_lanes.h"
#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

/// Returns the generator of row r of [s, b], by where the row stands in the global batch: so a mask
/// does not depend on the layout.
KeepLanes keep_lanes(const DropoutMask& mask, Index row, Index batch) {
  return {mask, mask.index.sequence(row / batch), mask.index.sample(row % batch)};
}

/// Calls put(i, x, lanes) over a row, where x is value(i, lanes) masked and scaled by 1 / (1 - p).
template <class Value, class Put>
void masked_row(const DropoutMask& mask, KeepLanes keep, Index n, Value&& value, Put&& put) {
  const float scale = mask.keep_scale();
  simd::for_lanes(n, [&](Index i, auto lanes) {
    const simd::Int kept = keep(mask.index.column_offset + i);
    const Float scaled = value(i, lanes) * scale;
    put(i, kept ? scaled : Float{}, lanes);
  });
}

template <class Tx, class Ty>
void bias_dropout_add(const BiasDropoutAddForward& k) {
  const Rows<const Tx> xs(k.x);
  const Rows<const Ty> residuals(k.residual);
  const Rows<Ty> ys(k.y);
  const Tx* bias = k.bias.as<Tx>();
  const Index h = k.x.size(-1), t = row_count(k.x);
  const bool streaming = should_stream(k.y, ys, k.x, k.residual);
  for_ranges(t, t * h * (k.mask.active() ? 4 : 2), [&](Index begin, Index end) {
    with_store(streaming, [&](auto store) {
      for (Index row = begin; row < end; ++row) {
        const Tx* x = xs[row];
        const Ty* residual = residuals ? residuals[row] : nullptr;
        Ty* y = ys[row];
        const auto biased = [&](Index i, auto lanes) {
          const Float value = simd::load(x + i, lanes);
          return bias == nullptr ? value : value + simd::load(bias + i, lanes);
        };
        const auto put = [&](Index i, Float value, auto lanes) {
          store(y + i, residual == nullptr ? value : simd::load(residual + i, lanes) + value,
                lanes);
        };
        if (k.mask.active()) {
          masked_row(k.mask, keep_lanes(k.mask, row, k.batch), h, biased, put);
        } else {
          simd::for_lanes(h, [&](Index i, auto lanes) { put(i, biased(i, lanes), lanes); });
        }
      }
    });
  });
}

template <class Ty, class Tx>
void dropout_backward(const DropoutBackward& k) {
  const Rows<const Ty> dys(k.dy);
  const Rows<Tx> dxs(k.dx);
  const Index h = k.dy.size(-1), t = row_count(k.dy);
  const bool streaming = should_stream(k.dx, dxs, k.dy);
  for_ranges(t, t * h * (k.mask.active() ? 4 : 2), [&](Index begin, Index end) {
    with_store(streaming, [&](auto store) {
      for (Index row = begin; row < end; ++row) {
        const Ty* dy = dys[row];
        Tx* dx = dxs[row];
        const auto gradient = [&](Index i, auto lanes) {
          simd::prefetch_ahead(dy + i);
          return simd::load(dy + i, lanes);
        };
        const auto put = [&](Index i, Float value, auto lanes) { store(dx + i, value, lanes); };
        if (k.mask.active()) {
          masked_row(k.mask, keep_lanes(k.mask, row, k.batch), h, gradient, put);
        } else {
          simd::for_lanes(h, [&](Index i, auto lanes) { put(i, gradient(i, lanes), lanes); });
        }
      }
    });
  });
}

}  // namespace

void run(device::HostStream&, const BiasDropoutAddForward& k) {
  MPITRON_CHECK(!k.bias || k.bias.dtype == k.x.dtype, name_of(k.bias.dtype));
  MPITRON_CHECK(!k.residual || k.residual.dtype == k.y.dtype, name_of(k.residual.dtype));
  visit_dtypes(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() { bias_dropout_add<Tx, Ty>(k); });
}

void run(device::HostStream&, const DropoutBackward& k) {
  visit_dtypes(k.dy.dtype, k.dx.dtype, [&]<class Ty, class Tx>() { dropout_backward<Ty, Tx>(k); });
}

}  // namespace mpitron::kernels
