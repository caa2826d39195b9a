#include "kernels/state_space/gated_norm.h"

#include <cmath>
#include <vector>

#include "kernels/host/common/row_blocks.h"

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

/// One row; columns count from its start.
template <class T>
struct Row {
  const T *x, *z;
  bool gate_first;

  struct Gate {
    Float silu, slope;
  };
  template <class Lanes>
  [[gnu::always_inline]] Gate gate(Index i, Lanes lanes) const {
    const Float value = simd::load(z + i, lanes);
    const simd::Sigmoid open = simd::sigmoid(value);
    return {value * open.value, simd::fma(value * open.complement, open.value, open.value)};
  }
  /// What is normed: with the gate in front rounded to T, as memory has it.
  template <class Lanes>
  [[gnu::always_inline]] Float normed(Index i, Float silu, Lanes lanes) const {
    const Float value = simd::load(x + i, lanes);
    if (!gate_first) {
      return value;
    }
    T kept[simd::kLanes];
    simd::store(kept, value * silu, lanes);
    return simd::load(kept, lanes);
  }
};

template <class T>
void forward(const GatedNormForward& k) {
  const Rows<const T> xs(k.x), zs(k.z);
  const Rows<T> ys(k.y);
  const std::vector<float> weights = weights_of(k.weight);
  const Index f = k.x.size(-1), width = f / k.groups;
  float* const rstd = k.rstd.as<float>();
  for_ranges(row_count(k.x), kWork * k.x.numel(), [&](Index first, Index last) {
    for (Index at = first * k.groups; at < last * k.groups; ++at) {
      const Index index = at / k.groups, start = at % k.groups * width;
      const Row<T> row{xs[index] + start, zs[index] + start, k.gate_first};
      const auto [sum] = simd::row_sums<1>(width, [&](Index i, auto lanes, auto& sums) {
        const Float value = row.normed(i, row.gate(i, lanes).silu, lanes);
        sums[0] = simd::fma(value, value, sums[0]);
      });
      const float scale = 1.F / std::sqrt(sum / static_cast<float>(width) + k.eps);
      rstd[at] = scale;
      T* y = ys[index] + start;
      const float* weight = weights.data() + start;
      simd::for_lanes(width, [&](Index i, auto lanes) {
        const Float silu = row.gate(i, lanes).silu;
        const Float normal = row.normed(i, silu, lanes) * scale * simd::load(weight + i, lanes);
        simd::store(y + i, k.gate_first ? normal : normal * silu, lanes);
      });
    }
  });
}

template <class T>
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

  /// One group of a row; adds to the sums of dweight.
  void run(Index index, Index group, float* dweight) const {
    const Index start = group * width;
    const Row<T> row{x[index] + start, z[index] + start, k.gate_first};
    const T* gradient = dy[index] + start;
    const float *weight = weights.data() + start,
                scale = k.rstd.as<float>()[index * k.groups + group];
    const auto [dot] = simd::row_sums<1>(width, [&](Index i, auto lanes, auto& sums) {
      const Float silu = row.gate(i, lanes).silu;
      const Float normal = row.normed(i, silu, lanes) * scale;
      const Float given = simd::load(gradient + i, lanes);
      const Float to_normal = (k.gate_first ? given : given * silu) * normal;
      float* sum = dweight + start + i;
      simd::store(sum, simd::load(sum, lanes) + to_normal, lanes);
      sums[0] = simd::fma(to_normal, simd::load(weight + i, lanes), sums[0]);
    });
    const float mean = dot / static_cast<float>(width);
    T *to_x = dx[index] + start, *to_z = dz[index] + start;
    simd::for_lanes(width, [&](Index i, auto lanes) {
      const auto [silu, slope] = row.gate(i, lanes);
      const Float normal = row.normed(i, silu, lanes) * scale;
      const Float given = simd::load(gradient + i, lanes), by = simd::load(weight + i, lanes);
      const Float value = simd::load(row.x + i, lanes);
      const Float upstream = k.gate_first ? given : given * silu;
      const Float inner = (upstream * by - normal * mean) * scale;
      simd::store(to_z + i, (k.gate_first ? inner * value : given * normal * by) * slope, lanes);
      simd::store(to_x + i, k.gate_first ? inner * silu : inner, lanes);
    });
  }
  void run() const {
    const Index t = row_count(k.x), f = k.x.size(-1), block = BlockSums::rows_of(t);
    BlockSums sums(t, f, k.workspace);
    for_ranges(BlockSums::count_of(t), 2 * kWork * t * f, [&](Index first, Index last) {
      for (Index part = first; part < last; ++part) {
        std::fill_n(sums[part], f, 0.F);
        for (Index at = part * block * k.groups; at < std::min(t, (part + 1) * block) * k.groups;
             ++at) {
          run(at / k.groups, at % k.groups, sums[part]);
        }
        sums.finish(part, first);
      }
    });
    sums.total(0, k.dweight, k.accumulate);
  }
};

}  // namespace

void run(device::HostStream&, const GatedNormForward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() { forward<T>(k); });
}

void run(device::HostStream&, const GatedNormBackward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() { Backward<T>(k).run(); });
}

Index workspace_bytes(const device::HostStream&, const GatedNormBackward& k) {
  return BlockSums::workspace_bytes(row_count(k.x), k.x.size(-1));
}

}  // namespace mpitron::kernels
