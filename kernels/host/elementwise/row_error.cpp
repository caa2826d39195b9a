// Computes squared errors of rows against targets, and whether the label has the largest logit, on
// the host.
#include "kernels/elementwise/row_error.h"

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

/// Calls f with the type of x and that of the target, which is x's or fp32.
template <class F>
void visit_types(const device::In& x, const device::In& target, F&& f) {
  visit_dtype(x.dtype, [&]<class T>() {
    if (target.dtype == DType::f32) {
      f.template operator()<T, float>();
    } else {
      MPITRON_CHECK(target.dtype == x.dtype, name_of(target.dtype));
      f.template operator()<T, T>();
    }
  });
}

}  // namespace

void run(device::HostStream&, const RowErrorForward& k) {
  visit_types(k.x, k.target, [&]<class T, class U>() {
    const Rows<const T> x(k.x);
    const Rows<const U> target(k.target);
    auto* error = k.error.as<float>();
    const Index h = k.x.size(-1);
    for_ranges(row_count(k.x), k.x.numel(), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const auto [sum] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& sums) {
          const Float difference =
              simd::load(x[row] + i, lanes) - simd::load(target[row] + i, lanes);
          sums[0] += difference * difference;
        });
        error[row] = k.factor * sum;
      }
    });
  });
}

void run(device::HostStream&, const RowErrorBackward& k) {
  visit_types(k.x, k.target, [&]<class T, class U>() {
    const Rows<const T> x(k.x);
    const Rows<const U> target(k.target);
    const Rows<T> dx(k.dx);
    const auto* derror = k.derror.as<float>();
    for_tiles(
        row_count(k.x), k.x.size(-1), 1, false, [&](auto store, Index row, Index begin, Index end) {
          const Float factor = simd::splat(2 * k.factor * derror[row]);
          simd::for_lanes(end - begin, [&](Index i, auto lanes) {
            const Float difference =
                simd::load(x[row] + begin + i, lanes) - simd::load(target[row] + begin + i, lanes);
            store(dx[row] + begin + i, factor * difference, lanes);
          });
        });
  });
}

void run(device::HostStream&, const LabelMatches& k) {
  visit_dtype(k.logits.dtype, [&]<class T>() {
    const Rows<const T> logits(k.logits);
    const auto* labels = k.labels.as<std::int64_t>();
    auto* matches = k.matches.as<float>();
    const Index v = k.logits.size(-1);
    for_ranges(row_count(k.logits), k.logits.numel(), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const T* x = logits[row];
        Index largest = 0;
        for (Index i = 1; i < v; ++i) {
          largest = static_cast<float>(x[i]) > static_cast<float>(x[largest]) ? i : largest;
        }
        matches[row] = largest == labels[row] ? 1.f : 0.f;
      }
    });
  });
}

}  // namespace mpitron::kernels
