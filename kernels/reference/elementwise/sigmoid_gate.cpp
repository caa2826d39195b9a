#include "kernels/elementwise/sigmoid_gate.h"

#include <cmath>

#include "kernels/reference/common/activation_math.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {
namespace {

using reference::sigmoid;

using reference::Reader;
using reference::Writer;

}  // namespace

/// y = x sigmoid(gate).
void run(device::ReferenceStream&, const SigmoidGateForward& k) {
  const Reader x(k.x), gate(k.gate);
  const Writer y(k.y);
  for (Index row = 0; row < reference::rows_of(k.x); ++row) {
    for (Index i = 0; i < k.x.size(-1); ++i) {
      y.set(x(row, i) * sigmoid(gate(row, i)), row, i);
    }
  }
}

/// Writes both gradients from the same sigmoid.
void run(device::ReferenceStream&, const SigmoidGateBackward& k) {
  const Reader x(k.x), gate(k.gate), dy(k.dy);
  const Writer dx(k.dx), dgate(k.dgate);
  for (Index row = 0; row < reference::rows_of(k.x); ++row) {
    for (Index i = 0; i < k.x.size(-1); ++i) {
      const double z = gate(row, i), upstream = dy(row, i);
      dgate.set(upstream * x(row, i) * sigmoid(z) * sigmoid(-z), row, i);
      dx.set(upstream * sigmoid(z), row, i);
    }
  }
}

}  // namespace mpitron::kernels
