// Applies activations, plain or gated (SwiGLU and its kin), with their bias, on the host. Work is
// cut into tiles of a row, since rows may be few and wide; a tile is read once and written once.
#include "kernels/elementwise/activation.h"

#include "kernels/host/common/views.h"
#include "kernels/host/elementwise/activation_math.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

constexpr Index kWork = 4;  // of an exponential, in elements copied

/// A bias row that may be absent.
template <class T>
struct Bias {
  const T* data;

  template <class Lanes>
  Float add_to(Float x, Index column, Lanes lanes) const {
    return data == nullptr ? x : x + simd::load(data + column, lanes);
  }
};

/// Writes y = activation(x + bias), sixteen lanes at a time in fp32, rounded once.
template <class T, class Formula>
void bias_activation(const BiasActivationForward& k, Formula) {
  const Rows<const T> xs(k.x);
  const Rows<T> ys(k.y);
  const Bias<T> bias{k.bias.as<T>()};
  for_tiles(row_count(k.x), k.x.size(-1), kWork, should_stream(k.y, ys, k.x),
            [&](auto store, Index row, Index begin, Index end) {
              const T* x = xs[row] + begin;
              T* y = ys[row] + begin;
              simd::for_lanes(end - begin, [&](Index i, auto lanes) {
                simd::prefetch_ahead(x + i);
                const Float in = bias.add_to(simd::load(x + i, lanes), begin + i, lanes);
                store(y + i, Formula::value(in), lanes);
              });
            });
}

/// Writes dx = dy * slope(x + bias). Value and slope share their exponential, and x is read again
/// instead of being kept as an activation.
template <class T, class Formula>
void bias_activation(const BiasActivationBackward& k, Formula) {
  const Rows<const T> xs(k.x), dys(k.dy);
  const Rows<T> dxs(k.dx);
  const Bias<T> bias{k.bias.as<T>()};
  for_tiles(row_count(k.x), k.x.size(-1), kWork, should_stream(k.dx, dxs, k.x, k.dy),
            [&](auto store, Index row, Index begin, Index end) {
              const T *x = xs[row] + begin, *dy = dys[row] + begin;
              T* dx = dxs[row] + begin;
              simd::for_lanes(end - begin, [&](Index i, auto lanes) {
                simd::prefetch_ahead(x + i);
                simd::prefetch_ahead(dy + i);
                const Float in = bias.add_to(simd::load(x + i, lanes), begin + i, lanes);
                const Float slope = Formula::both(in).slope;
                store(dx + i, simd::load(dy + i, lanes) * slope, lanes);
              });
            });
}

/// Limits of a gated activation's two inputs: none, or clamps and an offset. Each kind is a type of
/// its own, so that the unlimited loop pays nothing for them. The slopes pass a gradient on where
/// the input was not cut off.
struct Unlimited {
  Float gate(Float x) const { return x; }
  Float linear(Float x) const { return x; }
  Float gate_slope(Float, Float slope) const { return slope; }
  Float linear_slope(Float, Float slope) const { return slope; }
};
struct Limited {
  explicit Limited(const GateLimits& limits) : clamp(limits.clamp), offset(limits.offset) {}
  // NaN stays NaN.
  Float gate(Float x) const { return simd::min(simd::splat(clamp), x); }
  Float linear(Float x) const {
    return simd::max(simd::splat(-clamp), simd::min(simd::splat(clamp), x)) + offset;
  }
  Float gate_slope(Float x, Float slope) const { return x > clamp ? Float{} : slope; }
  Float linear_slope(Float x, Float slope) const { return simd::abs(x) > clamp ? Float{} : slope; }

  float clamp, offset;
};

template <class F>
void visit_limits(const GateLimits& limits, F&& f) {
  limits.active() ? f(Limited(limits)) : f(Unlimited{});
}

/// Writes y = activation(gate) * linear: both halves of a row are walked side by side, f elements
/// apart.
template <class T, class Formula, class Limits>
void gated_activation(const GatedActivationForward& k, Formula, const Limits& limits) {
  const Rows<const T> xs(k.x);
  const Rows<T> ys(k.y);
  const Bias<T> bias{k.bias.as<T>()};
  const Index f = k.y.size(-1);
  for_tiles(row_count(k.y), f, kWork, should_stream(k.y, ys, k.x),
            [&](auto store, Index row, Index begin, Index end) {
              const T* x = xs[row] + begin;
              T* y = ys[row] + begin;
              simd::for_lanes(end - begin, [&](Index i, auto lanes) {
                simd::prefetch_ahead(x + i);
                simd::prefetch_ahead(x + f + i);
                const Float gate = bias.add_to(simd::load(x + i, lanes), begin + i, lanes);
                const Float up = bias.add_to(simd::load(x + f + i, lanes), f + begin + i, lanes);
                store(y + i, Formula::value(limits.gate(gate)) * limits.linear(up), lanes);
              });
            });
}

/// Writes the gradients of both halves; activation and slope are computed again from x.
template <class T, class Formula, class Limits>
void gated_activation(const GatedActivationBackward& k, Formula, const Limits& limits) {
  const Rows<const T> xs(k.x), dys(k.dy);
  const Rows<T> dxs(k.dx);
  const Bias<T> bias{k.bias.as<T>()};
  const Index f = k.dy.size(-1);
  // the second half of a row starts at any alignment
  const bool streaming = should_stream(k.dx, dxs, k.x, k.dy) &&
                         f * static_cast<Index>(sizeof(T)) % kStreamAlignment == 0;
  for_tiles(row_count(k.dy), f, kWork, streaming,
            [&](auto store, Index row, Index begin, Index end) {
              const T *x = xs[row] + begin, *dy = dys[row] + begin;
              T* dx = dxs[row] + begin;
              simd::for_lanes(end - begin, [&](Index i, auto lanes) {
                simd::prefetch_ahead(x + i);
                simd::prefetch_ahead(x + f + i);
                simd::prefetch_ahead(dy + i);
                const Float gate = bias.add_to(simd::load(x + i, lanes), begin + i, lanes);
                const Float up = bias.add_to(simd::load(x + f + i, lanes), f + begin + i, lanes);
                const Float grad = simd::load(dy + i, lanes);
                const ValueAndSlope act = Formula::both(limits.gate(gate));
                store(dx + i, grad * limits.linear(up) * limits.gate_slope(gate, act.slope), lanes);
                store(dx + f + i, grad * limits.linear_slope(up, act.value), lanes);
              });
            });
}

}  // namespace

void run(device::HostStream&, const BiasActivationForward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    visit_activation(k.activation, [&](auto formula) { bias_activation<T>(k, formula); });
  });
}

void run(device::HostStream&, const BiasActivationBackward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    visit_activation(k.activation, [&](auto formula) { bias_activation<T>(k, formula); });
  });
}

void run(device::HostStream&, const GatedActivationForward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    visit_limits(k.limits, [&](const auto& limits) {
      visit_activation(k.activation,
                       [&](auto formula) { gated_activation<T>(k, formula, limits); });
    });
  });
}

void run(device::HostStream&, const GatedActivationBackward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    visit_limits(k.limits, [&](const auto& limits) {
      visit_activation(k.activation,
                       [&](auto formula) { gated_activation<T>(k, formula, limits); });
    });
  });
}

}  // namespace mpitron::kernels
