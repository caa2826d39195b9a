#pragma once
#include <cmath>
#include <ostream>

#include "device/device.h"
#include "kernels/attention/attention.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {

/// The extents and options of one attention.
struct AttentionCase {
  DType dtype = DType::f32;
  Index s = 64, s_kv = 64, b = 1, n = 1, g = 1, d = 64, dv = 64;
  bool causal = true;
  Index window = -1;
  double dropout = 0;
  Index masks = 0;     // samples of the mask: 0, 1 or b
  bool fused = false;  // q, k, v in one tensor [s, b, g, n / g + 2, d]
  GlobalIndexMap index;
  bool one_mask_row = false;  // the mask hides keys from every query
  bool bias = false;
  float softcap = 0;
  Index together = 0;  // of every twice as many positions, so many see each other
};

inline std::ostream& operator<<(std::ostream& out, const AttentionCase& c) {
  return out << name_of(c.dtype) << " s " << c.s << " s_kv " << c.s_kv << " b " << c.b << " n "
             << c.n << " g " << c.g << " d " << c.d << " dv " << c.dv << " causal " << c.causal
             << " window " << c.window << " dropout " << c.dropout << " masks " << c.masks
             << " fused " << c.fused << " split " << c.index.sequence.split << " offsets "
             << c.index.sequence.offset[0] << " " << c.index.sequence.offset[1] << " one mask row "
             << c.one_mask_row << " bias " << c.bias << " soft cap " << c.softcap << " together "
             << c.together;
}

/// q, k and v, or their gradients: three tensors, or one with three views.
class QkvTensors {
 public:
  QkvTensors(const AttentionCase& c, DType dtype)
      : c_(c),
        fused_(dtype, {c.s, c.b, c.g, c.n / c.g + 2, c.d}),
        q_(dtype, {c.s, c.b, c.n, c.d}),
        k_(dtype, {c.s_kv, c.b, c.g, c.d}),
        v_(dtype, {c.s_kv, c.b, c.g, c.dv}) {}

  device::TensorView q() { return c_.fused ? slice(fused_.view(), 3, 0, c_.n / c_.g) : q_.view(); }
  device::TensorView k() { return c_.fused ? single_head(c_.n / c_.g) : k_.view(); }
  device::TensorView v() { return c_.fused ? single_head(c_.n / c_.g + 1) : v_.view(); }
  void fill(const device::TensorView& view, unsigned seed, double factor) {
    const auto values = test_values(view.numel(), seed);
    for (Index i = 0; i < view.numel(); ++i) {
      reference::Writer(view).set(factor * values[static_cast<std::size_t>(i)], i);
    }
  }
  void poison() {
    for (auto* tensor : {&fused_, &q_, &k_, &v_}) {
      const auto view = tensor->view();
      std::fill_n(static_cast<unsigned char*>(view.data), view.bytes(), 0xff);
    }
  }

 private:
  device::TensorView single_head(Index head) {
    auto view = slice(fused_.view(), 3, head, head + 1);
    return {view.data,
            view.dtype,
            {c_.s, c_.b, c_.g, c_.d},
            {view.stride(0), view.stride(1), view.stride(2), 1}};
  }

  AttentionCase c_;
  TestTensor fused_, q_, k_, v_;
};

inline std::vector<double> values_of(const device::TensorView& view) {
  std::vector<double> values;
  const reference::Reader reader{device::ConstTensorView(view)};
  for (Index i = 0; i < view.numel(); ++i) {
    values.push_back(reader(i));
  }
  return values;
}

/// Outputs of forward and backward; all NaN before they are written.
struct AttentionResults {
  AttentionResults(const AttentionCase& c, DType dtype, DType lse_dtype)
      : o(dtype, {c.s, c.b, c.n, c.dv}),
        lse(lse_dtype, {c.b, c.n, c.s}),
        dbias(lse_dtype, {c.b, c.n, c.s + c.s_kv - 1}),
        gradients(c, dtype) {
    gradients.poison();
    for (auto* tensor : {&o, &lse, &dbias}) {
      std::fill_n(static_cast<unsigned char*>(tensor->view().data), tensor->view().bytes(), 0xff);
    }
  }
  TestTensor o, lse, dbias;
  QkvTensors gradients;
};

/// Inputs of a case, and runs of it on any device.
class AttentionFixture {
 public:
  explicit AttentionFixture(const AttentionCase& c)
      : c_(c),
        inputs_(c, c.dtype),
        d_o_(c.dtype, {c.s, c.b, c.n, c.dv}, test_values(c.s * c.b * c.n * c.dv, 4)),
        mask_(DType::u8, {std::max<Index>(c.masks, 1), c.one_mask_row ? 1 : c.s, c.s_kv}),
        bias_(c.dtype, {c.s + c.s_kv - 1, c.n}, test_values((c.s + c.s_kv - 1) * c.n, 6)),
        until_(DType::i64, {c.b, c.s}, runs(c)) {
    inputs_.fill(inputs_.q(), 1, 3);
    inputs_.fill(inputs_.k(), 2, 1);
    inputs_.fill(inputs_.v(), 3, 1);
    dropout.threshold = dropout_threshold(c.dropout);
    dropout.key = {42, 7};
    dropout.index = c.index;
    const auto random = test_values(mask_.view().numel(), 5);
    for (std::size_t i = 0; i < random.size(); ++i) {
      hidden()[i] = random[i] > 0.5 ? 1 : 0;
    }
  }

  DropoutMask dropout;
  std::uint8_t* hidden() { return static_cast<std::uint8_t*>(mask_.view().data); }
  QkvTensors& inputs() { return inputs_; }

  AttentionForward forward(AttentionResults& to) {
    AttentionForward kernel{inputs_.q(), inputs_.k(),   inputs_.v(), {},
                            to.o.view(), to.lse.view(), {},          scale(),
                            c_.causal,   c_.window,     dropout};
    add_options(kernel);
    return kernel;
  }
  AttentionBackward backward(AttentionResults& to) {
    AttentionBackward kernel{inputs_.q(),      inputs_.k(),      inputs_.v(), {},
                             to.o.view(),      to.lse.view(),    d_o_.view(), to.gradients.q(),
                             to.gradients.k(), to.gradients.v(), {},          scale(),
                             c_.causal,        c_.window,        dropout};
    add_options(kernel);
    if (c_.bias) {
      kernel.dbias = to.dbias.view();
    }
    return kernel;
  }

 private:
  /// The last position that each query sees in any case; runs of the second sample begin later.
  static std::vector<double> runs(const AttentionCase& c) {
    std::vector<double> until;
    for (Index i = 0; i < c.b * c.s; ++i) {
      const Index query = i % c.s + c.s_kv - c.s, length = std::max<Index>(c.together, 1);
      const Index shift = i / c.s * 5, place = (query + shift) % (2 * length);
      until.push_back(static_cast<double>(place < length ? query - place + length - 1 : query));
    }
    return until;
  }
  template <class Kernel>
  void add_options(Kernel& kernel) {
    kernel.softcap = c_.softcap;
    if (c_.masks > 0) {
      kernel.mask = mask_.view();
    }
    if (c_.bias) {
      kernel.bias = bias();
    }
    if (c_.together > 0) {
      kernel.seen_until = until_.view();
    }
  }
  /// [n, distances] of a tensor that has the heads last.
  device::TensorView bias() {
    const auto view = bias_.view();
    return {view.data, view.dtype, {c_.n, view.size(0)}, {1, c_.n}};
  }
  float scale() const { return 1.f / std::sqrt(static_cast<float>(c_.d)); }

  AttentionCase c_;
  QkvTensors inputs_;
  TestTensor d_o_, mask_, bias_, until_;
};

}  // namespace mpitron::kernels
