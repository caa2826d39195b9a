#include "kernels/experts/router_noise.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// x (1 - eps + 2 eps u), with u of the token's global place, so that layouts agree.
void run(device::ReferenceStream&, const Jitter& kernel) {
  const Reader x(kernel.x);
  const Writer y(kernel.y);
  const double eps = kernel.eps;
  for (Index row = 0; row < kernel.x.size(0); ++row) {
    for (Index column = 0; column < kernel.x.size(1); ++column) {
      const double uniform = token_uniform(kernel.noise, row, column);
      y.set(x(row, column) * (1 - eps + 2 * eps * uniform), row, column);
    }
  }
}

/// Draws uniform logits, which balance any router.
void run(device::ReferenceStream&, const RandomLogits& kernel) {
  const Writer logits(kernel.logits);
  for (Index row = 0; row < kernel.logits.size(0); ++row) {
    for (Index column = 0; column < kernel.logits.size(1); ++column) {
      logits.set(token_uniform(kernel.noise, row, column), row, column);
    }
  }
}

}  // namespace mpitron::kernels
