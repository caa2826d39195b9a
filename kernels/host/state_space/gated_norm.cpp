#include "kernels/state_space/gated_norm.h"

#include <cmath>
#include <type_traits>
#include <vector>

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

/// Whether every group of a row whose beginning is aligned begins where stores past the caches can.
template <class T>
bool are_aligned(Index width, Index groups) {
  return groups == 1 || width * Index{sizeof(T)} % kStreamAlignment == 0;
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
      const float sum = sum_of_squares(x, z, kept, before_);
      const float scale = 1.F / std::sqrt(sum / static_cast<float>(width_) + k_.eps);
      k_.rstd.as<float>()[at] = scale;
      before_ = {x, ys[index] + start, weights_ + start, kept, scale};
    }
    if (before_.y != nullptr) {
      for_several<T>(width_, [&](Index i, auto lanes) { finish(before_, i, lanes); });
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

  /// Of a group of a row; on the way the results of the one before, where there is one.
  [[gnu::always_inline]] float sum_of_squares(const T* x, const T* z, float* kept,
                                              const Group before) const {
    const auto add = [=](Index i, auto lanes, auto& sum) __attribute__((always_inline)) {
      fetch_lines_ahead(x + i, lanes), fetch_lines_ahead(z + i, lanes);
      const auto opened = silu<T>(read(z + i, lanes)).value;
      const auto value = read(x + i, lanes);
      const auto wanted = step(
          [](Float v, Float open)
              __attribute__((always_inline)) { return gate_first ? rounded<T>(v * open) : open; },
          value, opened);
      write(kept + i, wanted, lanes);
      const auto square = [](Float v, Float all) __attribute__((always_inline)) {
        return simd::fma(v, v, all);
      };
      if constexpr (gate_first) {
        sum = step(square, wanted, sum);
      } else {
        sum = step(square, value, sum);
      }
    };
    if (before.y == nullptr) {
      return row_sum<T>(width_, add);
    }
    return row_sum<T>(
        width_, [&](Index i, auto lanes, auto& sum) __attribute__((always_inline)) {
          finish(before, i, lanes);
          add(i, lanes, sum);
        });
  }
  template <class Lanes>
  [[gnu::always_inline]] void finish(const Group& of, Index i, Lanes lanes) const {
    const auto value = step(
        [scale = of.scale](Float kept, Float weight)
            __attribute__((always_inline)) { return kept * scale * weight; },
        read(of.kept + i, lanes), read(of.weights + i, lanes));
    if constexpr (gate_first) {
      write(store_, of.y + i, value, lanes);
    } else {
      write(store_, of.y + i,
            step(
                [](Float v, Float x) __attribute__((always_inline)) { return v * x; }, value,
                read(of.x + i, lanes)),
            lanes);
    }
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
    const float dot = row_sum<T>(
        width, [&](Index i, auto lanes, auto& sum) __attribute__((always_inline)) {
          fetch_lines_ahead(values + i, lanes), fetch_lines_ahead(gates + i, lanes);
          fetch_lines_ahead(gradient + i, lanes);
          const auto [opened, slope] = silu<T>(read(gates + i, lanes));
          write(kept.silus + i, opened, lanes), write(kept.slopes + i, slope, lanes);
          const auto normal = step(
              [scale](Float value, Float open) __attribute__((always_inline)) {
                return (gate_first ? rounded<T>(value * open) : value) * scale;
              },
              read(values + i, lanes), opened);
          write(kept.normals + i, normal, lanes);
          const auto to_normal = step(
              [](Float given, Float open, Float by) __attribute__((always_inline)) {
                return (gate_first ? given : given * open) * by;
              },
              read(gradient + i, lanes), opened, normal);
          float* const to_weight = dweight + start + i;
          write(to_weight,
                step(
                    [](Float all, Float more) __attribute__((always_inline)) { return all + more; },
                    read(to_weight, lanes), to_normal),
                lanes);
          sum = step(
              [](Float more, Float by, Float all)
                  __attribute__((always_inline)) { return simd::fma(more, by, all); },
              to_normal, read(weight + i, lanes), sum);
        });
    const float mean = dot / static_cast<float>(width);
    T *const to_x = dx[index] + start, *const to_z = dz[index] + start;
    for_several<T>(
        width, [&](Index i, auto lanes) __attribute__((always_inline)) {
          const auto opened = read(kept.silus + i, lanes), slope = read(kept.slopes + i, lanes);
          const auto normal = read(kept.normals + i, lanes), given = read(gradient + i, lanes);
          const auto by = read(weight + i, lanes);
          const auto inner = step(
              [=](Float g, Float open, Float w, Float n) __attribute__((always_inline)) {
                const Float upstream = gate_first ? g : g * open;
                return (upstream * w - n * mean) * scale;
              },
              given, opened, by, normal);
          if constexpr (gate_first) {
            write(store, to_z + i,
                  step(
                      [](Float in, Float x, Float s)
                          __attribute__((always_inline)) { return in * x * s; },
                      inner, read(values + i, lanes), slope),
                  lanes);
            write(store, to_x + i,
                  step(
                      [](Float in, Float open) __attribute__((always_inline)) { return in * open; },
                      inner, opened),
                  lanes);
          } else {
            write(store, to_z + i,
                  step(
                      [](Float g, Float n, Float w, Float s)
                          __attribute__((always_inline)) { return g * n * w * s; },
                      given, normal, by, slope),
                  lanes);
            write(store, to_x + i, inner, lanes);
          }
        });
  }
  void run() const {
    const Index t = row_count(k.x), f = k.x.size(-1), block = BlockSums::rows_of(t);
    BlockSums sums(t, f, k.workspace);
    const bool streaming = are_aligned<T>(width, k.groups) &&
                           should_stream(k.dx, dx, k.x, k.z, k.dy) &&
                           should_stream(k.dz, dz, k.x, k.z, k.dy);
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
    const bool streaming = are_aligned<T>(k.x.size(-1) / k.groups, k.groups) &&
                           should_stream(k.y, Rows<T>(k.y), k.x, k.z);
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
