#include "kernels/norm.h"

#include <cmath>

#include "kernels/host/row_blocks.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

// Costs a row of reads and writes from memory; the passes after the first find it in L1 or L2.

constexpr Index kWork = 2;

/// gamma + offset, or 1 without gamma.
template <class T>
struct Weight {
  const T* data;
  float offset;

  template <class Lanes>
  Float operator()(Index i, Lanes lanes) const {
    return data == nullptr ? simd::splat(1.f) : simd::load(data + i, lanes) + offset;
  }
};

/// Calls f<Tx, Ty, Tg>(): gamma is fp32 or as y.
template <class F>
void visit_norm_types(DType x, DType y, const device::ConstTensorView& gamma, F&& f) {
  MPITRON_CHECK(!gamma || gamma.dtype == y || gamma.dtype == DType::f32, name_of(gamma.dtype));
  visit_dtypes(x, y, [&]<class Tx, class Ty>() {
    if (gamma && gamma.dtype == y) {
      f.template operator()<Tx, Ty, Ty>();
    } else {
      f.template operator()<Tx, Ty, float>();
    }
  });
}

// ---------------------------------------------------------------------------------------------
// forward

// The statistics of a row are taken while the row before it is written: memory is read and written
// all the time, as by a copy, and both rows are in L1.

/// What is done beside the pass over a row, by default nothing.
struct Nothing {
  template <class Lanes>
  void operator()(Index, Lanes) const {}
};

template <class Tx, class Beside = Nothing>
[[gnu::always_inline]] inline float mean_square(const Tx* x, Index h, Beside&& beside = {}) {
  const auto [sum] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& acc) {
    const Float v = simd::load(x + i, lanes);
    acc[0] = simd::fma(v, v, acc[0]);
    beside(i, lanes);
  });
  return sum / static_cast<float>(h);
}

struct Moments {
  float mean, variance;
};

/// One pass over deviations from a pivot, the mean of the first 64 elements: by Cauchy and Schwarz
/// (mean - pivot)^2 <= variance h / 64, which bounds what cancels in the last line.
template <class Tx, class Beside = Nothing>
[[gnu::always_inline]] inline Moments moments(const Tx* x, Index h, Beside&& beside = {}) {
  const Index head = std::min<Index>(h, 64);
  const auto [head_sum] = simd::row_sums<1>(
      head, [&](Index i, auto lanes, auto& acc) { acc[0] += simd::load(x + i, lanes); });
  const float pivot = head_sum / static_cast<float>(head);
  const auto [sum, squares] = simd::row_sums<2>(h, [&](Index i, auto lanes, auto& acc) {
    const Float d = simd::inside(simd::load(x + i, lanes) - pivot, lanes);
    acc[0] += d;
    acc[1] = simd::fma(d, d, acc[1]);
    beside(i, lanes);
  });
  const float shift = sum / static_cast<float>(h);
  const float variance = squares / static_cast<float>(h) - shift * shift;
  return {pivot + shift, std::max(variance, 0.f)};
}

template <class Tx, class Ty, class Tg>
void rms_norm(const RmsNormForward& k) {
  const Rows<const Tx> xs(k.x);
  const Rows<Ty> ys(k.y);
  const Weight<Tg> gamma{k.gamma.as<Tg>(), k.gamma_offset};
  float* rstds = k.rstd.as<float>();
  const Index h = k.x.size(-1);
  for_ranges(row_count(k.x), k.x.numel() * kWork, [&](Index begin, Index end) {
    with_store(should_stream(k.y, ys, k.x), [&](auto store) {
      float mean = mean_square(xs[begin], h);
      for (Index row = begin; row < end; ++row) {
        const Tx* x = xs[row];
        Ty* y = ys[row];
        const float rstd = 1.f / std::sqrt(mean + k.eps);
        rstds[row] = rstd;
        mean = mean_square(xs[std::min(row + 1, end - 1)], h, [&](Index i, auto lanes) {
          store(y + i, simd::load(x + i, lanes) * rstd * gamma(i, lanes), lanes);
        });
      }
    });
  });
}

template <class Tx, class Ty, class Tg>
void layer_norm(const LayerNormForward& k) {
  const Rows<const Tx> xs(k.x);
  const Rows<Ty> ys(k.y);
  const Weight<Tg> gamma{k.gamma.as<Tg>(), k.gamma_offset};
  const Tg* beta = k.beta.as<Tg>();
  float *means = k.mean.as<float>(), *rstds = k.rstd.as<float>();
  const Index h = k.x.size(-1);
  for_ranges(row_count(k.x), k.x.numel() * kWork, [&](Index begin, Index end) {
    with_store(should_stream(k.y, ys, k.x), [&](auto store) {
      Moments m = moments(xs[begin], h);
      for (Index row = begin; row < end; ++row) {
        const Tx* x = xs[row];
        Ty* y = ys[row];
        const float rstd = 1.f / std::sqrt(m.variance + k.eps);
        means[row] = m.mean;
        rstds[row] = rstd;
        const Float scale = simd::splat(rstd), shift = simd::splat(-m.mean * rstd);
        m = moments(xs[std::min(row + 1, end - 1)], h, [&](Index i, auto lanes) {
          const Float normal = simd::fma(simd::load(x + i, lanes), scale, shift);
          store(y + i, simd::fma(normal, gamma(i, lanes), simd::load(beta + i, lanes)), lanes);
        });
      }
    });
  });
}

// ---------------------------------------------------------------------------------------------
// backward

/// Rows that share one pass over their block's partial sums. More of them fall out of L1, whose
/// sets all rows of a power of two share.
template <class T>
inline constexpr int kGroup = sizeof(T) == 4 ? 1 : 2;

/// The arguments of n rows of a backward pass, and the sums of its first pass.
template <class Tx, class Ty, int n>
struct BackwardRows {
  const Tx *x[n], *add[n];
  const Ty* dy[n];
  Tx* dx[n];
  float rstd[n], shift[n];    // x rstd + shift is the normalised row; rms norm leaves shift zero
  float slope[n], offset[n];  // of the second pass

  /// With the sums over g normal and g, where g = dy gamma: what the second pass needs.
  void set_sums(int r, float dot, float sum, Index h) {
    const float scale = -rstd[r] / static_cast<float>(h);
    slope[r] = dot * scale * rstd[r];
    offset[r] = std::fma(shift[r], dot * scale, sum * scale);
  }
  /// Second pass: dx = rstd (g - mean(g) - normal mean(g normal)) + dx_add.
  template <class Store, class Lanes>
  [[gnu::always_inline]] void finish(Store store, Index i, Float weight, Lanes lanes) const {
#pragma GCC unroll 2
    for (int r = 0; r < n; ++r) {
      const Float inner =
          simd::fma(simd::load(x[r] + i, lanes), simd::splat(slope[r]), simd::splat(offset[r]));
      const Float g = simd::load(dy[r] + i, lanes) * weight;
      const Float gradient = simd::fma(g, simd::splat(rstd[r]), inner);
      store(dx[r] + i, add[r] == nullptr ? gradient : simd::load(add[r] + i, lanes) + gradient,
            lanes);
    }
  }
};

/// Both norms, by their views; `centred` is layer norm. The first pass over a group of rows goes
/// beside the second pass over the group before it.
template <class Tx, class Ty, class Tg, bool centred>
struct Backward {
  Rows<const Tx> x, add;
  Rows<const Ty> dy;
  Rows<Tx> dx;
  Weight<Tg> gamma;
  const float *mean, *rstd;
  Index h, t;

  template <int n>
  BackwardRows<Tx, Ty, n> rows_at(Index first) const {
    BackwardRows<Tx, Ty, n> rows;
    for (int r = 0; r < n; ++r) {
      const Index row = first + r;
      rows.x[r] = x[row], rows.add[r] = add ? add[row] : nullptr;
      rows.dy[r] = dy[row], rows.dx[r] = dx[row];
      rows.rstd[r] = rstd[row];
      rows.shift[r] = centred ? -mean[row] * rstd[row] : 0.f;
    }
    return rows;
  }

  /// First pass: sums of each row, and what they add to dgamma and dbeta (or null).
  template <int n, class Beside>
  [[gnu::always_inline]] void sum(BackwardRows<Tx, Ty, n>& rows, float* dgamma,
                                  Beside&& beside) const {
    Float acc[n][2] = {};
    simd::for_lanes(h, [&](Index i, auto lanes) {
      const Float weight = simd::inside(gamma(i, lanes), lanes);
      Float dg = dgamma == nullptr ? Float{} : simd::load(dgamma + i, lanes);
      Float db = dgamma == nullptr || !centred ? Float{} : simd::load(dgamma + h + i, lanes);
#pragma GCC unroll 2
      for (int r = 0; r < n; ++r) {
        const Float normal = simd::fma(simd::load(rows.x[r] + i, lanes), simd::splat(rows.rstd[r]),
                                       simd::splat(rows.shift[r]));
        const Float d = simd::load(rows.dy[r] + i, lanes), g = d * weight;
        acc[r][0] = simd::fma(g, normal, acc[r][0]);
        dg = simd::fma(d, normal, dg);
        if constexpr (centred) {
          acc[r][1] += g;
          db += d;
        }
      }
      if (dgamma != nullptr) {
        simd::store(dgamma + i, dg, lanes);
        if constexpr (centred) {
          simd::store(dgamma + h + i, db, lanes);
        }
      }
      beside(i, weight, lanes);
    });
#pragma GCC unroll 2
    for (int r = 0; r < n; ++r) {
      rows.set_sums(r, simd::lane_sum(acc[r][0]), simd::lane_sum(acc[r][1]), h);
    }
  }

  /// Rows [begin, end) in groups of n, which divides their number.
  template <int n, class Store>
  void run_groups(Store store, Index begin, Index end, float* dgamma) const {
    if (begin == end) {
      return;
    }
    auto rows = rows_at<n>(begin);
    sum<n>(rows, dgamma, [](Index, Float, auto) {});
    for (Index next = begin + n; next < end; next += n) {
      const auto done = rows;
      rows = rows_at<n>(next);
      sum<n>(rows, dgamma,
             [&](Index i, Float weight, auto lanes) { done.finish(store, i, weight, lanes); });
    }
    simd::for_lanes(h, [&](Index i, auto lanes) { rows.finish(store, i, gamma(i, lanes), lanes); });
  }

  void run(const Out& workspace, bool streaming) const {
    const Index block = block_rows(t), width = centred ? 2 * h : h;
    MPITRON_CHECK(!workspace || workspace.bytes() >= block_count(t) * width * 4, workspace.bytes());
    auto* partials = static_cast<float*>(workspace.data);
    for_blocks(block_count(t), 2 * kWork * t * h, [&](Index index) {
      float* dgamma = workspace ? partials + index * width : nullptr;
      if (dgamma != nullptr) {
        std::fill_n(dgamma, width, 0.f);
      }
      constexpr int n = kGroup<Tx>;
      const Index begin = index * block, end = std::min(t, begin + block);
      const Index grouped = end - (end - begin) % n;
      with_store(streaming, [&](auto store) {
        run_groups<n>(store, begin, grouped, dgamma);
        run_groups<1>(store, grouped, end, dgamma);
      });
    });
  }
};

template <class Tx, class Ty, class Tg>
void rms_norm(const RmsNormBackward& k) {
  const Backward<Tx, Ty, Tg, false> backward{Rows<const Tx>(k.x),
                                             Rows<const Tx>(k.dx_add),
                                             Rows<const Ty>(k.dy),
                                             Rows<Tx>(k.dx),
                                             {k.gamma.as<Tg>(), k.gamma_offset},
                                             nullptr,
                                             k.rstd.as<float>(),
                                             k.x.size(-1),
                                             row_count(k.x)};
  backward.run(k.dgamma ? k.workspace : Out{},
               should_stream(k.dx, backward.dx, k.x, k.dy, k.dx_add));
  if (k.dgamma) {
    reduce_blocks(static_cast<const float*>(k.workspace.data), block_count(backward.t), backward.h,
                  k.dgamma, k.accumulate);
  }
}

template <class Tx, class Ty, class Tg>
void layer_norm(const LayerNormBackward& k) {
  const Backward<Tx, Ty, Tg, true> backward{Rows<const Tx>(k.x),
                                            Rows<const Tx>(k.dx_add),
                                            Rows<const Ty>(k.dy),
                                            Rows<Tx>(k.dx),
                                            {k.gamma.as<Tg>(), k.gamma_offset},
                                            k.mean.as<float>(),
                                            k.rstd.as<float>(),
                                            k.x.size(-1),
                                            row_count(k.x)};
  backward.run(k.workspace, should_stream(k.dx, backward.dx, k.x, k.dy, k.dx_add));
  const auto* partials = static_cast<const float*>(k.workspace.data);
  const Index blocks = block_count(backward.t), h = backward.h;
  reduce_blocks(partials, blocks, 2 * h, k.dgamma, k.accumulate);
  reduce_blocks(partials + h, blocks, 2 * h, k.dbeta, k.accumulate);
}

}  // namespace

void run(device::HostStream&, const RmsNormForward& k) {
  visit_norm_types(k.x.dtype, k.y.dtype, k.gamma,
                   [&]<class Tx, class Ty, class Tg>() { rms_norm<Tx, Ty, Tg>(k); });
}

void run(device::HostStream&, const RmsNormBackward& k) {
  MPITRON_CHECK(!k.dgamma || k.workspace, "dgamma wants a workspace");
  visit_norm_types(k.x.dtype, k.dy.dtype, k.gamma,
                   [&]<class Tx, class Ty, class Tg>() { rms_norm<Tx, Ty, Tg>(k); });
}

void run(device::HostStream&, const LayerNormForward& k) {
  MPITRON_CHECK(k.beta.dtype == k.gamma.dtype, name_of(k.beta.dtype), name_of(k.gamma.dtype));
  visit_norm_types(k.x.dtype, k.y.dtype, k.gamma,
                   [&]<class Tx, class Ty, class Tg>() { layer_norm<Tx, Ty, Tg>(k); });
}

void run(device::HostStream&, const LayerNormBackward& k) {
  MPITRON_CHECK(k.workspace, "layer_norm_backward wants a workspace");
  visit_norm_types(k.x.dtype, k.dy.dtype, k.gamma,
                   [&]<class Tx, class Ty, class Tg>() { layer_norm<Tx, Ty, Tg>(k); });
}

Index workspace_bytes(const device::HostStream&, const RmsNormBackward& k) {
  return k.dgamma ? block_count(row_count(k.x)) * k.x.size(-1) * 4 : 0;
}

Index workspace_bytes(const device::HostStream&, const LayerNormBackward& k) {
  return block_count(row_count(k.x)) * k.x.size(-1) * 2 * 4;
}

}  // namespace mpitron::kernels
