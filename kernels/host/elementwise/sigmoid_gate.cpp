// Multiplies by a sigmoid gate on the host (the output gate of attention), element by element in
// fp32.
#include "kernels/elementwise/sigmoid_gate.h"

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

constexpr Index kWork = 4;  // of an exponential, in elements copied

}  // namespace

void run(device::HostStream&, const SigmoidGateForward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> xs(k.x), gates(k.gate);
    const Rows<T> ys(k.y);
    for_tiles(row_count(k.x), k.x.size(-1), kWork, should_stream(k.y, ys, k.x, k.gate),
              [&](auto store, Index row, Index begin, Index end) {
                const T *x = xs[row] + begin, *gate = gates[row] + begin;
                T* y = ys[row] + begin;
                simd::for_lanes(end - begin, [&](Index i, auto lanes) {
                  const Float open = simd::sigmoid(simd::load(gate + i, lanes)).value;
                  store(y + i, simd::load(x + i, lanes) * open, lanes);
                });
              });
  });
}

void run(device::HostStream&, const SigmoidGateBackward& k) {
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> xs(k.x), gates(k.gate), dys(k.dy);
    const Rows<T> dxs(k.dx), dgates(k.dgate);
    for_tiles(row_count(k.x), k.x.size(-1), kWork, false,
              [&](auto store, Index row, Index begin, Index end) {
                const T *x = xs[row] + begin, *gate = gates[row] + begin, *dy = dys[row] + begin;
                T *dx = dxs[row] + begin, *dgate = dgates[row] + begin;
                // dx may be dy: each element is read before it is written.
                simd::for_lanes(end - begin, [&](Index i, auto lanes) {
                  const simd::Sigmoid open = simd::sigmoid(simd::load(gate + i, lanes));
                  const Float upstream = simd::load(dy + i, lanes) * open.value;
                  store(dgate + i, upstream * simd::load(x + i, lanes) * open.complement, lanes);
                  store(dx + i, upstream, lanes);
                });
              });
  });
}

}  // namespace mpitron::kernels
