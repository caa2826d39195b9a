// Computes maxima and weights of blocks of 64 tokens for sampling, eight doubles at a time. Its own
// exponential replaces the library's, so that bits do not depend on the system's C library.
#include "kernels/elementwise/token_weights.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/host/common/parallel.h"
#include "kernels/host/common/simd_types.h"

namespace mpitron::kernels {
namespace {

using namespace host;

using simd::Double;
using simd::kDoubles;
using simd::Long;

/// Computes e^x to 1e-15 relative for x from -708 to 0; 0 below. x is split into k ln 2 + r, the
/// series of e^r is taken up to r^12, and k goes into the exponent.
Double power_of_e(Double x) {
  constexpr double kRound = 0x1.8p52;  // what is added to it loses its fraction
  constexpr double kHigh = 0x1.62e42fefa0000p-1, kLow = 0x1.cf79abc9e3b39p-40;  // ln 2
  const Double lowest = Double{} - 708.0;
  const Double bounded = x < lowest ? lowest : x;
  const Double shifted = bounded * 0x1.71547652b82fep0 + kRound;
  const Double k = shifted - kRound;
  const Double r = (bounded - k * kHigh) - k * kLow;
  Double p = r * (1.0 / 479001600) + 1.0 / 39916800;
  constexpr double kInverseFactorials[] = {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                           1.0 / 720,     1.0 / 120,    1.0 / 24,    1.0 / 6,
                                           1.0 / 2,       1.0,          1.0};
  for (const double term : kInverseFactorials) {
    p = p * r + term;
  }
  const Long exponent = (Long)shifted - (Long)(Double{} + kRound);
  const Double result = p * (Double)((exponent + 1023) << 52);
  return x < lowest ? Double{} : result;
}

/// Loads fewer than eight values, with -inf behind the end: their weight is 0.
template <class T>
Double load_wide(const T* x, Index count) {
  Double values = Double{} - std::numeric_limits<double>::infinity();
  for (Index i = 0; i < count; ++i) {
    values[i] = static_cast<double>(x[i]);
  }
  return values;
}
template <class T>
Double load_wide(const T* x) {
  using Eight [[gnu::vector_size(8 * sizeof(T))]] = T;
  Eight values;
  __builtin_memcpy(&values, x, sizeof values);
  return __builtin_convertvector(values, Double);
}

/// Loads sixty-four values into eight vectors, -inf behind the end.
template <class T>
void load_block(const T* x, Index count, Double (&values)[kDoubles]) {
  for (Index i = 0; i < kDoubles; ++i) {
    const Index left = count - i * kDoubles;
    values[i] = left >= kDoubles ? load_wide(x + i * kDoubles)
                                 : load_wide(x + i * kDoubles, std::max<Index>(left, 0));
  }
}

/// The largest of a block; comparisons let NaN count as minus infinity.
template <class T>
T largest_of(const T* x, Index count) {
  Double values[kDoubles];
  load_block(x, count, values);
  Double most = Double{} - std::numeric_limits<double>::infinity();
  for (const Double& eight : values) {
    most = eight > most ? eight : most;
  }
  double largest = most[0];
  for (Index i = 1; i < kDoubles; ++i) {
    largest = most[i] > largest ? most[i] : largest;
  }
  return static_cast<T>(largest);
}

/// Stores the first of eight values, where they are wanted.
void store(const Double& eight, double* to, Index count) {
  if (to == nullptr || count <= 0) {
    return;
  }
  if (count >= kDoubles) {  // of a size that is known, so that no function is called
    __builtin_memcpy(to, &eight, sizeof eight);
  } else {
    __builtin_memcpy(to, &eight, static_cast<std::size_t>(count) * sizeof(double));
  }
}

double* block_of(const Out& view, Index begin) {
  return view ? view.as<double>() + begin : nullptr;
}

/// Writes what is wanted of the block that begins there, and returns the sum of its weights.
template <class T>
double weigh_block(const TokenWeights& kernel, Index begin, Index count) {
  double *const weights = block_of(kernel.weights, begin), *scaled = block_of(kernel.scaled, begin);
  Double values[kDoubles];
  load_block(kernel.x.as<T>() + begin, count, values);
  Double sums{};
  const double lead = kernel.largest / kernel.temperature;
  for (Index i = 0; i < kDoubles; ++i) {
    const Double logits = kernel.temperature == 1 ? values[i] : values[i] / kernel.temperature;
    const Double eight = power_of_e(logits - lead);
    sums += eight;
    const Index left = count - i * kDoubles;
    store(eight, weights == nullptr ? nullptr : weights + i * kDoubles, left);
    store(logits, scaled == nullptr ? nullptr : scaled + i * kDoubles, left);
  }
  double sum = 0;
  for (Index i = 0; i < kDoubles; ++i) {
    sum += sums[i];
  }
  return sum;
}

template <class F>
void visit_type(DType type, F&& f) {
  MPITRON_CHECK(type == DType::f32 || type == DType::f64, name_of(type));
  type == DType::f32 ? f.template operator()<float>() : f.template operator()<double>();
}

template <class F>
void for_blocks_of_tokens(Index v, Index work, F&& f) {
  for_blocks(token_blocks(v), work, [&](Index block) {
    const Index begin = block * kTokenBlock;
    f(block, begin, std::min(kTokenBlock, v - begin));
  });
}

}  // namespace

void run(device::HostStream&, const BlockMaxima& kernel) {
  const Index v = kernel.x.numel();
  visit_type(kernel.x.dtype, [&]<class T>() {
    for_blocks_of_tokens(v, v / 4, [&](Index block, Index begin, Index count) {
      kernel.maxima.as<T>()[block] = largest_of(kernel.x.as<T>() + begin, count);
    });
  });
}

void run(device::HostStream&, const TokenWeights& kernel) {
  const Index v = kernel.x.numel();
  visit_type(kernel.x.dtype, [&]<class T>() {
    for_blocks_of_tokens(v, 4 * v, [&](Index block, Index begin, Index count) {
      kernel.sums.as<double>()[block] = weigh_block<T>(kernel, begin, count);
    });
  });
}

}  // namespace mpitron::kernels
