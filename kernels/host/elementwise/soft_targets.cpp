// Compares rows with soft targets (self-distillation as in DINO) on the host. Rows are short enough
// to stay in L1, so each is passed over once for its maximum, once for its sum and once for its
// result.
#include "kernels/elementwise/soft_targets.h"

#include <cmath>
#include <limits>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

constexpr Index kWorkOfExp = 3;

/// Returns the largest of value(i, lanes) over a row of n.
template <class Value>
float largest_of(Index n, const Value& value) {
  const float lowest = -std::numeric_limits<float>::infinity();
  Float top = simd::splat(lowest);
  float result = lowest;
  simd::for_lanes(n, [&](Index i, auto lanes) {
    if constexpr (std::is_same_v<decltype(lanes), simd::Full>) {
      top = simd::max(value(i, lanes), top);
    } else {
      const Float rest = value(i, lanes);
      for (Index j = 0; i + j < n; ++j) {
        result = std::max(result, rest[j]);
      }
    }
  });
  return std::max(result, simd::lane_max(top));
}

/// Returns log sum exp of value(i, lanes) over a row of n.
template <class Value>
float log_sum_exp_of(Index n, const Value& value) {
  const float largest = largest_of(n, value);
  const auto [sum] = simd::row_sums<1>(n, [&](Index i, auto lanes, auto& sums) {
    sums[0] += simd::inside(simd::exp(value(i, lanes) - simd::splat(largest)), lanes);
  });
  return largest + std::log(sum);
}

/// The target p of the contract: the mean of one or two rows. One row alone is its own mean.
struct MeanTarget {
  const float *first, *second;

  MeanTarget(const device::In& targets, const std::int64_t* sources) {
    const Index v = targets.size(-1);
    const auto* rows = targets.as<float>();
    const auto row = [&](std::int64_t source) { return rows + source * v; };
    first = row(sources[0] >= 0 ? sources[0] : sources[1]);
    second = row(sources[1] >= 0 ? sources[1] : sources[0]);
  }
  template <class Lanes>
  Float operator()(Index i, Lanes lanes) const {
    return simd::splat(0.5f) * (simd::load(first + i, lanes) + simd::load(second + i, lanes));
  }
};

}  // namespace

void run(device::HostStream&, const SharpSoftmax& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> x(k.x);
    const auto* centre = k.centre.as<float>();
    auto* y = k.y.as<float>();
    const Index v = k.x.size(-1);
    const Float factor = simd::splat(1 / k.temperature);
    for_ranges(row_count(k.x), k.x.numel() * kWorkOfExp, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const auto sharp = [&](Index i, auto lanes) {
          return factor * (simd::load(x[row] + i, lanes) - simd::load(centre + i, lanes));
        };
        const float lse = log_sum_exp_of(v, sharp);
        simd::for_lanes(v, [&](Index i, auto lanes) {
          simd::store(y + row * v + i, simd::exp(sharp(i, lanes) - simd::splat(lse)), lanes);
        });
      }
    });
  });
}

void run(device::HostStream&, const SoftTargetForward& k) {
  visit_dtype(k.logits.dtype, [&]<class T>() {
    const Rows<const T> logits(k.logits);
    const auto* sources = k.sources.as<std::int64_t>();
    float *losses = k.loss.as<float>(), *lses = k.lse.as<float>();
    const Index v = k.logits.size(-1);
    const Float factor = simd::splat(1 / k.temperature);
    for_ranges(row_count(k.logits), k.logits.numel() * kWorkOfExp, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const auto sharp = [&](Index i, auto lanes) {
          return factor * simd::load(logits[row] + i, lanes);
        };
        const MeanTarget target(k.targets, sources + 2 * row);
        const float lse = log_sum_exp_of(v, sharp);
        const auto [loss] = simd::row_sums<1>(v, [&](Index i, auto lanes, auto& sums) {
          sums[0] += target(i, lanes) * (simd::splat(lse) - sharp(i, lanes));
        });
        losses[row] = loss;
        lses[row] = lse;
      }
    });
  });
}

void run(device::HostStream&, const SoftTargetBackward& k) {
  visit_dtype(k.logits.dtype, [&]<class T>() {
    const Rows<const T> logits(k.logits);
    const Rows<T> dlogits(k.dlogits);
    const auto* sources = k.sources.as<std::int64_t>();
    const float *lses = k.lse.as<float>(), *dlosses = k.dloss.as<float>();
    const Index v = k.logits.size(-1);
    const Float factor = simd::splat(1 / k.temperature);
    for_ranges(row_count(k.logits), k.logits.numel() * kWorkOfExp, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const MeanTarget target(k.targets, sources + 2 * row);
        const Float scale = simd::splat(dlosses[row] / k.temperature);
        simd::for_lanes(v, [&](Index i, auto lanes) {
          const Float sharp = factor * simd::load(logits[row] + i, lanes);
          const Float p = simd::exp(sharp - simd::splat(lses[row]));
          simd::store(dlogits[row] + i, scale * (p - target(i, lanes)), lanes);
        });
      }
    });
  });
}

}  // namespace mpitron::kernels
