// Adds a learned score without a value (an attention sink, as in gpt-oss) to a finished attention:
// outputs shrink by 1 / (1 + e^(sink - lse)) and lse grows. So no attention kernel has to know of
// it.
#include "kernels/attention/attention_sink.h"

#include <cmath>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

float number(const In& view, Index at) {
  return visit_dtype(view.dtype, [&]<class T>() { return static_cast<float>(view.as<T>()[at]); });
}

void check_heads(const device::ConstTensorView& o, const device::ConstTensorView& lse) {
  MPITRON_CHECK(o.contiguous() && lse.contiguous() && lse.dtype == DType::f32, to_string(o.shape),
                to_string(lse.shape));
  MPITRON_CHECK((lse.shape == Shape{o.size(1), o.size(2), o.size(0)}), to_string(lse.shape));
}

}  // namespace

void run(device::HostStream&, const AttentionSinkForward& k) {
  check_heads(k.o, k.lse);
  const Index s = k.o.size(0), n = k.o.size(2), heads = k.o.size(1) * n, d = k.o.size(3);
  float* const lse = k.lse.as<float>();
  visit_dtype(k.o.dtype, [&]<class T>() {
    T* const o = k.o.as<T>();
    host::for_ranges(s * heads, k.o.numel(), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const Index at = row % heads * s + row / heads;
        const float sink = k.sink ? number(k.sink, k.first_head + row % n) : 0.F;
        const float mine = lse[at], largest = std::max(mine, sink);
        const float both = largest + std::log(std::exp(mine - largest) + std::exp(sink - largest));
        const float keep = std::exp(mine - both);
        for (Index i = row * d; i < (row + 1) * d; ++i) {
          o[i] = T(static_cast<float>(o[i]) * keep);
        }
        lse[at] = both;
      }
    });
  });
}

void run(device::HostStream&, const AttentionSinkBackward& k) {
  check_heads(k.o, k.lse);
  const Index s = k.o.size(0), b = k.o.size(1), n = k.o.size(2), d = k.o.size(3);
  const float* const lse = k.lse.as<float>();
  const auto sum_of = [&]<class T>(Index own, float sink) {
    const T *const o = k.o.as<T>(), *const d_o = k.d_o.as<T>();
    double sum = 0;
    for (Index sample = 0; sample < b; ++sample) {
      for (Index i = 0; i < s; ++i) {
        const Index row = ((i * b + sample) * n + own) * d;
        float dot = 0;
        for (Index c = row; c < row + d; ++c) {
          dot += static_cast<float>(o[c]) * static_cast<float>(d_o[c]);
        }
        sum -= static_cast<double>(std::exp(sink - lse[(sample * n + own) * s + i]) * dot);
      }
    }
    return sum;
  };
  host::for_ranges(k.sink.size(0), k.o.numel(), [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head) {
      const Index own = head - k.first_head;
      const bool here = own >= 0 && own < n;
      const double sum =
          here ? visit_dtype(k.o.dtype,
                             [&]<class T>() {
                               return sum_of.template operator()<T>(own, number(k.sink, head));
                             })
               : 0;
      visit_dtype(k.dsink.dtype, [&]<class T>() {
        T* const to = k.dsink.as<T>() + head;
        const double before = k.accumulate ? static_cast<double>(static_cast<float>(*to)) : 0;
        *to = T(static_cast<float>(before + sum));
      });
    }
  });
}

}  // namespace mpitron::kernels
