// Brings rows to length 1 or to their gain (weight normalisation) on the host, a row on one thread.
#include "kernels/elementwise/unit_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {

using namespace host;
using simd::Float;

void run(device::HostStream&, const UnitRowsForward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> x(k.x);
    const Rows<T> y(k.y);
    const T* gain = k.gain ? k.gain.as<T>() : nullptr;
    auto* norm = k.norm.as<float>();
    const Index h = k.x.size(-1);
    for_ranges(row_count(k.x), k.x.numel(), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const auto [squares] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& sums) {
          const Float value = simd::load(x[row] + i, lanes);
          sums[0] += value * value;
        });
        norm[row] = std::sqrt(squares);
        const float scale = gain != nullptr ? static_cast<float>(gain[row]) : 1.f;
        const Float factor = simd::splat(scale / std::max(norm[row], k.eps));
        simd::for_lanes(h, [&](Index i, auto lanes) {
          simd::store(y[row] + i, factor * simd::load(x[row] + i, lanes), lanes);
        });
      }
    });
  });
}

void run(device::HostStream&, const UnitRowsBackward& k) {
  visit_dtypes(k.x.dtype, k.dx.dtype, [&]<class T, class U>() {
    const Rows<const T> x(k.x), dy(k.dy);
    const Rows<U> dx(k.dx);
    const T* gain = k.gain ? k.gain.as<T>() : nullptr;
    const auto* norm = k.norm.as<float>();
    U* dgain = k.dgain ? k.dgain.as<U>() : nullptr;
    const Index h = k.x.size(-1);
    for_ranges(row_count(k.x), k.x.numel(), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        // The gradient's part along x changes the length alone, which is fixed: it is taken out of
        // dx and is the gain's gradient.
        const float length = std::max(norm[row], k.eps);
        const auto [product] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& sums) {
          sums[0] += simd::load(dy[row] + i, lanes) * simd::load(x[row] + i, lanes);
        });
        const float along = product / length;
        const float scale = gain != nullptr ? static_cast<float>(gain[row]) : 1.f;
        const Float factor = simd::splat(scale / length);
        const Float back = simd::splat(norm[row] <= k.eps ? 0 : along / length);
        simd::for_lanes(h, [&](Index i, auto lanes) {
          const Float turned =
              simd::load(dy[row] + i, lanes) - back * simd::load(x[row] + i, lanes);
          const Float before = k.accumulate ? simd::load(dx[row] + i, lanes) : Float{};
          simd::store(dx[row] + i, before + factor * turned, lanes);
        });
        if (dgain != nullptr) {
          dgain[row] = U(along + (k.accumulate ? static_cast<float>(dgain[row]) : 0.f));
        }
      }
    });
  });
}

}  // namespace mpitron::kernels
