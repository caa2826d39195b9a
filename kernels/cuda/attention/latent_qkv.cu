// Numerical contract: that of latent_qkv.h. A thread makes a pack of an output; in the
// gradient of the shared part it adds up the heads.
#include "kernels/attention/latent_qkv.h"
#include "kernels/cuda/common/vector.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// The tables of angles; r = 0 where nothing turns.
template <class T>
struct Angles {
  const T *cos, *sin;  // [s, r]
  Index r;
  float sign;  // -1 turns back
};

/// Component i, and its neighbours, of what the first 2r components of x become at a position;
/// x(i, width) loads them. Negative ones do not turn.
template <class T, int N, class X>
__device__ Floats<N> turned(const Angles<T>& angles, Index position, Index i, Width<N> width,
                            X&& x) {
  Floats<N> value = x(i, width);
  if (i < 0 || i >= 2 * angles.r) {
    return value;
  }
  const T* const cos = angles.cos + position * angles.r + i / 2;
  const T* const sin = angles.sin + position * angles.r + i / 2;
  if constexpr (N == 1) {
    const float c = static_cast<float>(*cos), s = angles.sign * static_cast<float>(*sin);
    const float other = x(i ^ 1, width)[0];
    value[0] = value[0] * c + (i % 2 == 0 ? -other : other) * s;
  } else {
    const auto cosines = load(cos, Width<N / 2>()), sines = load(sin, Width<N / 2>());
    for (int j = 0; j < N / 2; ++j) {
      const float a = value[2 * j], b = value[2 * j + 1], s = angles.sign * sines[j];
      value[2 * j] = a * cosines[j] - b * s;
      value[2 * j + 1] = b * cosines[j] + a * s;
    }
  }
  return value;
}

/// Component i of a vector of which those from 0 on turn.
template <class T>
struct Component {
  const T* origin;
  Index i;

  template <int N>
  __device__ Floats<N> turned_at(const Angles<T>& angles, Index position, Width<N> width) const {
    return turned(angles, position, i, width,
                  [this](Index at, auto lanes) { return load(origin + at, lanes); });
  }
};

/// Heads [s b n] and what they share, [s b].
struct HeadRows {
  LatentWidths w;
  Index batch, heads, rows;  // rows: s b n
};

template <class T>
struct Assembly {
  const T *q, *kv, *k_rope;
  T* qkv;
  HeadRows h;
  Angles<T> angles;

  /// What becomes component i of a fused head.
  __device__ Component<T> source(Index row, Index i) const {
    const LatentWidths& w = h.w;
    if (i < w.key()) {
      return {q + row * w.key() + w.plain, i - w.plain};
    }
    const T* const values = kv + row * (w.plain + w.value) + w.plain;
    if (i < w.key() + w.plain) {
      return {values, i - w.key() - w.plain};
    }
    if (i < 2 * w.key()) {
      return {k_rope + quotient(row, h.heads) * w.rotary, i - w.key() - w.plain};
    }
    return {values + w.value, i - w.fused()};
  }
};

template <class T>
__global__ void assemble(const __grid_constant__ Assembly<T> a, bool packed) {
  for_rows(a.h.rows, a.h.w.fused(), packed, [&](Index row, Index i, auto width) {
    const Index position = quotient(row, a.h.heads * a.h.batch);
    store(a.qkv + row * a.h.w.fused() + i, a.source(row, i).turned_at(a.angles, position, width));
  });
}

template <class T>
struct Parting {
  const T* d_qkv;
  T *d_q, *d_kv, *d_k_rope;
  HeadRows h;
  Angles<T> angles;
};

/// d_q and d_kv: columns of both, side by side.
template <class T>
__global__ void take_apart(const __grid_constant__ Parting<T> a, bool packed) {
  const LatentWidths& w = a.h.w;
  const Index up = w.plain + w.value;
  for_rows(a.h.rows, w.key() + up, packed, [&](Index row, Index i, auto width) {
    const Index position = quotient(row, a.h.heads * a.h.batch);
    const T* const head = a.d_qkv + row * w.fused();
    if (i < w.key()) {
      const Component<T> query{head + w.plain, i - w.plain};
      store(a.d_q + row * w.key() + i, query.turned_at(a.angles, position, width));
    } else {
      const Index column = i - w.key();
      const Index from = column < w.plain ? i : i + w.rotary;  // the shared part lies between
      store(a.d_kv + row * up + column, load(head + from, width));
    }
  });
}

/// d_k_rope: the sum over the heads, in order, rounded and turned back.
template <class T>
__global__ void add_shared(const __grid_constant__ Parting<T> a, bool packed) {
  const LatentWidths& w = a.h.w;
  for_rows(a.h.rows / a.h.heads, w.rotary, packed, [&](Index row, Index i, auto width) {
    const T* const shared = a.d_qkv + row * a.h.heads * w.fused() + w.key() + w.plain;
    const auto sum = [&](Index at, auto lanes) {
      Floats<lanes> total{};
      for (Index head = 0; head < a.h.heads; ++head) {
        total = each([](float s, float v) { return s + v; }, total,
                     load(shared + head * w.fused() + at, lanes));
      }
      return each([](float s) { return static_cast<float>(static_cast<T>(s)); }, total);
    };
    store(a.d_k_rope + row * w.rotary + i,
          turned(a.angles, quotient(row, a.h.batch), i, width, sum));
  });
}

template <class T>
Angles<T> angles_of(const In& cos, const In& sin, float sign) {
  return {elements<T>(cos), elements<T>(sin), cos ? cos.size(1) : 0, sign};
}

/// Whether every part of a head begins with a whole pack.
bool whole_packs(const LatentWidths& w, Index pairs) {
  return w.plain % kPack == 0 && w.rotary % kPack == 0 && w.value % kPack == 0 &&
         2 * pairs % kPack == 0;
}

}  // namespace

/// Assembles queries, keys and values: a thread writes packs of one head of one position and turns
/// those of the rotary part.
void run(device::CudaStream& stream, const LatentQkvForward& k) {
  const auto w = LatentWidths::of(k.q, k.kv, k.k_rope);
  MPITRON_CHECK(k.qkv.size(3) == w.fused(), k.qkv.size(3), w.fused());
  MPITRON_CHECK(!k.cos || 2 * k.cos.size(1) <= w.rotary, w.rotary);
  visit_element(k.qkv.dtype, [&]<class T>() {
    const Assembly<T> a{elements<T>(k.q),
                        elements<T>(k.kv),
                        elements<T>(k.k_rope),
                        elements<T>(k.qkv),
                        {w, k.q.size(1), k.q.size(2), row_count(k.q)},
                        angles_of<T>(k.cos, k.sin, 1)};
    const bool packed = whole_packs(w, a.angles.r) &&
                        all_packed(a.q, a.kv, a.k_rope, a.qkv, a.angles.cos, a.angles.sin);
    launch(stream, LatentQkvForward::name, row_shape(a.h.rows, w.fused()), assemble<T>, a, packed);
  });
}

/// Takes the gradient apart, and sums the shared rotary key's over heads in their order, in fp32,
/// by one thread for each component.
void run(device::CudaStream& stream, const LatentQkvBackward& k) {
  const auto w = LatentWidths::of(k.d_q, k.d_kv, k.d_k_rope);
  MPITRON_CHECK(k.d_qkv.size(3) == w.fused(), k.d_qkv.size(3), w.fused());
  visit_element(k.d_qkv.dtype, [&]<class T>() {
    const Parting<T> a{elements<T>(k.d_qkv),
                       elements<T>(k.d_q),
                       elements<T>(k.d_kv),
                       elements<T>(k.d_k_rope),
                       {w, k.d_q.size(1), k.d_q.size(2), row_count(k.d_q)},
                       angles_of<T>(k.cos, k.sin, -1)};
    const bool packed = whole_packs(w, a.angles.r) &&
                        all_packed(a.d_qkv, a.d_q, a.d_kv, a.d_k_rope, a.angles.cos, a.angles.sin);
    launch(stream, LatentQkvBackward::name, row_shape(a.h.rows, w.key() + w.plain + w.value),
           take_apart<T>, a, packed);
    launch(stream, LatentQkvBackward::name, row_shape(a.h.rows / a.h.heads, w.rotary),
           add_shared<T>, a, packed);
  });
}

}  // namespace mpitron::kernels
