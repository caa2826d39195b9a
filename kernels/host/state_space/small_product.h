#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/host/linear/transpose.h"
#include "utils/numbers/float16.h"
#include "utils/numbers/shape.h"

// Products of fp32 or fp64 matrices that stay in the caches, and what stands around them. Loops are
// written once, for vectors of 64 bytes and for the single numbers that rows end with.

namespace mpitron::kernels::host {

template <class Real>
struct LanesOf {
  using Type [[gnu::vector_size(64)]] = Real;
};
/// 64 bytes of numbers.
template <class Real>
using Lanes = typename LanesOf<Real>::Type;

template <class V, class Real>
[[gnu::always_inline]] inline V load_lanes(const Real* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class V, class Real>
[[gnu::always_inline]] inline void store_lanes(Real* to, const V& value) {
  std::memcpy(to, &value, sizeof value);
}

/// f<V>(i) for i from 0 on, below n: with V = Lanes<Real> as far as they go, then with V = Real.
template <class Real, class F>
[[gnu::always_inline]] inline void for_vectors(Index n, F&& f) {
  constexpr Index kLanes = 64 / Index{sizeof(Real)};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    f.template operator()<Lanes<Real>>(i);
  }
  for (; i < n; ++i) {
    f.template operator()<Real>(i);
  }
}

/// How far row i of a lower triangle of n columns is computed: to the end of its diagonal's vector,
/// where the row has all of that.
template <class Real>
Index row_end(Index i, Index n) {
  constexpr Index kLanes = 64 / Index{sizeof(Real)};
  const Index end = (i / kLanes + 1) * kLanes;
  return end <= n ? end : i + 1;
}

/// Sums of vectors and of single numbers.
template <class Real>
class LaneSum {
 public:
  [[gnu::always_inline]] void add(Lanes<Real> x) { lanes_ += x; }
  [[gnu::always_inline]] void add(Real x) { rest_ += x; }
  Real total() const {
    Real sum = rest_;
    for (std::size_t i = 0; i < 64 / sizeof(Real); ++i) {
      sum += lanes_[i];
    }
    return sum;
  }

 private:
  Lanes<Real> lanes_{};
  Real rest_ = 0;
};

/// The sum of a[i] b[i].
template <class Real>
Real inner(const Real* a, const Real* b, Index n) {
  LaneSum<Real> sum;
  for_vectors<Real>(
      n, [&]<class V>(Index i) { sum.add(load_lanes<V>(a + i) * load_lanes<V>(b + i)); });
  return sum.total();
}

/// to[i][j] = by(i) from[i][j], [count, columns]; may be in place.
template <class Real, class By>
void weigh_rows(Index count, Index columns, const Real* from, Real* to, By&& by) {
  for (Index i = 0; i < count; ++i, from += columns, to += columns) {
    std::transform(from, from + columns, to, [weight = by(i)](Real x) { return weight * x; });
  }
}

/// Numbers of one type that begin with a cache line, kept from use to use.
template <class Real>
class Scratch {
 public:
  /// n numbers, of any value.
  Real* room(Index n) {
    constexpr Index kLanes = 64 / Index{sizeof(Real)};
    const auto vectors = static_cast<std::size_t>((n + kLanes - 1) / kLanes);
    if (values_.size() < vectors) {
      values_.resize(vectors);
    }
    return data();
  }
  Real* zeros(Index n) {
    std::fill_n(room(n), n, Real(0));
    return data();
  }
  Real* data() { return reinterpret_cast<Real*>(values_.data()); }

 private:
  std::vector<Lanes<Real>> values_;
};

/// A factor as multiply_in_tiles takes it: the nearest bf16 of its numbers and what these lack.
struct FactorTiles {
  Scratch<float> high, low;
  bool exact = true;  // nothing lacks
  bool made = false;  // of the numbers that the factor has now
};

/// The left factor of a product: element (i, l) stands at data[i * row + l * column]. One that
/// serves several products has tiles of its own, which its numbers' owner marks as not made when
/// they change.
template <class Real>
struct LeftFactor {
  const Real* data;
  Index row, column;
  FactorTiles* kept = nullptr;
};

template <class Real>
LeftFactor<Real> as_it_is(const Real* data, Index columns, FactorTiles* kept = nullptr) {
  return {data, columns, 1, kept};
}
template <class Real>
LeftFactor<Real> turned(const Real* data, Index columns, FactorTiles* kept = nullptr) {
  return {data, 1, columns, kept};
}

/// Numbers [count, columns] that are the left factor of several products.
template <class Real>
class LeftRows {
 public:
  /// Room for other numbers than there were.
  Real* room(Index count, Index columns) {
    columns_ = columns, rows_.made = turned_.made = false;
    return numbers_.room(count * columns);
  }
  Real* data() { return numbers_.data(); }
  LeftFactor<Real> as_it_is() { return host::as_it_is<Real>(data(), columns_, &rows_); }
  LeftFactor<Real> turned() { return host::turned<Real>(data(), columns_, &turned_); }

 private:
  Index columns_ = 0;
  Scratch<Real> numbers_;
  FactorTiles rows_, turned_;
};

/// What of a product need not be computed: where the left factor is 0 above its diagonal (`lower`)
/// or below (`upper`); or that above the diagonal of the result, which then holds anything from
/// row_end on.
enum class Triangle { none, lower, upper, lower_result };

/// c [m, n] of a [m, k] and b [k, n].
struct ProductSize {
  Index m, n, k;
  Triangle triangle = Triangle::none;
};

namespace detail {

/// kRows x kCount vectors or numbers of c in registers, over steps [first, last).
template <bool kAdds, class V, Index kRows, Index kCount, class Real>
void product_block(Index first, Index last, const LeftFactor<Real>& a, const Real* b, Real* c,
                   Index columns) {
  constexpr Index kLanes = sizeof(V) / sizeof(Real);
  V sums[kRows][kCount] = {};
  for (Index l = first; l < last; ++l) {
    V values[kCount];
#pragma GCC unroll 4
    for (Index j = 0; j < kCount; ++j) {
      values[j] = load_lanes<V>(b + l * columns + j * kLanes);
    }
#pragma GCC unroll 6
    for (Index i = 0; i < kRows; ++i) {
      const Real factor = a.data[i * a.row + l * a.column];
#pragma GCC unroll 4
      for (Index j = 0; j < kCount; ++j) {
        sums[i][j] += factor * values[j];
      }
    }
  }
#pragma GCC unroll 6
  for (Index i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (Index j = 0; j < kCount; ++j) {
      Real* const to = c + i * columns + j * kLanes;
      store_lanes(to, kAdds ? load_lanes<V>(to) + sums[i][j] : sums[i][j]);
    }
  }
}

/// kRows rows of c from `row` on.
template <bool kAdds, Index kRows, class Real>
void product_rows(const ProductSize& size, Index row, const LeftFactor<Real>& a, const Real* b,
                  Real* c) {
  constexpr Index kLanes = 64 / Index{sizeof(Real)};
  const Index n = size.n, end = row + kRows;
  const Index first = size.triangle == Triangle::upper ? std::min(row, size.k) : 0;
  const Index last = size.triangle == Triangle::lower ? std::min(end, size.k) : size.k;
  const Index wanted = size.triangle == Triangle::lower_result ? std::min(end, n) : n;
  const LeftFactor<Real> rows{a.data + row * a.row, a.row, a.column};
  Real* const to = c + row * n;
  for (Index j = 0; j < wanted;) {
    const auto block = [&]<class V, Index kCount>(std::integral_constant<Index, kCount>, V) {
      product_block<kAdds, V, kRows, kCount>(first, last, rows, b + j, to + j, n);
      j += kCount * Index{sizeof(V) / sizeof(Real)};
    };
    if (j + 4 * kLanes <= n && j + 2 * kLanes < wanted) {
      block(std::integral_constant<Index, 4>(), Lanes<Real>());
    } else if (j + 2 * kLanes <= n && j + kLanes < wanted) {
      block(std::integral_constant<Index, 2>(), Lanes<Real>());
    } else if (j + kLanes <= n) {
      block(std::integral_constant<Index, 1>(), Lanes<Real>());
    } else {
      block(std::integral_constant<Index, 1>(), Real());
    }
  }
}

template <bool kAdds, class Real>
void product(const ProductSize& size, const LeftFactor<Real>& a, const Real* b, Real* c) {
  for (Index row = 0; row < size.m;) {
    const auto rows = [&]<Index kRows>(std::integral_constant<Index, kRows>) {
      product_rows<kAdds, kRows>(size, row, a, b, c);
      row += kRows;
    };
    if (size.m - row >= 6) {
      rows(std::integral_constant<Index, 6>());
    } else if (size.m - row >= 4) {
      rows(std::integral_constant<Index, 4>());
    } else if (size.m - row >= 2) {
      rows(std::integral_constant<Index, 2>());
    } else {
      rows(std::integral_constant<Index, 1>());
    }
  }
}

}  // namespace detail

/// The product in tiles of bf16 (AMX); false, with nothing done, where the processor has none or
/// the sizes are not whole tiles. A factor that is not bf16 enters as a sum of two, to 2^-17
/// relative; where both do, the product of the smaller parts is left out.
bool multiply_in_tiles(const ProductSize& size, const LeftFactor<float>& a, const float* b,
                       bool adds, float* c);

/// c [m, n] += a b, rows of b and c contiguous. T is the type of the numbers in memory from which
/// the factors were made. Without tiles, sums run over k in order, whatever m and n are. What a
/// triangle excludes may still be read.
template <class T, class Real>
void add_product(const ProductSize& size, const LeftFactor<Real>& a, const Real* b, Real* c) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    if (multiply_in_tiles(size, a, b, true, c)) {
      return;
    }
  }
  detail::product<true>(size, a, b, c);
}
/// c [m, n] = a b.
template <class T, class Real>
void set_product(const ProductSize& size, const LeftFactor<Real>& a, const Real* b, Real* c) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    if (multiply_in_tiles(size, a, b, false, c)) {
      return;
    }
  }
  detail::product<false>(size, a, b, c);
}

/// to [columns, rows] = from [rows, columns], turned.
template <class Real>
void turn(Index rows, Index columns, const Real* from, Real* to) {
  if constexpr (sizeof(Real) == sizeof(std::uint32_t)) {
    run_transpose(Transpose<std::uint32_t>{reinterpret_cast<const std::uint32_t*>(from), rows,
                                           columns, columns, reinterpret_cast<std::uint32_t*>(to),
                                           rows});
  } else {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        to[j * rows + i] = from[i * columns + j];
      }
    }
  }
}

}  // namespace mpitron::kernels::host
