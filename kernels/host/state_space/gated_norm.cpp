#include "kernels/state_space/gated_norm.h"

#include <cmath>
#include <vector>

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/row_blocks.h"
#include "kernels/host/state_space/small_product.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

constexpr Index kWork = 8;  // of an element, in elements copied

std::vector<float> weights_of(const In& weight) {
  std::vector<float> values(static_cast<std::size_t>(weight.numel()));
  visit_dtype(weight.dtype, [&]<class T>() {
    std::transform(weight.as<T>(), weight.as<T>() + weight.numel(), values.begin(),
                   [](T x) { return static_cast<float>(x); });
  });
  return values;
}

struct Gate {
  Float silu, slope;
};
[[gnu::always_inline]] inline Gate gate(Float z) {
  const simd::Sigmoid open = simd::sigmoid(z);
  return {z * open.value, simd::fma(z * open.complement, open.value, open.value)};
}

/// x rounded to T.
template <class T>
[[gnu::always_inline]] inline Float rounded(Float x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    T kept[simd::kLanes];
    simd::store(kept, x);
    return simd::load(kept);
  }
}

/// A group of a row is passed over twice, for its sum and for its results. The first pass keeps
/// silu(z), or, where the gate comes first, x silu(z). Flat, as is the way back: around calls of
/// the sigmoid all that the loop keeps in registers would go through memory.
template <class T, bool gate_first, class Store>
[[gnu::flatten]] void forward(const GatedNormForward& k, Index first, Index last,
                              const float* weights, Store store) {
  const Rows<const T> xs(k.x), zs(k.z);
  const Rows<T> ys(k.y);
  const Index width = k.x.size(-1) / k.groups;
  Scratch<float> memory;
  float* const kept = memory.room(width);
  for (Index at = first * k.groups; at < last * k.groups; ++at) {
    const Index index = at / k.groups, start = at % k.groups * width;
    const T *const x = xs[index] + start, *const z = zs[index] + start;
    const auto [sum] = simd::row_sums<1>(width, [&](Index i, auto lanes, auto& sums) {
      fetch_ahead(x + i), fetch_ahead(z + i);
      Float value = simd::load(x + i, lanes);
      const Float silu = gate(simd::load(z + i, lanes)).silu;
      value = gate_first ? rounded<T>(value * silu) : value;
      simd::store(kept + i, gate_first ? value : silu, lanes);
      sums[0] = simd::fma(value, value, sums[0]);
    });
    const float scale = 1.F / std::sqrt(sum / static_cast<float>(width) + k.eps);
    k.rstd.as<float>()[at] = scale;
    T* const y = ys[index] + start;
    simd::for_lanes(width, [&, weight = weights + start](Index i, auto lanes) {
      const Float value = simd::load(kept + i, lanes) * scale * simd::load(weight + i, lanes);
      store(y + i, gate_first ? value : value * simd::load(x + i, lanes), lanes);
    });
  }
}

template <class T, bool gate_first>
struct Backward {
  const GatedNormBackward& k;
  Rows<const T> x, z, dy;
  Rows<T> dx, dz;
  std::vector<float> weights;
  Index width;

  explicit Backward(const GatedNormBackward& kernel)
      : k(kernel),
        x(kernel.x),
        z(kernel.z),
        dy(kernel.dy),
        dx(kernel.dx),
        dz(kernel.dz),
        weights(weights_of(kernel.weight)),
        width(kernel.x.size(-1) / kernel.groups) {}

  /// One group of a row; adds to the sums of dweight. `kept`: 3 width numbers of the first pass.
  template <class Store>
  [[gnu::flatten]] void run(Index index, Index group, float* dweight, float* kept,
                            Store store) const {
    const Index start = group * width;
    const T *const values = x[index] + start, *const gates = z[index] + start;
    const T* const gradient = dy[index] + start;
    const float *const weight = weights.data() + start,
                       scale = k.rstd.as<float>()[index * k.groups + group];
    float *const silus = kept, *const slopes = kept + width, *const normals = kept + 2 * width;
    const auto [dot] = simd::row_sums<1>(width, [&](Index i, auto lanes, auto& sums) {
      fetch_ahead(values + i), fetch_ahead(gates + i), fetch_ahead(gradient + i);
      const auto [silu, slope] = gate(simd::load(gates + i, lanes));
      const Float value = simd::load(values + i, lanes);
      const Float normal = (gate_first ? rounded<T>(value * silu) : value) * scale;
      const Float given = simd::load(gradient + i, lanes);
      const Float to_normal = (gate_first ? given : given * silu) * normal;
      float* const sum = dweight + start + i;
      simd::store(sum, simd::load(sum, lanes) + to_normal, lanes);
      sums[0] = simd::fma(to_normal, simd::load(weight + i, lanes), sums[0]);
      simd::store(silus + i, silu, lanes), simd::store(slopes + i, slope, lanes);
      simd::store(normals + i, normal, lanes);
    });
    const float mean = dot / static_cast<float>(width);
    T *const to_x = dx[index] + start, *const to_z = dz[index] + start;
    simd::for_lanes(width, [&](Index i, auto lanes) {
      const Float silu = simd::load(silus + i, lanes), slope = simd::load(slopes + i, lanes);
      const Float normal = simd::load(normals + i, lanes);
      const Float given = simd::load(gradient + i, lanes), by = simd::load(weight + i, lanes);
      const Float upstream = gate_first ? given : given * silu;
      const Float inner = (upstream * by - normal * mean) * scale;
      const Float to_gate =
          gate_first ? inner * simd::load(values + i, lanes) : given * normal * by;
      store(to_z + i, to_gate * slope, lanes);
      store(to_x + i, gate_first ? inner * silu : inner, lanes);
    });
  }
  void run() const {
    const Index t = row_count(k.x), f = k.x.size(-1), block = BlockSums::rows_of(t);
    BlockSums sums(t, f, k.workspace);
    const bool streaming =
        should_stream(k.dx, dx, k.x, k.z, k.dy) && should_stream(k.dz, dz, k.x, k.z, k.dy);
    for_ranges(BlockSums::count_of(t), 2 * kWork * t * f, [&](Index first, Index last) {
      Scratch<float> kept;
      with_store(streaming, [&](auto store) {
        for (Index part = first; part < last; ++part) {
          std::fill_n(sums[part], f, 0.F);
          const Index begin = part * block * k.groups;
          const Index end = std::min(t, (part + 1) * block) * k.groups;
          for (Index at = begin; at < end; ++at) {
            run(at / k.groups, at % k.groups, sums[part], kept.room(3 * width), store);
          }
          sums.finish(part, first);
        }
      });
    });
    sums.total(0, k.dweight, k.accumulate);
  }
};

}  // namespace

void run(device::HostStream&, const GatedNormForward& k) {
  const std::vector<float> weights = weights_of(k.weight);
  visit_dtype(k.x.dtype, [&]<class T>() {
    const bool streaming = should_stream(k.y, Rows<T>(k.y), k.x, k.z);
    for_ranges(row_count(k.x), kWork * k.x.numel(), [&](Index first, Index last) {
      with_store(streaming, [&](auto store) {
        k.gate_first ? forward<T, true>(k, first, last, weights.data(), store)
                     : forward<T, false>(k, first, last, weights.data(), store);
      });
    });
  });
}

void run(device::HostStream&, const GatedNormBackward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    k.gate_first ? Backward<T, true>(k).run() : Backward<T, false>(k).run();
  });
}

Index workspace_bytes(const device::HostStream&, const GatedNormBackward& k) {
  return BlockSums::workspace_bytes(row_count(k.x), k.x.size(-1));
}

}  // namespace mpitron::kernels
