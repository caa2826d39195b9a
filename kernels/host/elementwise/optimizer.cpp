// Updates parameters on the host: Adam, SGD with momentum, Lion. Each element is read and written
// once; gradients are scaled on the way (clipping and loss scale), so no pass of its own does that.
#include "kernels/elementwise/optimizer.h"

#include <atomic>
#include <cmath>

#include "kernels/host/common/views.h"
#include "kernels/host/elementwise/stored_numbers.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

/// Calls update(i, lanes) over n elements in tiles.
template <class F>
void for_elements(Index n, Index work, F&& update) {
  for_ranges((n + kTile - 1) / kTile, n * work, [&](Index first_tile, Index last_tile) {
    const Index first = first_tile * kTile, count = std::min(n, last_tile * kTile) - first;
    simd::for_lanes(count, [&](Index i, auto lanes) { update(first + i, lanes); });
  });
}

/// Calls f(grad, store_param): the gradient's elements, and how to store a new parameter (with its
/// narrow copy where there is one).
template <class F>
void visit_step(const In& grad, const InOut& param, const Out& model_param, F&& f) {
  visit_dtype(grad.dtype, [&]<class Tg>() {
    const Tg* g = grad.as<Tg>();
    float* p = param.as<float>();
    if (!model_param) {
      f(g, [p](Index i, Float x, auto lanes) { simd::store(p + i, x, lanes); });
      return;
    }
    visit_dtype(model_param.dtype, [&]<class Tm>() {
      Tm* m = model_param.as<Tm>();
      f(g, [p, m](Index i, Float x, auto lanes) {
        simd::store(p + i, x, lanes);
        simd::store(m + i, x, lanes);
      });
    });
  });
}

struct Adam {
  Float param, exp_avg, exp_avg_sq;
};

/// Computes AdamRule's arithmetic, one operation after the other: all devices share this order, so
/// they have the same bits.
[[gnu::always_inline]] inline Adam after_step(const AdamRule& rule, const Adam& before,
                                              Float grad) {
  const Float g = grad * rule.grad_scale;
  const Float m = simd::fma(before.exp_avg, simd::splat(rule.beta1), g * rule.rest1);
  const Float v = simd::fma(before.exp_avg_sq, simd::splat(rule.beta2), g * g * rule.rest2);
  const Float step = rule.rate * m / (simd::sqrt(v * rule.inverse2) + rule.eps);
  return {before.param - simd::fma(before.param, simd::splat(rule.decay), step), m, v};
}

/// Updates where parameter and states are fp32.
void update_fp32(const AdamStep& k) {
  const AdamRule rule(k);
  const float* param = k.param.values.as<float>();
  float *exp_avg = k.exp_avg.values.as<float>(), *exp_avg_sq = k.exp_avg_sq.values.as<float>();
  visit_step(k.grad, k.param.values, k.model_param, [&](const auto* grad, auto store_param) {
    for_elements(k.param.numel(), 4, [&](Index i, auto lanes) {
      const Adam after = after_step(rule,
                                    {simd::load(param + i, lanes), simd::load(exp_avg + i, lanes),
                                     simd::load(exp_avg_sq + i, lanes)},
                                    simd::load(grad + i, lanes));
      simd::store(exp_avg + i, after.exp_avg, lanes);
      simd::store(exp_avg_sq + i, after.exp_avg_sq, lanes);
      store_param(i, after.param, lanes);
    });
  });
}

/// Updates numbers stored in any types, a block at a time in fp32 on the stack: a scaled block must
/// be read whole before its new exponent is known.
void update_stored(const AdamStep& k) {
  const AdamRule rule(k);
  for_stored_blocks(k.param.numel(), [&](Index first, Index count) {
    BlockOfFloats param, exp_avg, exp_avg_sq, grad;
    read_block(k.param, first, count, param);
    read_block(k.exp_avg, first, count, exp_avg);
    read_block(k.exp_avg_sq, first, count, exp_avg_sq);
    read_elements(k.grad, first, count, grad);
    simd::for_lanes(count, [&](Index i, auto lanes) {
      const Adam after =
          after_step(rule,
                     {simd::load(param.v + i, lanes), simd::load(exp_avg.v + i, lanes),
                      simd::load(exp_avg_sq.v + i, lanes)},
                     simd::load(grad.v + i, lanes));
      simd::store(param.v + i, after.param, lanes);
      simd::store(exp_avg.v + i, after.exp_avg, lanes);
      simd::store(exp_avg_sq.v + i, after.exp_avg_sq, lanes);
    });
    write_block(param, first, count, k.param);
    write_block(exp_avg, first, count, k.exp_avg);
    write_block(exp_avg_sq, first, count, k.exp_avg_sq);
    if (k.model_param) {
      write_elements(param, first, count, k.model_param);
    }
  });
}

}  // namespace

void run(device::HostStream&, const AdamStep& k) {
  const bool fp32 = k.param.values.dtype == DType::f32 && k.exp_avg.values.dtype == DType::f32 &&
                    k.exp_avg_sq.values.dtype == DType::f32;
  fp32 ? update_fp32(k) : update_stored(k);
}

void run(device::HostStream&, const SgdStep& k) {
  const float* param = k.param.as<float>();
  float* buffer = k.momentum_buffer.as<float>();
  visit_step(k.grad, k.param, k.model_param, [&](const auto* grad, auto store_param) {
    for_elements(k.param.numel(), 2, [&](Index i, auto lanes) {
      const Float p = simd::load(param + i, lanes);
      const Float g =
          simd::fma(p, simd::splat(k.weight_decay), simd::load(grad + i, lanes) * k.grad_scale);
      const Float velocity = simd::fma(simd::load(buffer + i, lanes), simd::splat(k.momentum), g);
      simd::store(buffer + i, velocity, lanes);
      store_param(i, p - velocity * k.lr, lanes);
    });
  });
}

void run(device::HostStream&, const LionStep& k) {
  const float* param = k.param.as<float>();
  float* exp_avg = k.exp_avg.as<float>();
  const float keep = 1.F - k.lr * k.weight_decay;
  visit_step(k.grad, k.param, k.model_param, [&](const auto* grad, auto store_param) {
    for_elements(k.param.numel(), 2, [&](Index i, auto lanes) {
      const Float g = simd::load(grad + i, lanes) * k.grad_scale;
      const Float m = simd::load(exp_avg + i, lanes);
      const Float mixed = simd::fma(m, simd::splat(k.beta1), g * (1.F - k.beta1));
      // The smallest number that fp32 has becomes 1; a product with 2^149 would overflow.
      const Float large = (mixed * 0x1p100F) * 0x1p49F;
      const Float sign = simd::max(simd::splat(-1.F), simd::min(simd::splat(1.F), large));
      store_param(i, simd::load(param + i, lanes) * keep - sign * k.lr, lanes);
      simd::store(exp_avg + i, simd::fma(m, simd::splat(k.beta2), g * (1.F - k.beta2)), lanes);
    });
  });
}

void run(device::HostStream&, const CountZeros& k) {
  const Index n = k.x.numel();
  std::atomic<std::int64_t> zeros = 0;  // integers: any order gives the same sum
  visit_dtype(k.x.dtype, [&]<class T>() {
    const T* x = k.x.as<T>();
    for_ranges((n + kTile - 1) / kTile, n, [&](Index first, Index last) {
      const Index begin = first * kTile, end = std::min(n, last * kTile);
      std::int64_t count = 0;
      for (Index i = begin; i < end; ++i) {
        count += static_cast<float>(x[i]) == 0.f ? 1 : 0;
      }
      zeros += count;
    });
  });
  k.result.as<std::int64_t>()[0] = zeros;
}

}  // namespace mpitron::kernels
