// Finds the border of a nucleus by halving: weights that may lie at it are moved together once,
// then the half with the border is kept until few are left to sort.
#include "kernels/elementwise/nucleus.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "kernels/host/common/parallel.h"
#include "kernels/host/common/simd_types.h"

namespace mpitron::kernels {
namespace {

using namespace host;

using simd::Double;
using simd::kDoubles;
using simd::Long;

Double load(const double* x) {
  Double values;
  __builtin_memcpy(&values, x, sizeof values);
  return values;
}

double sum_of_lanes(const Double& x) {
  double sum = 0;
  for (Index i = 0; i < kDoubles; ++i) {
    sum += x[i];
  }
  return sum;
}

/// What a number divides weights into.
struct Halves {
  double upper = 0;                                           // sum of those from it on
  double lightest = std::numeric_limits<double>::infinity();  // of them
  double heaviest = 0;                                        // of the others
};

Halves divide(const double* weights, Index count, double at) {
  const Halves none;
  Double sums{}, lightest = Double{} + none.lightest, heaviest{};
  Index i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    const Double x = load(weights + i), upper = x >= at ? x : Double{} + none.lightest;
    const Double lower = x >= at ? Double{} : x;
    sums += x - lower;
    lightest = upper < lightest ? upper : lightest;
    heaviest = lower > heaviest ? lower : heaviest;
  }
  Halves halves{.upper = sum_of_lanes(sums)};
  const auto bound = [&](double light, double heavy) {
    halves.lightest = std::min(halves.lightest, light);
    halves.heaviest = std::max(halves.heaviest, heavy);
  };
  for (Index lane = 0; lane < kDoubles; ++lane) {
    bound(lightest[lane], heaviest[lane]);
  }
  for (; i < count; ++i) {
    const bool upper = weights[i] >= at;
    halves.upper += upper ? weights[i] : 0;
    bound(upper ? weights[i] : none.lightest, upper ? 0 : weights[i]);
  }
  return halves;
}

/// Moves weights in [low, high) together, order kept; returns how many there are. `kept` may be
/// `weights`, and has room for eight more.
Index keep_between(const double* weights, Index count, double low, double high, double* kept) {
  Index found = 0, i = 0;
#if defined(__AVX512F__)
  for (; i + kDoubles <= count; i += kDoubles) {
    const __m512d eight = _mm512_loadu_pd(weights + i);
    const __mmask8 from_low = _mm512_cmp_pd_mask(eight, _mm512_set1_pd(low), _CMP_GE_OQ);
    const __mmask8 inside =
        _mm512_mask_cmp_pd_mask(from_low, eight, _mm512_set1_pd(high), _CMP_LT_OQ);
    _mm512_storeu_pd(kept + found, _mm512_maskz_compress_pd(inside, eight));
    found += std::popcount(inside);
  }
#endif
  for (; i < count; ++i) {
    const double weight = weights[i];
    kept[found] = weight;  // counted where it belongs there: no branch that cannot be foreseen
    found += static_cast<Index>(weight >= low) & static_cast<Index>(weight < high);
  }
  return found;
}

/// Weights that may lie at the border.
struct Search {
  double* weights;
  Index count;
  double low, high;    // all are in [low, high)
  double heavier = 0;  // sum of all from `high` on, never above the mass

  /// Doubles above 0 are ordered as their bits are, so that half of the bits between two is a
  /// border of octaves first and of single numbers at last.
  double middle() const {
    return std::bit_cast<double>(
        std::midpoint(std::bit_cast<std::uint64_t>(low), std::bit_cast<std::uint64_t>(high)));
  }
  bool alike() const { return middle() <= low; }
  void halve(double mass) {
    const Halves halves = divide(weights, count, middle());
    if (heavier + halves.upper > mass) {
      low = halves.lightest;
    } else {
      heavier += halves.upper;
      high = std::nextafter(halves.heaviest, 2.0);
    }
    count = keep_between(weights, count, low, high, weights);
  }
  void finish(double mass, double* border) {
    if (!alike()) {
      std::sort(weights, weights + count, std::greater<>());
    }
    for (Index begin = 0, end = 0; begin < count; begin = end) {
      double group = 0;
      for (; end < count && weights[end] == weights[begin]; ++end) {
        group += weights[end];
      }
      if (heavier + group > mass) {
        border[0] = weights[begin];
        border[1] = heavier;
        border[2] = static_cast<double>(end - begin);
        return;
      }
      heavier += group;
    }
    std::fill_n(border, 3, 0.0);
  }
};

/// All weights that may lie at the border. Those that weigh less than an even share of what is left
/// out weigh less than it together, so they lie behind the border, and so do blocks as light.
Search begin_search(const NucleusBorder& kernel) {
  const Index v = kernel.weights.numel();
  const double *weights = kernel.weights.as<double>(), *sums = kernel.sums.as<double>();
  const double all = std::accumulate(sums, sums + kernel.sums.numel(), 0.0);
  Search search{.weights = static_cast<double*>(kernel.workspace.data),
                .count = 0,
                .low = std::max((all - kernel.mass) / static_cast<double>(v),
                                std::numeric_limits<double>::min()),
                .high = std::nextafter(1.0, 2.0)};
  for (Index block = 0; block < kernel.sums.numel(); ++block) {
    if (sums[block] >= search.low) {
      const Index begin = block * kTokenBlock, count = std::min(kTokenBlock, v - begin);
      search.count += keep_between(weights + begin, count, search.low, search.high,
                                   search.weights + search.count);
    }
  }
  return search;
}

bool has_weight(const double* weights, Index count, double weight) {
  Long found{};
  Index i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    found |= load(weights + i) == weight;
  }
  bool any = std::find(weights + i, weights + count, weight) != weights + count;
  for (Index lane = 0; lane < kDoubles; ++lane) {
    any = any || found[lane] != 0;
  }
  return any;
}

double keep_in_block(double* weights, Index count, double least) {
  Double sums{};
  Index i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    const Double eight = load(weights + i), kept = eight >= least ? eight : Double{};
    sums += kept;
    __builtin_memcpy(weights + i, &kept, sizeof kept);
  }
  for (; i < count; ++i) {
    weights[i] = weights[i] >= least ? weights[i] : 0;
    sums[i % kDoubles] += weights[i];
  }
  return sum_of_lanes(sums);
}

}  // namespace

Index workspace_bytes(const device::HostStream&, const NucleusBorder& kernel) {
  return (kernel.weights.numel() + kDoubles) * static_cast<Index>(sizeof(double));
}

void run(device::HostStream&, const NucleusBorder& kernel) {
  constexpr Index kFew = 32;
  Search search = begin_search(kernel);
  while (search.count > kFew && !search.alike()) {
    search.halve(kernel.mass);
  }
  search.finish(kernel.mass, kernel.border.as<double>());
}

/// Few blocks have such a weight: the others are passed over eight weights at a time.
void run(device::HostStream&, const AlikeWeights& kernel) {
  const Index v = kernel.weights.numel();
  const double *const weights = kernel.weights.as<double>(), *const sums = kernel.sums.as<double>();
  auto* const ids = kernel.ids.as<std::int64_t>();
  Index found = 0;
  for (Index block = 0; block < kernel.sums.numel(); ++block) {
    const Index begin = block * kTokenBlock, end = std::min(v, begin + kTokenBlock);
    if (sums[block] >= kernel.weight && has_weight(weights + begin, end - begin, kernel.weight)) {
      for (Index id = begin; id < end; ++id) {
        if (weights[id] == kernel.weight) {
          ids[found++] = id;
        }
      }
    }
  }
  kernel.count.as<std::int64_t>()[0] = found;
}

void run(device::HostStream&, const KeepWeights& kernel) {
  const Index v = kernel.weights.numel();
  double *const weights = kernel.weights.as<double>(), *const sums = kernel.sums.as<double>();
  for_blocks(kernel.sums.numel(), v / 4, [&](Index block) {
    if (sums[block] != 0) {
      const Index begin = block * kTokenBlock;
      sums[block] = keep_in_block(weights + begin, std::min(kTokenBlock, v - begin), kernel.least);
    }
  });
}

}  // namespace mpitron::kernels
