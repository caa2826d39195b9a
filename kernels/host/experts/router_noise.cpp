// Draws router jitter and random logits on the host, by the token's global place: neither threads
// nor layout change them.
#include "kernels/experts/router_noise.h"

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;

constexpr Index kWork = 16;  // a Philox call for a number

}  // namespace

void run(device::HostStream&, const Jitter& k) {
  visit_dtypes(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() {
    const Rows<const Tx> xs(k.x);
    const Rows<Ty> ys(k.y);
    for_blocks(k.x.size(0), k.x.numel() * kWork, [&](Index row) {
      for (Index i = 0; i < k.x.size(1); ++i) {
        const float factor = 1 - k.eps + 2 * k.eps * token_uniform(k.noise, row, i);
        ys[row][i] = Ty(static_cast<float>(xs[row][i]) * factor);
      }
    });
  });
}

void run(device::HostStream&, const RandomLogits& k) {
  const auto fill = [&]<class T>() {
    const Rows<T> logits(k.logits);
    for_blocks(k.logits.size(0), k.logits.numel() * kWork, [&](Index row) {
      for (Index i = 0; i < k.logits.size(1); ++i) {
        logits[row][i] = T(token_uniform(k.noise, row, i));
      }
    });
  };
  if (k.logits.dtype == DType::f64) {
    fill.template operator()<double>();
  } else {
    visit_dtype(k.logits.dtype, fill);
  }
}

}  // namespace mpitron::kernels
