#include "kernels/attention/latent_qkv.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Returns component i of x(0), x(1), ... after their first 2r components were turned by a
/// position's angles; angles are negated where `sign` is -1.
template <class X>
double rotated(const X& x, Index i, const In& cos, const In& sin, Index position, double sign) {
  if (!cos || i >= 2 * cos.size(1)) {
    return x(i);
  }
  const double c = Reader(cos)(position, i / 2), s = sign * Reader(sin)(position, i / 2);
  return i % 2 == 0 ? x(i) * c - x(i + 1) * s : x(i) * c + x(i - 1) * s;
}

/// Calls f(position, sample, head) for all.
template <class F>
void for_each_head(const device::ConstTensorView& qkv, F&& f) {
  for (Index position = 0; position < qkv.size(0); ++position) {
    for (Index sample = 0; sample < qkv.size(1); ++sample) {
      for (Index head = 0; head < qkv.size(2); ++head) {
        f(position, sample, head);
      }
    }
  }
}

/// Adds up the gradient of the part of the keys that all heads share.
void add_shared(const LatentQkvBackward& k, const LatentWidths& w, Index position, Index sample) {
  const Reader from(k.d_qkv);
  const Writer to(k.d_k_rope);
  std::vector<double> sums;
  for (Index i = 0; i < w.rotary; ++i) {
    double sum = 0;
    for (Index head = 0; head < k.d_qkv.size(2); ++head) {
      sum += from(position, sample, head, w.key() + w.plain + i);
    }
    to.set(sum, position, sample, i);
    sums.push_back(to(position, sample, i));
  }
  const auto rounded = [&](Index i) { return sums[static_cast<std::size_t>(i)]; };
  for (Index i = 0; i < w.rotary; ++i) {
    to.set(rotated(rounded, i, k.cos, k.sin, position, -1), position, sample, i);
  }
}

}  // namespace

/// Assembles q, k and v: heads take their parts of the up projections; the rotary part of keys is
/// shared by all of them.
void run(device::ReferenceStream&, const LatentQkvForward& k) {
  const auto w = LatentWidths::of(k.q, k.kv, k.k_rope);
  const Reader q(k.q), kv(k.kv), k_rope(k.k_rope);
  const Writer to(k.qkv);
  for_each_head(k.qkv, [&](Index position, Index sample, Index head) {
    for (Index i = 0; i < w.plain; ++i) {
      to.set(q(position, sample, head, i), position, sample, head, i);
      to.set(kv(position, sample, head, i), position, sample, head, w.key() + i);
    }
    const auto query = [&](Index i) { return q(position, sample, head, w.plain + i); };
    const auto key = [&](Index i) { return k_rope(position, sample, i); };
    for (Index i = 0; i < w.rotary; ++i) {
      to.set(rotated(query, i, k.cos, k.sin, position, 1), position, sample, head, w.plain + i);
      to.set(rotated(key, i, k.cos, k.sin, position, 1), position, sample, head,
             w.key() + w.plain + i);
    }
    for (Index i = 0; i < w.value; ++i) {
      to.set(kv(position, sample, head, w.plain + i), position, sample, head, 2 * w.key() + i);
    }
  });
}

/// Takes the gradient apart; the shared rotary key collects the gradients of all heads, in their
/// order.
void run(device::ReferenceStream&, const LatentQkvBackward& k) {
  const auto w = LatentWidths::of(k.d_q, k.d_kv, k.d_k_rope);
  const Reader from(k.d_qkv);
  const Writer d_q(k.d_q), d_kv(k.d_kv);
  for_each_head(k.d_qkv, [&](Index position, Index sample, Index head) {
    for (Index i = 0; i < w.plain; ++i) {
      d_q.set(from(position, sample, head, i), position, sample, head, i);
      d_kv.set(from(position, sample, head, w.key() + i), position, sample, head, i);
    }
    const auto query = [&](Index i) { return from(position, sample, head, w.plain + i); };
    for (Index i = 0; i < w.rotary; ++i) {
      d_q.set(rotated(query, i, k.cos, k.sin, position, -1), position, sample, head, w.plain + i);
    }
    for (Index i = 0; i < w.value; ++i) {
      d_kv.set(from(position, sample, head, 2 * w.key() + i), position, sample, head, w.plain + i);
    }
    if (head == 0) {
      add_shared(k, w, position, sample);
    }
  });
}

}  // namespace mpitron::kernels
