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

/// The same, backwards: the first pass over a group makes the sums of dweight and the one that its
/// gradients need, and keeps what the second takes from them.
template <class T, bool gate_first, class Store>
class Backward {
 public:
  Backward(const GatedNormBackward& k, const float* weights, Store store)
      : k_(k),
        store_(store),
        weights_(weights),
        width_(k.x.size(-1) / k.groups),
        kept_{Kept(width_), Kept(width_)} {}

  /// Groups [first, last) of all rows; adds to a row of dweight.
  [[gnu::flatten]] void run(Index first, Index last, float* dweight) {
    const Rows<const T> xs(k_.x), zs(k_.z), dys(k_.dy);
    const Rows<T> dxs(k_.dx), dzs(k_.dz);
    for (Index at = first; at < last; ++at) {
      const Index index = at / k_.groups, start = at % k_.groups * width_;
      const Given given{xs[index] + start, zs[index] + start, dys[index] + start, weights_ + start,
                        k_.rstd.as<float>()[at]};
      Kept& kept = kept_[at % 2];
      float* const to_weight = dweight + start;
      const auto add = [&](Index i, auto lanes, auto& sums) {
        sum(given, kept, to_weight, i, lanes, sums);
      };
      const auto [dot] =
          before_.kept == nullptr
              ? simd::row_sums<1>(width_, add)
              : simd::row_sums<1>(width_, [&, before = before_](Index i, auto lanes, auto& sums) {
                  finish(before, i, lanes);
                  add(i, lanes, sums);
                });
      const float mean = dot / static_cast<float>(width_);
      before_ = {given, &kept, dxs[index] + start, dzs[index] + start, mean * given.scale};
    }
  }
  /// The results of the last group.
  [[gnu::flatten]] void finish() {
    if (before_.kept != nullptr) {
      simd::for_lanes(width_, [&](Index i, auto lanes) { finish(before_, i, lanes); });
    }
  }

 private:
  /// What is read of a group.
  struct Given {
    const T *x, *z, *dy;
    const float* weights;
    float scale;
  };
  /// What the second pass needs of a group: what is normed, silu(z), and its slope, which is that
  /// of the product with x where the gate comes first.
  class Kept {
   public:
    explicit Kept(Index width)
        : inner(reinterpret_cast<T*>(inners_.room(gate_first ? width : 0))),
          silu(silus_.room(width)),
          slope(slopes_.room(width)) {}

   private:
    Scratch<float> inners_;
    Scratch<float> silus_, slopes_;

   public:
    T* const inner;
    float *const silu, *const slope;
  };
  /// A group whose sum is known.
  struct Group {
    Given given{};
    const Kept* kept = nullptr;
    T *dx = nullptr, *dz = nullptr;
    float scaled_mean = 0;
  };

  template <class Lanes>
  [[gnu::always_inline]] static void sum(const Given& given, Kept& kept, float* to_weight, Index i,
                                         Lanes lanes, Float (&sums)[1]) {
    fetch_ahead(given.x + i), fetch_ahead(given.z + i), fetch_ahead(given.dy + i);
    const auto [opened, slope] = silu<T>(simd::load(given.z + i, lanes));
    const Float x = simd::load(given.x + i, lanes), dy = simd::load(given.dy + i, lanes);
    simd::store(kept.silu + i, opened, lanes);
    simd::store(kept.slope + i, gate_first ? slope * x : slope, lanes);
    Float inner = x;
    if constexpr (gate_first) {
      simd::store(kept.inner + i, x * opened, lanes);
      inner = simd::load(kept.inner + i, lanes);  // rounded to T
    }
    const Float to_normal = (gate_first ? dy : dy * opened) * (inner * given.scale);
    simd::store(to_weight + i, simd::load(to_weight + i, lanes) + to_normal, lanes);
    sums[0] = simd::fma(to_normal, simd::load(given.weights + i, lanes), sums[0]);
  }
  template <class Lanes>
  [[gnu::always_inline]] void finish(const Group& of, Index i, Lanes lanes) const {
    const Given& given = of.given;
    const Float opened = simd::load(of.kept->silu + i, lanes);
    const Float slope = simd::load(of.kept->slope + i, lanes);
    const Float inner = simd::load((gate_first ? of.kept->inner : given.x) + i, lanes);
    const Float dy = simd::load(given.dy + i, lanes) * simd::load(given.weights + i, lanes);
    const Float to_inner = ((gate_first ? dy : dy * opened) - inner * of.scaled_mean) * given.scale;
    store_(of.dz + i, (gate_first ? to_inner : dy * inner * given.scale) * slope, lanes);
    store_(of.dx + i, gate_first ? to_inner * opened : to_inner, lanes);
  }

  const GatedNormBackward& k_;
  Store store_;
  const float* weights_;
  Index width_;
  Kept kept_[2];
  Group before_;
};

template <class T, bool gate_first>
void differentiate(const GatedNormBackward& k) {
  const std::vector<float> weights = weights_of(k.weight);
  const Index t = row_count(k.x), f = k.x.size(-1), block = BlockSums::rows_of(t);
  BlockSums sums(t, f, k.workspace);
  const bool streaming = should_stream(k.dx, Rows<T>(k.dx), k.x, k.z, k.dy) &&
                         should_stream(k.dz, Rows<T>(k.dz), k.x, k.z, k.dy);
  for_ranges(BlockSums::count_of(t), 2 * kWork * t * f, [&](Index first, Index last) {
    with_store(streaming, [&](auto store) {
      Backward<T, gate_first, decltype(store)> backward(k, weights.data(), store);
      for (Index part = first; part < last; ++part) {
        std::fill_n(sums[part], f, 0.F);
        const Index end = std::min(t, (part + 1) * block);
        backward.run(part * block * k.groups, end * k.groups, sums[part]);
        sums.finish(part, first);
      }
      backward.finish();
    });
  });
  sums.total(0, k.dweight, k.accumulate);
}

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
    k.gate_first ? differentiate<T, true>(k) : differentiate<T, false>(k);
  });
}

Index workspace_bytes(const device::HostStream&, const GatedNormBackward& k) {
  return BlockSums::workspace_bytes(row_count(k.x), k.x.size(-1));
}

}  // namespace mpitron::kernels
