#pragma once
#include <type_traits>

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/views.h"

// Four vectors side by side. A processor starts what waits for nothing, but of a long chain of
// operations, such as a sigmoid, its window holds hardly more than two or three: most of the time
// it would wait for results. Here each step of a chain is done for all vectors before the next one
// begins. Every number gets the bits that a vector alone would give it. bf16 is written by whole
// cache lines, with half the instructions.

namespace mpitron::kernels::host {

struct Several {
  static constexpr int kCount = 4;
  simd::Float v[kCount];
};

/// Which lanes of several vectors lie inside a row: all. Beside simd::Full and simd::Part.
struct Whole {
  static constexpr Index count = Several::kCount * simd::kLanes;
};

namespace detail {
template <int i, class Arg>
[[gnu::always_inline]] inline simd::Float vector_of(const Arg& x) {
  if constexpr (std::is_same_v<Arg, Several>) {
    return x.v[i];
  } else {
    return x;
  }
}
}  // namespace detail

/// f of single vectors, or of those of several with each other: then one step, which the compiler
/// does not mix with what comes next.
template <class F, class... Args>
[[gnu::always_inline]] inline auto step(F f, const Args&... args) {
  if constexpr ((std::is_same_v<Args, Several> || ...)) {
    simd::Float a = f(detail::vector_of<0>(args)...), b = f(detail::vector_of<1>(args)...);
    simd::Float c = f(detail::vector_of<2>(args)...), d = f(detail::vector_of<3>(args)...);
#ifdef __AVX512F__
    asm("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d));
#endif
    return Several{{a, b, c, d}};
  } else {
    return f(args...);
  }
}

template <class T, class Lanes>
[[gnu::always_inline]] inline auto read(const T* p, Lanes lanes) {
  if constexpr (std::is_same_v<Lanes, Whole>) {
    constexpr Index kNext = simd::kLanes;
    return Several{{simd::load(p), simd::load(p + kNext), simd::load(p + 2 * kNext),
                    simd::load(p + 3 * kNext)}};
  } else {
    return simd::load(p, lanes);
  }
}

/// store(p, x, lanes) of one vector or several.
template <class Store, class T, class V, class Lanes>
[[gnu::always_inline]] inline void write(Store store, T* p, const V& x, Lanes lanes) {
  if constexpr (!std::is_same_v<V, Several>) {
    store(p, x, lanes);
#ifdef __AVX512BF16__
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    for (int i = 0; i < Several::kCount; i += 2) {
      const auto line = (__m512i)_mm512_cvtne2ps_pbh(x.v[i + 1], x.v[i]);
      auto* const to = reinterpret_cast<__m512i*>(p + i * simd::kLanes);
      if constexpr (std::is_same_v<Store, StreamStore>) {
        _mm512_stream_si512(to, line);
      } else {
        _mm512_storeu_si512(to, line);
      }
    }
#endif
  } else {
    for (int i = 0; i < Several::kCount; ++i) {
      store(p + i * simd::kLanes, x.v[i], simd::Full{});
    }
  }
}
template <class V, class Lanes>
[[gnu::always_inline]] inline void write(float* p, const V& x, Lanes lanes) {
  write(PlainStore{}, p, x, lanes);
}

/// Fetches each line of what these lanes read kFetchedAhead bytes later.
template <class T, class Lanes>
[[gnu::always_inline]] inline void fetch_lines_ahead(const T* x, Lanes) {
  if constexpr (std::is_same_v<Lanes, Whole>) {
    constexpr Index kLine = 64 / Index{sizeof(T)};
    for (Index i = 0; i < Whole::count; i += kLine) {
      fetch_ahead(x + i);
    }
  } else {
    fetch_ahead(x);
  }
}

/// Whether a kernel of numbers of type T takes several vectors at a time. With fp32 it has fewer
/// operations for each byte, and was measured to lose 7 to 15 %.
template <class T>
inline constexpr bool kTakesSeveral = sizeof(T) == 2;

/// Calls f(i, lanes) for a row of n numbers of type T: several vectors at a time, if it pays, then
/// as simd::for_lanes.
template <class T, class F>
[[gnu::always_inline]] inline void for_several(Index n, F&& f) {
  const Index whole = kTakesSeveral<T> ? n / Whole::count * Whole::count : 0;
  for (Index i = 0; i < whole; i += Whole::count) {
    f(i, Whole{});
  }
  simd::for_lanes(
      n - whole, [&](Index i, auto lanes) __attribute__((always_inline)) { f(whole + i, lanes); });
}

/// The sum over a row with the bits of simd::row_sums: f(i, lanes, sum) adds to `sum`, whose type
/// is that of what it reads.
template <class T, class F>
[[gnu::always_inline]] inline float row_sum(Index n, F&& f) {
  if constexpr (!kTakesSeveral<T>) {
    const auto [sum] = simd::row_sums<1>(
        n, [&](Index i, auto lanes, auto& sums)
               __attribute__((always_inline)) { f(i, lanes, sums[0]); });
    return sum;
  }
  Several sums{};
  for_several<T>(
      n, [&](Index i, auto lanes) __attribute__((always_inline)) {
        if constexpr (std::is_same_v<decltype(lanes), Whole>) {
          f(i, lanes, sums);
        } else {
          f(i, lanes, sums.v[std::is_same_v<decltype(lanes), simd::Part> ? 1 : 0]);
        }
      });
  return simd::lane_sum((sums.v[0] + sums.v[1]) + (sums.v[2] + sums.v[3]));
}

}  // namespace mpitron::kernels::host
