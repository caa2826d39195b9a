#include "kernels/state_space/gated_norm.h"

#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/row_blocks.h"
#include "kernels/host/state_space/silu.h"
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

/// A group of a row is passed over twice, for its sum and for its results; the second pass runs
/// beside the first one of the next group, so that reading, computing and writing overlap. The
/// first keeps silu(z), or, where the gate comes first, r. Flat, as is the way back: around calls
/// of the sigmoid all that the loop keeps in registers would go through memory.
template <class T, bool gate_first, class Store>
class Forward {
 public:
  Forward(const GatedNormForward& k, const float* weights, Store store)
      : k_(k),
        store_(store),
        weights_(weights),
        width_(k.x.size(-1) / k.groups),
        kept_{memory_[0].room(width_), memory_[1].room(width_)} {}

  [[gnu::flatten]] void run(Index first, Index last) {
    const Rows<const T> xs(k_.x), zs(k_.z);
    const Rows<T> ys(k_.y);
    for (Index at = first * k_.groups; at < last * k_.groups; ++at) {
      const Index index = at / k_.groups, start = at % k_.groups * width_;
      const T *const x = xs[index] + start, *const z = zs[index] + start;
      float* const kept = kept_[at % 2];
      const auto add = [&](Index i, auto lanes, auto& sums) { sum(x, z, kept, i, lanes, sums); };
      const auto [sum] =
          before_.y == nullptr
              ? simd::row_sums<1>(width_, add)
              : simd::row_sums<1>(width_, [&, before = before_](Index i, auto lanes, auto& sums) {
                  finish(before, i, lanes);
                  add(i, lanes, sums);
                });
      const float scale = 1.F / std::sqrt(sum / static_cast<float>(width_) + k_.eps);
      k_.rstd.as<float>()[at] = scale;
      before_ = {x, ys[index] + start, weights_ + start, kept, scale};
    }
    if (before_.y != nullptr) {
      simd::for_lanes(width_, [&](Index i, auto lanes) { finish(before_, i, lanes); });
    }
  }

 private:
  /// A group whose sum is known.
  struct Group {
    const T* x = nullptr;
    T* y = nullptr;
    const float* weights = nullptr;
    const float* kept = nullptr;
    float scale = 0;
  };

  template <class Lanes>
  [[gnu::always_inline]] static void sum(const T* x, const T* z, float* kept, Index i, Lanes lanes,
                                         Float (&sums)[1]) {
    fetch_ahead(x + i), fetch_ahead(z + i);
    Float value = simd::load(x + i, lanes);
    const Float opened = silu<T>(simd::load(z + i, lanes)).value;
    value = gate_first ? rounded<T>(value * opened) : value;
    simd::store(kept + i, gate_first ? value : opened, lanes);
    sums[0] = simd::fma(value, value, sums[0]);
  }
  template <class Lanes>
  [[gnu::always_inline]] void finish(const Group& of, Index i, Lanes lanes) const {
    const Float value =
        simd::load(of.kept + i, lanes) * of.scale * simd::load(of.weights + i, lanes);
    store_(of.y + i, gate_first ? value : value * simd::load(of.x + i, lanes), lanes);
  }

  const GatedNormForward& k_;
  Store store_;
  const float* weights_;
  Index width_;
  Scratch<float> memory_[2];
  float* kept_[2];
  Group before_;
};

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

  /// What the first pass over a group keeps for the second.
  struct Kept {
    float *silus, *slopes, *normals;
  };

  /// One group of a row; adds to the sums of dweight.
  template <class Store>
  [[gnu::flatten]] void run(Index index, Index group, float* dweight, const Kept& kept,
                            Store store) const {
    const Index start = group * width;
    const T *const values = x[index] + start, *const gates = z[index] + start;
    const T* const gradient = dy[index] + start;
    const float *const weight = weights.data() + start,
                       scale = k.rstd.as<float>()[index * k.groups + group];
    const auto [dot] = simd::row_sums<1>(width, [&](Index i, auto lanes, auto& sums) {
      fetch_ahead(values + i), fetch_ahead(gates + i), fetch_ahead(gradient + i);
      const auto [opened, slope] = silu<T>(simd::load(gates + i, lanes));
      simd::store(kept.silus + i, opened, lanes), simd::store(kept.slopes + i, slope, lanes);
      const Float value = simd::load(values + i, lanes);
      const Float normal = (gate_first ? rounded<T>(value * opened) : value) * scale;
      simd::store(kept.normals + i, normal, lanes);
      const Float given = simd::load(gradient + i, lanes);
      const Float to_normal = (gate_first ? given : given * opened) * normal;
      float* const sum = dweight + start + i;
      simd::store(sum, simd::load(sum, lanes) + to_normal, lanes);
      sums[0] = simd::fma(to_normal, simd::load(weight + i, lanes), sums[0]);
    });
    const float mean = dot / static_cast<float>(width);
    T *const to_x = dx[index] + start, *const to_z = dz[index] + start;
    simd::for_lanes(width, [&](Index i, auto lanes) {
      const Float opened = simd::load(kept.silus + i, lanes);
      const Float slope = simd::load(kept.slopes + i, lanes);
      const Float normal = simd::load(kept.normals + i, lanes);
      const Float given = simd::load(gradient + i, lanes), by = simd::load(weight + i, lanes);
      const Float upstream = gate_first ? given : given * opened;
      const Float inner = (upstream * by - normal * mean) * scale;
      const Float to_gate =
          gate_first ? inner * simd::load(values + i, lanes) : given * normal * by;
      store(to_z + i, to_gate * slope, lanes);
      store(to_x + i, gate_first ? inner * opened : inner, lanes);
    });
  }
  void run() const {
    const Index t = row_count(k.x), f = k.x.size(-1), block = BlockSums::rows_of(t);
    BlockSums sums(t, f, k.workspace);
    const bool streaming =
        should_stream(k.dx, dx, k.x, k.z, k.dy) && should_stream(k.dz, dz, k.x, k.z, k.dy);
    for_ranges(BlockSums::count_of(t), 2 * kWork * t * f, [&](Index first, Index last) {
      Scratch<float> silus, slopes, normals;
      const Kept kept{silus.room(width), slopes.room(width), normals.room(width)};
      with_store(streaming, [&](auto store) {
        for (Index part = first; part < last; ++part) {
          std::fill_n(sums[part], f, 0.F);
          const Index begin = part * block * k.groups;
          const Index end = std::min(t, (part + 1) * block) * k.groups;
          for (Index at = begin; at < end; ++at) {
            run(at / k.groups, at % k.groups, sums[part], kept, store);
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
        using Store = decltype(store);
        k.gate_first ? Forward<T, true, Store>(k, weights.data(), store).run(first, last)
                     : Forward<T, false, Store>(k, weights.data(), store).run(first, last);
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
