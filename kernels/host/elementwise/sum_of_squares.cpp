// Sums squares exactly on the host: a block of 64 in fp32 in a fixed order, blocks as integers
// (utils/numbers/exact_sum.h). So a norm has the same bits for any cut of the vector and any number
// of threads.
#include <array>
#include <atomic>
#include <cmath>

#include "kernels/elementwise/optimizer.h"
#include "kernels/host/common/exact_lanes.h"
#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

constexpr Index kBlock = SumOfSquares::kBlock;
/// Blocks whose lanes are summed together: that takes a third of the time.
constexpr Index kSixteen = simd::kLanes * kBlock;

/// Returns the squares of a block, in lanes whose sum is the block's.
template <class T>
[[gnu::always_inline]] inline Float block_squares(const T* x) {
  Float value[4];
  for (int i = 0; i < 4; ++i) {
    fetch_ahead(x + i * simd::kLanes);
    value[i] = simd::load(x + i * simd::kLanes);
  }
  // multiplied and added by name: left to the compiler, two copies of this loop could differ
  return simd::fma(value[1], value[1], value[0] * value[0]) +
         simd::fma(value[3], value[3], value[2] * value[2]);
}
/// Squares of bf16 are added two by two, by the processor's instruction where it has one.
[[gnu::always_inline]] inline Float block_squares(const BFloat16* x) {
  fetch_ahead(x);
  fetch_ahead(x + kBlock / 2);
  return simd::add_pair_squares(x + kBlock / 2, simd::add_pair_squares(x, Float{}));
}

/// Adds a block's sum of squares in fp64, where fp32 overflows.
template <class T>
void add_wide(const T* x, exact_sum::Bins bins) {
  double wide = 0;
  for (Index i = 0; i < kBlock; ++i) {
    const auto value = static_cast<double>(static_cast<float>(x[i]));
    wide += value * value;
  }
  exact_sum::add(bins, wide);
}

/// Adds `kSixteen` elements. Sums that are too large for the lanes, or overflow fp32, are added one
/// by one in fp64.
template <class T>
[[gnu::always_inline]] inline void add_blocks(const T* x, ExactLanes& lanes, exact_sum::Bins bins) {
  Float sums[simd::kLanes];
  // Four lines at a time, not more: the processor foresees reads by the instructions that make
  // them, and wants few of them, in the order of the addresses.
  constexpr int kAtOnce = 4 / sizeof(T);
#pragma GCC unroll 1
  for (int block = 0; block < simd::kLanes; block += kAtOnce) {
#pragma GCC unroll 2
    for (int i = block; i < block + kAtOnce; ++i) {
      sums[i] = block_squares(x + i * kBlock);
    }
  }
  const Float totals = simd::lane_sums(sums);
  if (lanes.add(totals)) [[likely]] {
    return;
  }
  for (int block = 0; block < simd::kLanes; ++block) {
    if (std::isfinite(totals[block])) {
      exact_sum::add(bins, totals[block]);
    } else {
      add_wide(x + block * kBlock, bins);
    }
  }
}

/// Adds n elements from x, where a block starts; what lacks to sixteen blocks counts as zeros.
template <class T>
void add_squares(const T* x, Index n, exact_sum::Bins bins) {
  ExactLanes lanes(bins);
  Index i = 0;
  for (; i + kSixteen <= n; i += kSixteen) {
    add_blocks(x + i, lanes, bins);
  }
  if (i < n) {
    std::array<T, kSixteen> rest{};
    std::copy(x + i, x + n, rest.begin());
    add_blocks(rest.data(), lanes, bins);
  }
}

}  // namespace

void run(device::HostStream&, const SumOfSquares& k) {
  const Index n = k.x.numel();
  auto* bins = k.bins.as<std::int64_t>();
  visit_dtype(k.x.dtype, [&]<class T>() {
    const T* x = k.x.as<T>();
    for_ranges((n + kBlock - 1) / kBlock, n, [&](Index first, Index last) {
      std::array<std::int64_t, exact_sum::kBins> own{};
      add_squares(x + first * kBlock, std::min(n, last * kBlock) - first * kBlock,
                  exact_sum::Bins(own));
      for (std::size_t i = 0; i < own.size(); ++i) {  // integers: any order gives the same sum
        std::atomic_ref(bins[i]).fetch_add(own[i], std::memory_order_relaxed);
      }
    });
  });
}

}  // namespace mpitron::kernels
