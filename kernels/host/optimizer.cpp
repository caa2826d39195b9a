#include "kernels/optimizer.h"

#include <atomic>
#include <cmath>

#include "kernels/host/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

/// update(i, lanes) over n elements in tiles.
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

}  // namespace

void run(device::HostStream&, const AdamStep& k) {
  const float* param = k.param.as<float>();
  float *exp_avg = k.exp_avg.as<float>(), *exp_avg_sq = k.exp_avg_sq.as<float>();
  visit_step(k.grad, k.param, k.model_param, [&](const auto* grad, auto store_param) {
    const float lr_m = k.lr / k.bias_correction1, inverse2 = 1.f / k.bias_correction2;
    const float decay = k.lr * k.weight_decay;
    for_elements(k.param.numel(), 4, [&](Index i, auto lanes) {
      const Float g = simd::load(grad + i, lanes) * k.grad_scale;
      const Float m =
          simd::fma(simd::load(exp_avg + i, lanes), simd::splat(k.beta1), g * (1.f - k.beta1));
      const Float v = simd::fma(simd::load(exp_avg_sq + i, lanes), simd::splat(k.beta2),
                                g * g * (1.f - k.beta2));
      simd::store(exp_avg + i, m, lanes);
      simd::store(exp_avg_sq + i, v, lanes);
      const Float p = simd::load(param + i, lanes);
      const Float step = lr_m * m / (simd::sqrt(v * inverse2) + k.eps);
      store_param(i, p - simd::fma(p, simd::splat(decay), step), lanes);
    });
  });
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
