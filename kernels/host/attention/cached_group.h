#pragma once
#include <cstring>

#include "kernels/host/attention/cached_bytes.h"
#include "kernels/host/common/largest_lane.h"
#include "kernels/host/common/views.h"

#if defined(__AVX512BF16__) && defined(__AVX512BW__)
#include "kernels/host/attention/attention_bf16_avx512.h"
#endif

// Multiplies queries by the keys of a group of neighbouring positions, and adds their values: the
// arithmetic of attention to a cache (cached_attention.cpp). One query takes keys and values as
// they lie in the cache; several share keys that are turned and values that are widened once. Both
// ways add in the same order, so that a query has the same bits alone and among others.

namespace mpitron::kernels::host::cached {

using simd::Float;
using simd::Int;
using simd::kLanes;

/// Positions that enter the softmax together.
inline constexpr Index kGroup = kLanes;

#if defined(__AVX512BF16__) && defined(__AVX512BW__)
/// Whether the processor multiplies pairs of bf16.
inline constexpr bool kPairProducts = true;
inline Float add_pairs(Float sum, Float a, Float b) {
  return (Float)attention::avx512::dot_pairs((__m512)a, (__m512)b, (__m512)sum);
}
/// Thirty-two numbers as bf16, behind each other.
inline Float pairs_of(Float first, Float second) {
  return (Float)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
}
#else
inline constexpr bool kPairProducts = false;
inline Float add_pairs(Float sum, Float /*a*/, Float /*b*/) {
  return sum;
}
inline Float pairs_of(Float first, Float /*second*/) {
  return first;
}
#endif

/// What products of keys of type T are made of: units of 32 bits, which are a number in fp32 or,
/// where queries are bf16 and the processor multiplies them, a pair of bf16, which holds numbers of
/// bf16 and of 8 bits.
template <class T, bool pairs = std::is_same_v<T, BFloat16>&& kPairProducts>
struct Units {
  static constexpr bool kPairs = pairs;
  static constexpr Index kNumbers = kPairs ? 2 : 1;
  /// Numbers of sixteen units, a vector.
  static constexpr Index kStep = kNumbers * kLanes;

  static Index steps(Index d) { return (d + kStep - 1) / kStep; }

  /// The units of kStep numbers.
  static Float load(const T* x) {
    if constexpr (kPairs && std::is_same_v<T, CachedByte>) {
      return pairs_of(numbers(x), numbers(x + kLanes));
    } else if constexpr (kPairs) {
      Float units;
      std::memcpy(&units, x, sizeof units);
      return units;
    } else {
      return numbers(x);
    }
  }
  /// The units from number j of x[0 .. d) on; zeros beyond.
  static Float load(const T* x, Index j, Index d) {
    const Index left = d - j;
    if (left >= kStep) {
      return load(x + j);
    }
    if constexpr (kPairs && std::is_same_v<T, CachedByte>) {
      CachedByte bytes[kStep] = {};
      std::copy_n(x + j, left, bytes);
      return load(bytes);
    } else if constexpr (kPairs) {
      Float units{};
      std::memcpy(&units, x + j, static_cast<std::size_t>(left) * sizeof(T));
      return units;
    } else {
      return numbers(x + j, simd::Part{left});
    }
  }
  static Float add(Float sum, Float a, Float b) {
    if constexpr (kPairs) {
      return add_pairs(sum, a, b);
    } else {
      return simd::fma(a, b, sum);
    }
  }
  static Float splat(const float* unit) {
    std::int32_t bits = 0;
    std::memcpy(&bits, unit, sizeof bits);
    return (Float)(Int{} + bits);
  }
};

/// Exchanges lanes that `distance` parts with vectors that it parts.
template <int distance, int... lane>
void exchange(Float& a, Float& b, std::integer_sequence<int, lane...>) {
  const Float x = a, y = b;
  a = __builtin_shufflevector(x, y, ((lane & distance) != 0 ? kLanes + lane - distance : lane)...);
  b = __builtin_shufflevector(x, y, ((lane & distance) != 0 ? kLanes + lane : lane + distance)...);
}
template <int distance>
void exchange_all(Float (&x)[kLanes]) {
  for (int i = 0; i < kLanes; ++i) {
    if ((i & distance) == 0) {
      exchange<distance>(x[i], x[i + distance], std::make_integer_sequence<int, kLanes>());
    }
  }
}
/// Makes rows of sixteen vectors columns.
inline void turn(Float (&x)[kLanes]) {
  exchange_all<8>(x);
  exchange_all<4>(x);
  exchange_all<2>(x);
  exchange_all<1>(x);
}

/// Neighbouring rows of a cache.
template <class T>
struct Rows {
  const T* data;
  Index stride, count, size;             // `size` numbers each
  const std::uint8_t* scales = nullptr;  // of bytes, one a row

  const T* row(Index i) const { return data + i * stride; }
};

/// Numbers of sixteen positions, a lane each, times the scales of their rows; 0 beyond these.
template <class T>
Float times_scales(Float x, const Rows<T>& rows) {
  if constexpr (std::is_same_v<T, CachedByte>) {
    return x * factors(rows.scales, rows.count);
  } else {
    return x;
  }
}

/// Scores of a query, given in units, at up to sixteen positions, without their scales; 0 beyond.
/// Sixteen units are added side by side, and these sums as in simd::lane_sum.
template <class T, class U = Units<T>>
Float multiply_keys(const float* query, const Rows<T>& keys) {
  Float sums[kLanes]{};
  const auto multiply = [&](Index i) {
    Index j = 0;
    for (; j + U::kStep <= keys.size; j += U::kStep) {
      sums[i] = U::add(sums[i], U::load(keys.row(i) + j), simd::load(query + j / U::kNumbers));
    }
    if (j < keys.size) {
      sums[i] =
          U::add(sums[i], U::load(keys.row(i), j, keys.size), simd::load(query + j / U::kNumbers));
    }
  };
  if (keys.count == kGroup) {
    for (Index i = 0; i < kGroup; ++i) {
      multiply(i);
    }
  } else {
    for (Index i = 0; i < keys.count; ++i) {
      multiply(i);
    }
  }
  return simd::lane_sums(sums);
}

/// Stores the keys of sixteen positions unit by unit, [steps, 16 units, 16 positions].
template <class T, class U = Units<T>>
void turn_keys(const Rows<T>& keys, float* turned) {
  for (Index j = 0; j < keys.size; j += U::kStep, turned += kLanes * kLanes) {
    Float x[kLanes];
    for (Index i = 0; i < kLanes; ++i) {
      x[i] = i < keys.count ? U::load(keys.row(i), j, keys.size) : Float{};
    }
    turn(x);
    for (Index i = 0; i < kLanes; ++i) {
      simd::store(turned + i * kLanes, x[i]);
    }
  }
}

/// The same scores by turned keys, of Q queries that lie `stride` units apart: a lane is a position
/// here, and lanes of the sums above are sums `unit`, unit + distance, .. of sixteen.
template <class U, int Q, int unit = 0, int distance = 1>
[[gnu::always_inline]] inline void multiply_turned(const float* turned, Index steps,
                                                   const float* queries, Index stride,
                                                   Float (&sums)[Q]) {
  if constexpr (distance == kLanes) {
    for (Float& sum : sums) {
      sum = Float{};
    }
    for (Index step = 0; step < steps; ++step) {
      const Index at = step * kLanes + unit;
      const Float keys = simd::load(turned + at * kLanes);
      for (int q = 0; q < Q; ++q) {
        sums[q] = U::add(sums[q], keys, U::splat(queries + q * stride + at));
      }
    }
  } else {
    Float others[Q];
    multiply_turned<U, Q, unit, 2 * distance>(turned, steps, queries, stride, sums);
    multiply_turned<U, Q, unit + distance, 2 * distance>(turned, steps, queries, stride, others);
    for (int q = 0; q < Q; ++q) {
      sums[q] += others[q];
    }
  }
}

/// Stores values in fp32, without their scales, in rows of whole vectors.
template <class T>
void widen_values(const Rows<T>& values, float* wide, Index stride) {
  for (Index i = 0; i < values.count; ++i) {
    simd::for_lanes(values.size, [&](Index j, auto lanes) {
      simd::store(wide + i * stride + j, numbers(values.row(i) + j, lanes));
    });
  }
}

/// Powers [Q, 16], times scales of values, by which values are weighted, and the sums to which they
/// are added, of Q queries.
struct Weighted {
  const float* powers;
  Index power_stride;
  float* sums;
  Index sum_stride;
};

/// Adds V vectors of the values from number j on: position after position.
template <int Q, int V, class T, class Lanes>
[[gnu::always_inline]] inline void add_columns(const Rows<T>& values, Index j, const Weighted& to,
                                               Lanes lanes) {
  Float sum[Q][V];
  for (int q = 0; q < Q; ++q) {
    for (int v = 0; v < V; ++v) {
      sum[q][v] = simd::load(to.sums + q * to.sum_stride + j + v * kLanes);
    }
  }
  for (Index i = 0; i < values.count; ++i) {
    Float value[V];
    for (int v = 0; v < V; ++v) {
      value[v] = numbers(values.row(i) + j + v * kLanes, lanes);
    }
    for (int q = 0; q < Q; ++q) {
      const Float power = simd::splat(to.powers[q * to.power_stride + i]);
      for (int v = 0; v < V; ++v) {
        sum[q][v] = simd::fma(value[v], power, sum[q][v]);
      }
    }
  }
  for (int q = 0; q < Q; ++q) {
    for (int v = 0; v < V; ++v) {
      simd::store(to.sums + q * to.sum_stride + j + v * kLanes, sum[q][v]);
    }
  }
}
template <int Q, class T>
void add_values(const Rows<T>& values, const Weighted& to) {
  constexpr int kVectors = 4;  // chains of additions that run side by side
  Index j = 0;
  for (; j + kVectors * kLanes <= values.size; j += kVectors * kLanes) {
    add_columns<Q, kVectors>(values, j, to, simd::Full{});
  }
  for (; j + kLanes <= values.size; j += kLanes) {
    add_columns<Q, 1>(values, j, to, simd::Full{});
  }
  if (j < values.size) {
    add_columns<Q, 1>(values, j, to, simd::Part{values.size - j});
  }
}

}  // namespace mpitron::kernels::host::cached
