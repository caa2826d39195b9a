// Normalises rows (RMS norm, layer norm) on the host, forward and backward. A row is passed over
// twice: for its sums, and for its results, which find it in a cache. Gradients of gamma and beta
// are summed in blocks of rows that depend on the shape alone, so threads do not change bits
// (row_blocks.h: BlockSums).
#include "kernels/elementwise/norm.h"

#include <cmath>
#include <vector>

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/row_blocks.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

// Costs a row of reads and writes from memory; the passes after the first find it in L1 or L2.

constexpr Index kWork = 2;

/// A row of weights in fp32, widened once for all rows: data + offset, or 1 without data. It starts
/// with a cache line, so that no load of a vector takes two.
class Weights {
 public:
  Weights(const device::ConstTensorView& weights, float offset, Index h)
      : values_(static_cast<std::size_t>(h / simd::kLanes + 1), simd::splat(1.f)) {
    if (weights) {
      visit_dtype(weights.dtype, [&]<class T>() {
        simd::for_lanes(h, [&, data = weights.as<T>()](Index i, auto lanes) {
          values_[static_cast<std::size_t>(i / simd::kLanes)] =
              simd::load(data + i, lanes) + offset;
        });
      });
    }
  }
  const float* data() const { return reinterpret_cast<const float*>(values_.data()); }

 private:
  std::vector<Float> values_;
};

/// Runs beside a pass over a row where there is nothing else to do.
constexpr auto kNothing = [](Index, auto) {};

/// Rows of 16-bit types have more to compute: side by side they gain up to a quarter. Rows of fp32
/// were measured to lose, with twice the streams from and to memory.
template <class T>
constexpr bool kSideBySide = sizeof(T) == 2;

/// Fetches the rows of x ahead in the two passes. One after the other they share in it, because a
/// pass that fetches nothing would leave the memory idle.
template <class T>
[[gnu::always_inline]] inline void fetch_in_first_pass(const T* x, Index i) {
  fetch_ahead(kSideBySide<T> ? x + i : x + i / 2);
}
template <class T>
[[gnu::always_inline]] inline void fetch_in_second_pass(const T* x, Index i, Index h) {
  if constexpr (!kSideBySide<T>) {
    fetch_ahead(x + (h + i) / 2);
  }
}

/// Passes over each row twice: measure(row, beside) for its sums, calling beside(i, lanes) on the
/// way; then results(row), which is called with (i, lanes) as well. With `side_by_side`, the second
/// pass over a row runs beside the first one over the next.
template <bool side_by_side, class Measure, class Results>
[[gnu::always_inline]] inline void for_rows(Index begin, Index end, Index h, Measure measure,
                                            Results results) {
  if constexpr (side_by_side) {
    measure(begin, kNothing);
    for (Index row = begin + 1; row < end; ++row) {
      measure(row, results(row - 1));
    }
    simd::for_lanes(h, results(end - 1));
  } else {
    for (Index row = begin; row < end; ++row) {
      measure(row, kNothing);
      simd::for_lanes(h, results(row));
    }
  }
}

// ---------------------------------------------------------------------------------------------
// forward

/// The mean of a row's squares, for RMS norm.
template <class Tx, class Beside>
[[gnu::always_inline]] inline float mean_square(const Tx* x, Index h, Beside beside) {
  const auto [sum] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& acc) {
    fetch_in_first_pass(x, i);
    const Float v = simd::load(x + i, lanes);
    acc[0] = simd::fma(v, v, acc[0]);
    beside(i, lanes);
  });
  return sum / static_cast<float>(h);
}

struct Moments {
  float mean, variance;
};

/// Mean and variance of a row in one pass over deviations from a pivot, the mean of the first 64
/// elements: by Cauchy and Schwarz (mean - pivot)^2 <= variance h / 64, which bounds what cancels
/// in the last line.
template <class Tx, class Beside>
[[gnu::always_inline]] inline Moments moments(const Tx* x, Index h, Beside beside) {
  const Index head = std::min<Index>(h, 64);
  const auto [head_sum] = simd::row_sums<1>(
      head, [&](Index i, auto lanes, auto& acc) { acc[0] += simd::load(x + i, lanes); });
  const float pivot = head_sum / static_cast<float>(head);
  const auto [sum, squares] = simd::row_sums<2>(h, [&](Index i, auto lanes, auto& acc) {
    fetch_in_first_pass(x, i);
    const Float d = simd::inside(simd::load(x + i, lanes) - pivot, lanes);
    acc[0] += d;
    acc[1] = simd::fma(d, d, acc[1]);
    beside(i, lanes);
  });
  const float shift = sum / static_cast<float>(h);
  const float variance = squares / static_cast<float>(h) - shift * shift;
  return {pivot + shift, std::max(variance, 0.f)};
}

template <class Tx, class Ty>
void rms_norm(const RmsNormForward& k) {
  const Rows<const Tx> xs(k.x);
  const Rows<Ty> ys(k.y);
  float* rstds = k.rstd.as<float>();
  const Index h = k.x.size(-1);
  const Weights weights(k.gamma, k.gamma_offset, h);
  for_ranges(row_count(k.x), k.x.numel() * kWork, [&](Index begin, Index end) {
    with_store(should_stream(k.y, ys, k.x), [&](auto store) {
      const auto measure = [&](Index row, auto beside) {
        rstds[row] = 1.f / std::sqrt(mean_square(xs[row], h, beside) + k.eps);
      };
      const auto results = [&](Index row) {
        return [=, x = xs[row], y = ys[row], rstd = rstds[row], gamma = weights.data()](
                   Index i, auto lanes) {
          fetch_in_second_pass(x, i, h);
          store(y + i, simd::load(x + i, lanes) * rstd * simd::load(gamma + i, lanes), lanes);
        };
      };
      for_rows<kSideBySide<Tx>>(begin, end, h, measure, results);
    });
  });
}

template <class Tx, class Ty>
void layer_norm(const LayerNormForward& k) {
  const Rows<const Tx> xs(k.x);
  const Rows<Ty> ys(k.y);
  float *means = k.mean.as<float>(), *rstds = k.rstd.as<float>();
  const Index h = k.x.size(-1);
  const Weights weights(k.gamma, k.gamma_offset, h), biases(k.beta, 0, h);
  for_ranges(row_count(k.x), k.x.numel() * kWork, [&](Index begin, Index end) {
    with_store(should_stream(k.y, ys, k.x), [&](auto store) {
      const auto measure = [&](Index row, auto beside) {
        const Moments m = moments(xs[row], h, beside);
        means[row] = m.mean;
        rstds[row] = 1.f / std::sqrt(m.variance + k.eps);
      };
      const auto results = [&](Index row) {
        const Float rstd = simd::splat(rstds[row]), shift = simd::splat(-means[row] * rstds[row]);
        return [=, x = xs[row], y = ys[row], gamma = weights.data(), beta = biases.data()](
                   Index i, auto lanes) {
          fetch_in_second_pass(x, i, h);
          const Float normal = simd::fma(simd::load(x + i, lanes), rstd, shift);
          const Float weight = simd::load(gamma + i, lanes), bias = simd::load(beta + i, lanes);
          store(y + i, simd::fma(normal, weight, bias), lanes);
        };
      };
      for_rows<kSideBySide<Tx>>(begin, end, h, measure, results);
    });
  });
}

// ---------------------------------------------------------------------------------------------
// backward

/// The arguments of one row of a backward pass; rms norm leaves `shift` zero.
template <class Tx, class Ty>
struct BackwardRow {
  const Tx *x, *add;
  const Ty* dy;
  Tx* dx;
  float rstd, shift;    // x rstd + shift is the normalised row
  float slope, offset;  // of the second pass

  /// Sets the second pass's factors from the sums over g normal and g, where g = dy gamma.
  void set_sums(float dot, float sum, Index h) {
    const float scale = -rstd / static_cast<float>(h);
    slope = dot * scale * rstd;
    offset = std::fma(shift, dot * scale, sum * scale);
  }
};

/// Both norms, by their views; `centred` is layer norm.
template <class Tx, class Ty, bool centred>
struct Backward {
  Rows<const Tx> x, add;
  Rows<const Ty> dy;
  Rows<Tx> dx;
  const float* gamma;  // effective
  const float *mean, *rstd;
  Index h, t;

  BackwardRow<Tx, Ty> operator[](Index row) const {
    const float r = rstd[row], shift = centred ? -mean[row] * r : 0.f;
    return {x[row], add ? add[row] : nullptr, dy[row], dx[row], r, shift, 0, 0};
  }

  /// Makes the first pass over a row: its sums, and what it adds to dgamma and dbeta (or null).
  template <class Beside>
  [[gnu::always_inline]] void sum(BackwardRow<Tx, Ty>& row, float* dgamma, Beside beside) const {
    const Float rstd_lanes = simd::splat(row.rstd), shift = simd::splat(row.shift);
    Float dot{}, sum{};
    simd::for_lanes(h, [&, x = row.x, dy = row.dy, gamma = gamma](Index i, auto lanes) {
      fetch_in_first_pass(x, i);
      fetch_in_first_pass(dy, i);
      const Float normal = simd::fma(simd::load(x + i, lanes), rstd_lanes, shift);
      const Float d = simd::load(dy + i, lanes);
      const Float g = d * simd::load(gamma + i, lanes);
      dot = simd::fma(g, normal, dot);
      if (dgamma != nullptr) {
        simd::store(dgamma + i, simd::fma(d, normal, simd::load(dgamma + i, lanes)), lanes);
      }
      if constexpr (centred) {
        sum += g;
        if (dgamma != nullptr) {
          simd::store(dgamma + h + i, simd::load(dgamma + h + i, lanes) + d, lanes);
        }
      }
      beside(i, lanes);
    });
    row.set_sums(simd::lane_sum(dot), simd::lane_sum(sum), h);
  }

  /// Makes the second pass over a row: dx = rstd (g - mean(g) - normal mean(g normal)) + dx_add.
  template <class Store>
  [[gnu::always_inline]] auto results(Store store, const BackwardRow<Tx, Ty>& row) const {
    const Float rstd = simd::splat(row.rstd), slope = simd::splat(row.slope);
    const Float offset = simd::splat(row.offset);
    return [=, x = row.x, dy = row.dy, add = row.add, dx = row.dx, gamma = gamma, h = h](
               Index i, auto lanes) {
      fetch_in_second_pass(x, i, h);
      fetch_in_second_pass(dy, i, h);
      const Float g = simd::load(dy + i, lanes) * simd::load(gamma + i, lanes);
      if (add != nullptr) {
        fetch_ahead(add + i);
      }
      const Float inner = simd::fma(simd::load(x + i, lanes), slope, offset);
      const Float gradient = simd::fma(g, rstd, inner);
      store(dx + i, add == nullptr ? gradient : simd::load(add + i, lanes) + gradient, lanes);
    };
  }

  /// Runs all rows. `sums` collects those of dgamma, and with layer norm of dbeta beside it; null
  /// where no gradient of a weight is wanted.
  void run(BlockSums* sums, bool streaming) const {
    const Index block = BlockSums::rows_of(t), width = centred ? 2 * h : h;
    for_ranges(BlockSums::count_of(t), 2 * kWork * t * h, [&](Index first, Index last) {
      const Index begin = first * block, end = std::min(t, last * block);
      with_store(streaming, [&](auto store) {
        // With rows side by side, results(store, current) has copied the arguments of the row
        // before when measure moves on to the next.
        BackwardRow<Tx, Ty> current;
        const auto measure = [&](Index row, auto beside) {
          current = (*this)[row];
          float* dgamma = sums != nullptr ? (*sums)[row / block] : nullptr;
          if (dgamma != nullptr && row % block == 0) {
            std::fill_n(dgamma, width, 0.f);
          }
          sum(current, dgamma, beside);
          if (dgamma != nullptr && (row + 1 == end || (row + 1) % block == 0)) {
            sums->finish(row / block, first);
          }
        };
        for_rows<kSideBySide<Tx>>(begin, end, h, measure,
                                  [&](Index) { return results(store, current); });
      });
    });
  }
};

template <class Tx, class Ty>
void rms_norm(const RmsNormBackward& k) {
  const Weights gamma(k.gamma, k.gamma_offset, k.x.size(-1));
  const Backward<Tx, Ty, false> backward{Rows<const Tx>(k.x),  Rows<const Tx>(k.dx_add),
                                         Rows<const Ty>(k.dy), Rows<Tx>(k.dx),
                                         gamma.data(),         nullptr,
                                         k.rstd.as<float>(),   k.x.size(-1),
                                         row_count(k.x)};
  const bool streaming = should_stream(k.dx, backward.dx, k.x, k.dy, k.dx_add);
  if (k.dgamma) {
    BlockSums sums(backward.t, backward.h, k.workspace);
    backward.run(&sums, streaming);
    sums.total(0, k.dgamma, k.accumulate);
  } else {
    backward.run(nullptr, streaming);
  }
}

template <class Tx, class Ty>
void layer_norm(const LayerNormBackward& k) {
  const Weights gamma(k.gamma, k.gamma_offset, k.x.size(-1));
  const Backward<Tx, Ty, true> backward{
      Rows<const Tx>(k.x), Rows<const Tx>(k.dx_add), Rows<const Ty>(k.dy), Rows<Tx>(k.dx),
      gamma.data(),        k.mean.as<float>(),       k.rstd.as<float>(),   k.x.size(-1),
      row_count(k.x)};
  BlockSums sums(backward.t, 2 * backward.h, k.workspace);
  backward.run(&sums, should_stream(k.dx, backward.dx, k.x, k.dy, k.dx_add));
  sums.total(0, k.dgamma, k.accumulate);
  sums.total(backward.h, k.dbeta, k.accumulate);
}

}  // namespace

void run(device::HostStream&, const RmsNormForward& k) {
  visit_dtypes(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() { rms_norm<Tx, Ty>(k); });
}

void run(device::HostStream&, const RmsNormBackward& k) {
  MPITRON_CHECK(!k.dgamma || k.workspace, "dgamma wants a workspace");
  visit_dtypes(k.x.dtype, k.dy.dtype, [&]<class Tx, class Ty>() { rms_norm<Tx, Ty>(k); });
}

void run(device::HostStream&, const LayerNormForward& k) {
  visit_dtypes(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() { layer_norm<Tx, Ty>(k); });
}

void run(device::HostStream&, const LayerNormBackward& k) {
  MPITRON_CHECK(k.workspace, "layer_norm_backward wants a workspace");
  visit_dtypes(k.x.dtype, k.dy.dtype, [&]<class Tx, class Ty>() { layer_norm<Tx, Ty>(k); });
}

Index workspace_bytes(const device::HostStream&, const RmsNormBackward& k) {
  return k.dgamma ? BlockSums::workspace_bytes(row_count(k.x), k.x.size(-1)) : 0;
}

Index workspace_bytes(const device::HostStream&, const LayerNormBackward& k) {
  return BlockSums::workspace_bytes(row_count(k.x), 2 * k.x.size(-1));
}

}  // namespace mpitron::kernels
