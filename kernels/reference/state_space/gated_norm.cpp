#include "kernels/state_space/gated_norm.h"

#include "kernels/reference/common/activation_math.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::sigmoid;
using reference::Writer;

namespace {

/// `value` as it is read back from memory of that type.
double rounded(double value, DType dtype) {
  alignas(8) std::byte memory[8];
  reference::store_element(memory, dtype, 0, value);
  return reference::load_element(memory, dtype, 0);
}

/// What is normed, and how a gradient of it and the gate's is made.
struct Normed {
  Reader x, z;
  DType dtype;
  bool gate_first;

  double operator()(Index row, Index i) const {
    const double gate = z(row, i);
    return gate_first ? rounded(x(row, i) * gate * sigmoid(gate), dtype) : x(row, i);
  }
};

}  // namespace

/// Groups of a row are normed apart; the gate comes before or behind the norm.
void run(device::ReferenceStream&, const GatedNormForward& k) {
  const Reader z(k.z), weight(k.weight);
  const Normed normed{Reader(k.x), z, k.x.dtype, k.gate_first};
  const Writer y(k.y), rstd(k.rstd);
  const Index width = k.x.size(-1) / k.groups;
  for (Index row = 0; row < reference::rows_of(k.x); ++row) {
    for (Index group = 0; group < k.groups; ++group) {
      double square = 0;
      for (Index i = group * width; i < (group + 1) * width; ++i) {
        square += normed(row, i) * normed(row, i);
      }
      const double scale = 1 / std::sqrt(square / static_cast<double>(width) + k.eps);
      rstd.set(scale, row, group);
      for (Index i = group * width; i < (group + 1) * width; ++i) {
        const double gate = k.gate_first ? 1 : z(row, i) * sigmoid(z(row, i));
        y.set(normed(row, i) * scale * weight(i) * gate, row, i);
      }
    }
  }
}

/// The gate's gradient uses the normed value that forward saw.
void run(device::ReferenceStream&, const GatedNormBackward& k) {
  const Reader x(k.x), z(k.z), dy(k.dy), weight(k.weight), rstd(k.rstd);
  const Normed normed{x, z, k.x.dtype, k.gate_first};
  const Writer dx(k.dx), dz(k.dz), dweight(k.dweight);
  const Index f = k.x.size(-1), width = f / k.groups;
  std::vector<double> to_weight(static_cast<std::size_t>(f), 0);
  for (Index row = 0; row < reference::rows_of(k.x); ++row) {
    for (Index group = 0; group < k.groups; ++group) {
      const double scale = rstd(row, group);
      double mean = 0;
      for (Index i = group * width; i < (group + 1) * width; ++i) {
        const double open = k.gate_first ? 1 : z(row, i) * sigmoid(z(row, i));
        const double normal = normed(row, i) * scale, upstream = dy(row, i) * open;
        to_weight[static_cast<std::size_t>(i)] += upstream * normal;
        mean += upstream * weight(i) * normal / static_cast<double>(width);
      }
      for (Index i = group * width; i < (group + 1) * width; ++i) {
        const double gate = z(row, i), open = sigmoid(gate), silu = gate * open;
        const double slope = open * (1 + gate * (1 - open)), normal = normed(row, i) * scale;
        const double upstream = dy(row, i) * (k.gate_first ? 1 : silu);
        const double inner = scale * (upstream * weight(i) - normal * mean);
        const double to_gate = k.gate_first ? inner * x(row, i) : dy(row, i) * normal * weight(i);
        dx.set(k.gate_first ? inner * silu : inner, row, i);
        dz.set(to_gate * slope, row, i);
      }
    }
  }
  for (Index i = 0; i < f; ++i) {
    dweight.set((k.accumulate ? dweight(i) : 0) + to_weight[static_cast<std::size_t>(i)], i);
  }
}

}  // namespace mpitron::kernels
