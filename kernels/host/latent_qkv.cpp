#include "kernels/latent_qkv.h"

#include <algorithm>

#include "kernels/host/rotate.h"
#include "kernels/host/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

/// The rotation of one position; `sign` -1 turns back.
template <class T>
struct Rotation {
  const T* cos;
  const T* sin;
  Index r;
  float sign;

  void operator()(T* x) const { rotate_interleaved(x, cos, sin, r, sign); }
};

/// rotation_at(position), where nothing turns without tables.
template <class T>
auto rotations(const In& cos, const In& sin, float sign) {
  const Index r = cos ? cos.size(1) : 0;
  return [cos = cos.template as<T>(), sin = sin.template as<T>(), r, sign](Index position) {
    return r == 0 ? Rotation<T>{nullptr, nullptr, 0, sign}
                  : Rotation<T>{cos + position * r, sin + position * r, r, sign};
  };
}

template <class T>
struct ForwardRow {
  const T* q;
  const T* kv;
  const T* k_rope;
  T* qkv;
};

template <class T>
void assemble(const ForwardRow<T>& row, Index heads, const LatentWidths& w,
              const Rotation<T>& rotate) {
  const T* const shared = row.qkv + w.key() + w.plain;  // the first head's
  for (Index head = 0; head < heads; ++head) {
    const T* const q = row.q + head * w.key();
    const T* const kv = row.kv + head * (w.plain + w.value);
    T* const query = row.qkv + head * w.fused();
    T* const key = query + w.key();
    std::copy_n(q, w.key(), query);
    rotate(query + w.plain);
    std::copy_n(kv, w.plain, key);
    if (head == 0) {
      std::copy_n(row.k_rope, w.rotary, key + w.plain);
      rotate(key + w.plain);
    } else {
      std::copy_n(shared, w.rotary, key + w.plain);
    }
    std::copy_n(kv + w.plain, w.value, key + w.key());
  }
}

template <class T>
struct BackwardRow {
  const T* d_qkv;
  T* d_q;
  T* d_kv;
  T* d_k_rope;
};

template <class T>
void take_apart(const BackwardRow<T>& row, Index heads, const LatentWidths& w,
                const Rotation<T>& rotate) {
  for (Index head = 0; head < heads; ++head) {
    const T* const query = row.d_qkv + head * w.fused();
    const T* const key = query + w.key();
    T* const d_q = row.d_q + head * w.key();
    T* const d_kv = row.d_kv + head * (w.plain + w.value);
    std::copy_n(query, w.key(), d_q);
    rotate(d_q + w.plain);
    std::copy_n(key, w.plain, d_kv);
    std::copy_n(key + w.key(), w.value, d_kv + w.plain);
  }
  simd::for_lanes(w.rotary, [&](Index i, auto lanes) {
    Float sum = {};
    for (Index head = 0; head < heads; ++head) {
      sum += simd::load(row.d_qkv + head * w.fused() + w.key() + w.plain + i, lanes);
    }
    simd::store(row.d_k_rope + i, sum, lanes);
  });
  rotate(row.d_k_rope);
}

/// body(row, position) for the rows [s, b] of qkv.
template <class F>
void for_rows(const device::ConstTensorView& qkv, F&& body) {
  const Index b = qkv.size(1);
  for_ranges(qkv.size(0) * b, qkv.numel() * 2, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      body(row, row / b);
    }
  });
}

}  // namespace

void run(device::HostStream&, const LatentQkvForward& k) {
  const auto w = LatentWidths::of(k.q, k.kv, k.k_rope);
  const Index n = k.q.size(2);
  MPITRON_CHECK(k.qkv.size(3) == w.fused(), k.qkv.size(3), w.fused());
  MPITRON_CHECK(!k.cos || 2 * k.cos.size(1) <= w.rotary, w.rotary);
  visit_dtype(k.qkv.dtype, [&]<class T>() {
    const auto rotation_at = rotations<T>(k.cos, k.sin, 1);
    for_rows(k.qkv, [&](Index row, Index position) {
      assemble<T>({k.q.as<T>() + row * n * w.key(), k.kv.as<T>() + row * n * (w.plain + w.value),
                   k.k_rope.as<T>() + row * w.rotary, k.qkv.as<T>() + row * n * w.fused()},
                  n, w, rotation_at(position));
    });
  });
}

void run(device::HostStream&, const LatentQkvBackward& k) {
  const auto w = LatentWidths::of(k.d_q, k.d_kv, k.d_k_rope);
  const Index n = k.d_q.size(2);
  MPITRON_CHECK(k.d_qkv.size(3) == w.fused(), k.d_qkv.size(3), w.fused());
  visit_dtype(k.d_qkv.dtype, [&]<class T>() {
    const auto rotation_at = rotations<T>(k.cos, k.sin, -1);
    for_rows(k.d_qkv, [&](Index row, Index position) {
      take_apart<T>(
          {k.d_qkv.as<T>() + row * n * w.fused(), k.d_q.as<T>() + row * n * w.key(),
           k.d_kv.as<T>() + row * n * (w.plain + w.value), k.d_k_rope.as<T>() + row * w.rotary},
          n, w, rotation_at(position));
    });
  });
}

}  // namespace mpitron::kernels
