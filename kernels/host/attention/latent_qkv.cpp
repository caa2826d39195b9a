// Assembles queries, keys and values of latent attention on the host (DeepSeek-AI 2024, MLA): plain
// parts are copied, rotary parts are turned, and the key's rotary part is shared by all heads. The
// backward pass sums the shared part's gradient over heads in their order in fp32.
#include "kernels/attention/latent_qkv.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "kernels/host/attention/rotate.h"
#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// Rotates one position; `sign` -1 turns back.
template <class T>
struct Rotation {
  const T* cos;
  const T* sin;
  Index r;
  float sign;

  void operator()(T* x) const { rotate_interleaved(x, cos, sin, r, sign); }
};

/// Returns rotation_at(position), where nothing turns without tables.
template <class T>
auto rotations(const In& cos, const In& sin, float sign) {
  const Index r = cos ? cos.size(1) : 0;
  return [cos = cos.template as<T>(), sin = sin.template as<T>(), r, sign](Index position) {
    return r == 0 ? Rotation<T>{nullptr, nullptr, 0, sign}
                  : Rotation<T>{cos + position * r, sin + position * r, r, sign};
  };
}

/// Copy components as they are, bit by bit: into the caches, or past them where every part of a
/// head is whole cache lines.
struct PlainCopy {
  template <class T>
  void operator()(const T* from, Index n, T* to, const T* = nullptr) const {
    std::copy_n(from, n, to);
  }
};
struct StreamingCopy {
  template <class T>
  void operator()(const T* from, Index n, T* to) const {
    (*this)(from, n, to, from);
  }
  /// `source`: where what lies in the cache came from.
  template <class T>
  void operator()(const T* from, Index n, T* to, const T* source) const {
    constexpr Index kLine = kStreamAlignment / sizeof(T);
    for (Index i = 0; i < n; i += kLine) {
      fetch_ahead(source + i);
      simd::stream(reinterpret_cast<float*>(to + i),
                   simd::load(reinterpret_cast<const float*>(from + i)));
    }
  }
};

/// Room for the rotated parts of a row; it stays in the caches.
template <class T>
struct Scratch {
  explicit Scratch(Index rotary)
      : turned(static_cast<std::size_t>(rotary)), shared(turned), sum(turned.size()) {}

  std::vector<T> turned, shared;  // of one head, of all heads
  std::vector<float> sum;
};

template <class T>
struct ForwardRow {
  const T* q;
  const T* kv;
  const T* k_rope;
  T* qkv;
};

/// Writes a row of qkv, head after head: [plain, rotated] query, [plain, shared rotated] key,
/// value.
template <class T, class Copy>
void assemble(const ForwardRow<T>& row, Index heads, const LatentWidths& w,
              const Rotation<T>& rotate, Scratch<T>& scratch, Copy copy) {
  T *const turned = scratch.turned.data(), *const shared = scratch.shared.data();
  std::copy_n(row.k_rope, w.rotary, shared);
  rotate(shared);
  for (Index head = 0; head < heads; ++head) {
    const T* const q = row.q + head * w.key();
    const T* const kv = row.kv + head * (w.plain + w.value);
    T* const query = row.qkv + head * w.fused();
    T* const key = query + w.key();
    std::copy_n(q + w.plain, w.rotary, turned);
    rotate(turned);
    copy(q, w.plain, query);
    copy(turned, w.rotary, query + w.plain, q + w.plain);
    copy(kv, w.plain, key);
    copy(shared, w.rotary, key + w.plain);
    copy(kv + w.plain, w.value, key + w.key());
  }
}

template <class T>
struct BackwardRow {
  const T* d_qkv;
  T* d_q;
  T* d_kv;
  T* d_k_rope;
};

/// Takes a row's gradient apart again; rotations are turned back.
template <class T, class Copy>
void take_apart(const BackwardRow<T>& row, Index heads, const LatentWidths& w,
                const Rotation<T>& rotate, Scratch<T>& scratch, Copy copy) {
  T* const turned = scratch.turned.data();
  float* const sum = scratch.sum.data();
  std::fill_n(sum, w.rotary, 0.f);
  for (Index head = 0; head < heads; ++head) {
    const T* const query = row.d_qkv + head * w.fused();
    const T* const key = query + w.key();
    T* const d_q = row.d_q + head * w.key();
    T* const d_kv = row.d_kv + head * (w.plain + w.value);
    std::copy_n(query + w.plain, w.rotary, turned);
    rotate(turned);
    copy(query, w.plain, d_q);
    copy(turned, w.rotary, d_q + w.plain, query + w.plain);
    copy(key, w.plain, d_kv);
    simd::for_lanes(w.rotary, [&](Index i, auto lanes) {
      const T* const shared = key + w.plain;
      fetch_ahead(shared + i);
      simd::store(sum + i, simd::load(sum + i, lanes) + simd::load(shared + i, lanes), lanes);
    });
    copy(key + w.key(), w.value, d_kv + w.plain);
  }
  simd::for_lanes(w.rotary, [&](Index i, auto lanes) {
    simd::store(row.d_k_rope + i, simd::load(sum + i, lanes), lanes);
  });
  rotate(row.d_k_rope);
}

/// Whether the outputs, together large, consist of whole cache lines.
bool should_stream(const LatentWidths& w, std::initializer_list<device::TensorView> outputs) {
  Index bytes = 0;
  Index odd = (w.plain | w.rotary | w.value) * static_cast<Index>(size_of(outputs.begin()->dtype));
  for (const device::TensorView& y : outputs) {
    bytes += y.bytes();
    odd |= static_cast<Index>(reinterpret_cast<std::uintptr_t>(y.data));
  }
  return bytes >= kStreamBytes && odd % kStreamAlignment == 0;
}

/// Calls body(row, position, scratch, copy) for the rows [s, b] of qkv.
template <class T, class F>
void for_rows(const device::ConstTensorView& qkv, const LatentWidths& w, bool streaming, F&& body) {
  const Index b = qkv.size(1);
  for_ranges(qkv.size(0) * b, qkv.numel() * 2, [&](Index begin, Index end) {
    Scratch<T> scratch(w.rotary);
    const auto rows = [&](auto copy) {
      for (Index row = begin; row < end; ++row) {
        body(row, row / b, scratch, copy);
      }
    };
    if (streaming) {
      rows(StreamingCopy{});
      simd::stream_fence();
    } else {
      rows(PlainCopy{});
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
    const bool streaming = should_stream(w, {k.qkv});
    for_rows<T>(
        k.qkv, w, streaming, [&](Index row, Index position, Scratch<T>& scratch, auto copy) {
          assemble<T>(
              {k.q.as<T>() + row * n * w.key(), k.kv.as<T>() + row * n * (w.plain + w.value),
               k.k_rope.as<T>() + row * w.rotary, k.qkv.as<T>() + row * n * w.fused()},
              n, w, rotation_at(position), scratch, copy);
        });
  });
}

void run(device::HostStream&, const LatentQkvBackward& k) {
  const auto w = LatentWidths::of(k.d_q, k.d_kv, k.d_k_rope);
  const Index n = k.d_q.size(2);
  MPITRON_CHECK(k.d_qkv.size(3) == w.fused(), k.d_qkv.size(3), w.fused());
  visit_dtype(k.d_qkv.dtype, [&]<class T>() {
    const auto rotation_at = rotations<T>(k.cos, k.sin, -1);
    const bool streaming = should_stream(w, {k.d_q, k.d_kv});
    for_rows<T>(
        k.d_qkv, w, streaming, [&](Index row, Index position, Scratch<T>& scratch, auto copy) {
          take_apart<T>(
              {k.d_qkv.as<T>() + row * n * w.fused(), k.d_q.as<T>() + row * n * w.key(),
               k.d_kv.as<T>() + row * n * (w.plain + w.value), k.d_k_rope.as<T>() + row * w.rotary},
              n, w, rotation_at(position), scratch, copy);
        });
  });
}

}  // namespace mpitron::kernels
