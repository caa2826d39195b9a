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

template <class Tx>
float mean_square(const Tx* x, Index h) {
  const auto [sum] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& acc) {
    const Float v = simd::load(x + i, lanes);
    acc[0] = simd::fma(v, v, acc[0]);
  });
  return sum / static_cast<float>(h);
}

struct Moments {
  float mean, variance;
};

template <class Tx>
Moments moments(const Tx* x, Index h) {
  const auto [sum] = simd::row_sums<1>(
      h, [&](Index i, auto lanes, auto& acc) { acc[0] += simd::load(x + i, lanes); });
  const float mean = sum / static_cast<float>(h);
  const auto [squares] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& acc) {
    const Float d = simd::inside(simd::load(x + i, lanes) - mean, lanes);
    acc[0] = simd::fma(d, d, acc[0]);
  });
  return {mean, squares / static_cast<float>(h)};
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
        const float rstd = 1.f / std::sqrt(mean_square(x, h) + k.eps);
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
        const Moments m = moments(x, h);
        const float rstd = 1.f / std::sqrt(m.variance + k.eps);
        means[row] = m.mean;
        rstds[row] = rstd;
        simd::for_lanes(h, [&](Index i, auto lanes) {
          const Float normal = (simd::load(x + i, lanes) - m.mean) * rstd;
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
    for_tiles(1, h, blocks, [&](Index, Index begin, Index end) {
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

/// body(row, partial) for every row; `partial` is the zeroed row of `width` floats of its block, or
/// null without a workspace.
template <class F>
void for_row_blocks(Index t, Index work, const Out& workspace, Index width, F&& body) {
  const Index rows = block_rows(t);
  float* partials = workspace ? static_cast<float*>(workspace.data) : nullptr;
  MPITRON_CHECK(!workspace || workspace.bytes() >= block_count(t) * width * 4, workspace.bytes());
  for_blocks(block_count(t), work, [&](Index block) {
    float* partial = partials == nullptr ? nullptr : partials + block * width;
    if (partial != nullptr) {
      std::fill_n(partial, width, 0.f);
    }
    for (Index row = block * rows; row < std::min(t, (block + 1) * rows); ++row) {
      body(row, partial);
    }
  });
}

/// The gradient that arrives at dx from elsewhere; may be absent.
template <class T, class Lanes>
Float add_to(Float gradient, const T* dx_add, Index i, Lanes lanes) {
  return dx_add == nullptr ? gradient : simd::load(dx_add + i, lanes) + gradient;
}

template <class Tx, class Ty, class Tg>
void rms_norm(const RmsNormBackward& k) {
  const Rows<const Tx> xs(k.x), adds(k.dx_add);
  const Rows<const Ty> dys(k.dy);
  const Rows<Tx> dxs(k.dx);
  const Weight<Tg> gamma{k.gamma.as<Tg>(), k.gamma_offset};
  const float* rstds = k.rstd.as<float>();
  const Index h = k.x.size(-1), t = row_count(k.x);
  const Out workspace = k.dgamma ? k.workspace : Out{};
  for_row_blocks(t, 2 * kWork * t * h, workspace, h, [&](Index row, float* dgamma) {
    const Tx *x = xs[row], *add = adds ? adds[row] : nullptr;
    const Ty* dy = dys[row];
    Tx* dx = dxs[row];
    const float rstd = rstds[row];
    const auto [sum] = simd::row_sums<1>(h, [&](Index i, auto lanes, auto& acc) {
      const Float g = simd::load(dy + i, lanes), normal = simd::load(x + i, lanes) * rstd;
      acc[0] = simd::fma(simd::inside(g * gamma(i, lanes), lanes), normal, acc[0]);
      if (dgamma != nullptr) {
        simd::store(dgamma + i, simd::fma(g, normal, simd::load(dgamma + i, lanes)), lanes);
      }
    });
    const float projection = sum / static_cast<float>(h) * rstd;
    simd::for_lanes(h, [&](Index i, auto lanes) {
      const Float g = simd::load(dy + i, lanes) * gamma(i, lanes);
      const Float gradient = (g - simd::load(x + i, lanes) * projection) * rstd;
      simd::store(dx + i, add_to(gradient, add, i, lanes), lanes);
    });
  });
  if (k.dgamma) {
    reduce_blocks(static_cast<const float*>(workspace.data), block_count(t), h, k.dgamma,
                  k.accumulate);
  }
}

template <class Tx, class Ty, class Tg>
void layer_norm(const LayerNormBackward& k) {
  const Rows<const Tx> xs(k.x), adds(k.dx_add);
  const Rows<const Ty> dys(k.dy);
  const Rows<Tx> dxs(k.dx);
  const Weight<Tg> gamma{k.gamma.as<Tg>(), k.gamma_offset};
  const float *means = k.mean.as<float>(), *rstds = k.rstd.as<float>();
  const Index h = k.x.size(-1), t = row_count(k.x);
  for_row_blocks(t, 2 * kWork * t * h, k.workspace, 2 * h, [&](Index row, float* dgamma) {
    const Tx *x = xs[row], *add = adds ? adds[row] : nullptr;
    const Ty* dy = dys[row];
    Tx* dx = dxs[row];
    float* dbeta = dgamma + h;
    const float rstd = rstds[row], mean = means[row];
    const auto [sum, dot] = simd::row_sums<2>(h, [&](Index i, auto lanes, auto& acc) {
      const Float dyi = simd::load(dy + i, lanes);
      const Float normal = (simd::load(x + i, lanes) - mean) * rstd;
      const Float g = simd::inside(dyi * gamma(i, lanes), lanes);
      acc[0] += g;
      acc[1] = simd::fma(g, normal, acc[1]);
      simd::store(dgamma + i, simd::fma(dyi, normal, simd::load(dgamma + i, lanes)), lanes);
      simd::store(dbeta + i, simd::load(dbeta + i, lanes) + dyi, lanes);
    });
    const float mean_gradient = sum / static_cast<float>(h);
    const float projection = dot / static_cast<float>(h);
    simd::for_lanes(h, [&](Index i, auto lanes) {
      const Float g = simd::load(dy + i, lanes) * gamma(i, lanes);
      const Float normal = (simd::load(x + i, lanes) - mean) * rstd;
      const Float gradient = (g - mean_gradient - normal * projection) * rstd;
      simd::store(dx + i, add_to(gradient, add, i, lanes), lanes);
    });
  });
  const float* partials = static_cast<const float*>(k.workspace.data);
  reduce_blocks(partials, block_count(t), 2 * h, k.dgamma, k.accumulate);
  reduce_blocks(partials + h, block_count(t), 2 * h, k.dbeta, k.accumulate);
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
