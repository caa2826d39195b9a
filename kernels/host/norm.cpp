#include "kernels/norm.h"

#include <cmath>

#include "kernels/host/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

// Costs a row of reads and writes from memory; the passes after the first find it in L1 or L2.

constexpr Index kWork = 2;

/// Rows whose dgamma and dbeta are summed in one row of workspace. A function of t alone, so that
/// the sums do not depend on the number of threads.
Index block_rows(Index t) {
  constexpr Index kLeastRows = 16, kMostBlocks = 64;
  return std::max(kLeastRows, (t + kMostBlocks - 1) / kMostBlocks);
}
Index block_count(Index t) {
  return (t + block_rows(t) - 1) / block_rows(t);
}

/// The row to fetch while `row` is written: 4 KiB ahead or more, which is what memory wants.
Index row_ahead(Index row, Index end, Index row_bytes) {
  constexpr Index kDistance = 4096;
  return std::min(row + std::max<Index>(1, kDistance / std::max<Index>(1, row_bytes)), end - 1);
}

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

// The first pass over a row fetches the row that is `next`, the last one writes: memory is busy all
// the time.

template <class Tx>
float mean_square(const Tx* x, const Tx* next, Index h) {
  const auto [sum] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& acc) {
    simd::prefetch(next + i);
    const Float v = simd::load(x + i, lanes);
    acc[0] = simd::fma(v, v, acc[0]);
  });
  return sum / static_cast<float>(h);
}

struct Moments {
  float mean, variance;
};

/// One pass over deviations from a pivot, the mean of the first 64 elements: by Cauchy and Schwarz
/// (mean - pivot)^2 <= variance h / 64, which bounds what cancels in the last line.
template <class Tx>
Moments moments(const Tx* x, const Tx* next, Index h) {
  const Index head = std::min<Index>(h, 64);
  const auto [head_sum] = simd::row_sums<1>(
      head, [&](Index i, auto lanes, auto& acc) { acc[0] += simd::load(x + i, lanes); });
  const float pivot = head_sum / static_cast<float>(head);
  const auto [sum, squares] = simd::row_sums<2>(h, [&](Index i, auto lanes, auto& acc) {
    simd::prefetch(next + i);
    const Float d = simd::inside(simd::load(x + i, lanes) - pivot, lanes);
    acc[0] += d;
    acc[1] = simd::fma(d, d, acc[1]);
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
      for (Index row = begin; row < end; ++row) {
        const Tx* x = xs[row];
        Ty* y = ys[row];
        const Tx* next = xs[row_ahead(row, end, h * Index{sizeof(Tx)})];
        const float rstd = 1.f / std::sqrt(mean_square(x, next, h) + k.eps);
        rstds[row] = rstd;
        simd::for_lanes(h, [&](Index i, auto lanes) {
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
      for (Index row = begin; row < end; ++row) {
        const Tx* x = xs[row];
        Ty* y = ys[row];
        const Tx* next = xs[row_ahead(row, end, h * Index{sizeof(Tx)})];
        const Moments m = moments(x, next, h);
        const float rstd = 1.f / std::sqrt(m.variance + k.eps);
        means[row] = m.mean;
        rstds[row] = rstd;
        const Float shift = simd::splat(-m.mean * rstd);
        simd::for_lanes(h, [&](Index i, auto lanes) {
          const Float normal = simd::fma(simd::load(x + i, lanes), simd::splat(rstd), shift);
          store(y + i, simd::fma(normal, gamma(i, lanes), simd::load(beta + i, lanes)), lanes);
        });
      }
    });
  });
}

// ---------------------------------------------------------------------------------------------
// backward

/// target[i] = (or +=) the sum over the blocks' partial rows, in order; `stride` floats apart.
void reduce_blocks(const float* partial, Index blocks, Index stride, const InOut& target,
                   bool accumulate) {
  const Index h = target.numel();
  visit_dtype(target.dtype, [&]<class T>() {
    T* out = target.as<T>();
    for_tiles(1, h, blocks, false, [&](auto, Index, Index begin, Index end) {
      simd::for_lanes(end - begin, [&](Index j, auto lanes) {
        const Index i = begin + j;
        Float sum{};
        for (Index block = 0; block < blocks; ++block) {
          sum += simd::load(partial + block * stride + i, lanes);
        }
        simd::store(out + i, accumulate ? simd::load(out + i, lanes) + sum : sum, lanes);
      });
    });
  });
}

/// Rows that share one pass over their block's partial sums. More of them fall out of L1, whose
/// sets all rows of a power of two share.
template <class T>
inline constexpr int kGroup = sizeof(T) == 4 ? 1 : 2;

/// body(rows, first, partial) over groups of `rows` (a constant: `group`, or 1 for what is left of
/// a block) rows; `partial` is the zeroed row of `width` floats of their block, or null without a
/// workspace.
template <int group, class F>
void for_row_groups(Index t, Index work, const Out& workspace, Index width, F&& body) {
  const Index rows = block_rows(t);
  float* partials = workspace ? static_cast<float*>(workspace.data) : nullptr;
  MPITRON_CHECK(!workspace || workspace.bytes() >= block_count(t) * width * 4, workspace.bytes());
  for_blocks(block_count(t), work, [&](Index block) {
    float* partial = partials == nullptr ? nullptr : partials + block * width;
    if (partial != nullptr) {
      std::fill_n(partial, width, 0.f);
    }
    Index row = block * rows;
    const Index end = std::min(t, row + rows);
    for (; row + group <= end; row += group) {
      body(std::integral_constant<int, group>{}, row, partial);
    }
    for (; row < end; ++row) {
      body(std::integral_constant<int, 1>{}, row, partial);
    }
    simd::stream_fence();
  });
}

/// The arguments of one row of a backward pass; rms norm leaves `shift` zero.
template <class Tx, class Ty>
struct BackwardRow {
  const Tx *x, *add;
  const Ty* dy;
  Tx* dx;
  float rstd, shift;  // x rstd + shift is the normalised row

  template <class Lanes>
  Float normal(Index i, Lanes lanes) const {
    return simd::fma(simd::load(x + i, lanes), simd::splat(rstd), simd::splat(shift));
  }
};

/// Both norms, by their views; `centred` is layer norm.
template <class Tx, class Ty, class Tg, bool centred>
struct Backward {
  Rows<const Tx> x, add;
  Rows<const Ty> dy;
  Rows<Tx> dx;
  Weight<Tg> gamma;
  const float *mean, *rstd;
  Index h, t;

  BackwardRow<Tx, Ty> operator[](Index row) const {
    const float r = rstd[row];
    return {x[row], add ? add[row] : nullptr, dy[row], dx[row], r, centred ? -mean[row] * r : 0.f};
  }

  /// First pass over a group: sums of each row, and what they add to dgamma and dbeta. Fetches
  /// `next`, the rows of a group to come.
  template <int n>
  void sum(const BackwardRow<Tx, Ty> (&rows)[n], const BackwardRow<Tx, Ty> (&next)[n],
           float* dgamma, float (&sums)[n][2]) const {
    Float acc[n][2] = {};
    simd::for_lanes(h, [&](Index i, auto lanes) {
      const Float weight = simd::inside(gamma(i, lanes), lanes);
      Float dg = dgamma == nullptr ? Float{} : simd::load(dgamma + i, lanes);
      Float db = dgamma == nullptr || !centred ? Float{} : simd::load(dgamma + h + i, lanes);
      for (int r = 0; r < n; ++r) {
        simd::prefetch(next[r].x + i);
        simd::prefetch(next[r].dy + i);
        const Float dy = simd::load(rows[r].dy + i, lanes), normal = rows[r].normal(i, lanes);
        const Float g = dy * weight;
        acc[r][0] = simd::fma(g, normal, acc[r][0]);
        dg = simd::fma(dy, normal, dg);
        if constexpr (centred) {
          acc[r][1] += g;
          db += dy;
        }
      }
      if (dgamma != nullptr) {
        simd::store(dgamma + i, dg, lanes);
        if constexpr (centred) {
          simd::store(dgamma + h + i, db, lanes);
        }
      }
    });
    for (int r = 0; r < n; ++r) {
      sums[r][0] = simd::lane_sum(acc[r][0]) / static_cast<float>(h);
      sums[r][1] = simd::lane_sum(acc[r][1]) / static_cast<float>(h);
    }
  }

  /// Second pass over a row: dx = rstd (g - mean(g) - normal mean(g normal)) + dx_add.
  template <class Store>
  void finish(Store store, const BackwardRow<Tx, Ty>& row, const float (&sums)[2]) const {
    const auto [dot, mean_gradient] = sums;
    const Float rstd_lanes = simd::splat(row.rstd), slope = simd::splat(-dot * row.rstd);
    const Float offset = simd::splat(-mean_gradient * row.rstd);
    simd::for_lanes(h, [&](Index i, auto lanes) {
      const Float g = simd::load(row.dy + i, lanes) * gamma(i, lanes);
      const Float inner = simd::fma(row.normal(i, lanes), slope, offset);
      const Float gradient = simd::fma(g, rstd_lanes, inner);
      store(row.dx + i, row.add == nullptr ? gradient : simd::load(row.add + i, lanes) + gradient,
            lanes);
    });
  }

  void run(const Out& workspace, bool streaming) const {
    for_row_groups<kGroup<Tx>>(
        t, 2 * kWork * t * h, workspace, centred ? 2 * h : h,
        [&](auto count, Index first, float* dgamma) {
          constexpr int n = count;
          BackwardRow<Tx, Ty> rows[n], next[n];
          for (int r = 0; r < n; ++r) {
            rows[r] = (*this)[first + r];
            next[r] = (*this)[row_ahead(first + r + n - 1, t, h * Index{sizeof(Tx)})];
          }
          float sums[n][2];
          sum<n>(rows, next, dgamma, sums);
          for (int r = 0; r < n; ++r) {
            if (streaming) {
              finish(StreamStore{}, rows[r], sums[r]);
            } else {
              finish(PlainStore{}, rows[r], sums[r]);
            }
          }
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
