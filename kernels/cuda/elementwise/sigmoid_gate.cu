// Numerical contract: that of kernels/elementwise/sigmoid_gate.h. Rows of any strides, a pack to a
// thread where addresses allow it; everything is read before anything is written, since the
// gradient of x may lie where that of y does.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/cuda/elementwise/activation_math.cuh"
#include "kernels/elementwise/sigmoid_gate.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Rows of the arguments; backward has two outputs.
template <class T>
struct GateRows {
  Rows<const T> x, gate, dy;
  Rows<T> out, dgate;
  Index rows, f;
  bool packed;
};

template <class T>
__global__ void sigmoid_gate_forward(const __grid_constant__ GateRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    const auto x = load_raw(a.x[row] + i, width), gate = load_raw(a.gate[row] + i, width);
    store(a.out[row] + i,
          each([](float v, float g) { return v * sigmoid(g); }, floats(x), floats(gate)));
  });
}

/// 1 - sigmoid(g) as sigmoid(-g), which keeps the digits of open gates.
template <class T>
__global__ void sigmoid_gate_backward(const __grid_constant__ GateRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    const auto x = load_raw(a.x[row] + i, width), gate = load_raw(a.gate[row] + i, width);
    const auto dx = each([](float d, float g) { return d * sigmoid(g); },
                         floats(load_raw(a.dy[row] + i, width)), floats(gate));
    store(a.out[row] + i, dx);
    store(a.dgate[row] + i, each([](float d, float v, float g) { return d * v * sigmoid(-g); }, dx,
                                 floats(x), floats(gate)));
  });
}

template <class T>
void launch_rows(device::CudaStream& stream, const char* name, GateRows<T> a,
                 void (*kernel)(GateRows<T>)) {
  a.packed = a.f % kPack == 0 && all_packed(a.x, a.gate, a.dy, a.out, a.dgate);
  launch(stream, name, row_shape(a.rows, a.f), kernel, a);
}

}  // namespace

void run(device::CudaStream& stream, const SigmoidGateForward& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    launch_rows<T>(stream, k.name,
                   {rows_of<T>(k.x), rows_of<T>(k.gate), rows_of<T>(In{}), rows_of<T>(k.y),
                    rows_of<T>(Out{}), row_count(k.x), k.x.size(-1), false},
                   sigmoid_gate_forward<T>);
  });
}

void run(device::CudaStream& stream, const SigmoidGateBackward& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    launch_rows<T>(stream, k.name,
                   {rows_of<T>(k.x), rows_of<T>(k.gate), rows_of<T>(k.dy), rows_of<T>(k.dx),
                    rows_of<T>(k.dgate), row_count(k.x), k.x.size(-1), false},
                   sigmoid_gate_backward<T>);
  });
}

}  // namespace mpitron::kernels
