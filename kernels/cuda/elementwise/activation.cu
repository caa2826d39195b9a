// Numerical contract: that of kernels/elementwise/activation.h.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/cuda/elementwise/activation_math.cuh"
#include "kernels/elementwise/activation.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Rows of the arguments; with a gate, x holds it and, f columns further on, what is gated.
template <class T>
struct ActivationRows {
  Rows<const T> x, dy;
  const T* bias;  // null: none
  Rows<T> out;    // y or dx
  Index rows, f;
  bool packed;
  GateLimits limits = {};
};

/// Bounds a gated activation's two inputs first (GateLimits); comparisons let NaN stay NaN.
__device__ float gate_within(const GateLimits& limits, float gate) {
  return gate > limits.clamp ? limits.clamp : gate;
}
__device__ float linear_within(const GateLimits& limits, float up) {
  const float cut = up > limits.clamp ? limits.clamp : up < -limits.clamp ? -limits.clamp : up;
  return cut + limits.offset;
}

/// Returns x + bias at column i, in fp32. x is there already: a branch on the bias between loads
/// would let the later ones wait for the earlier.
template <class T, int N>
__device__ Floats<N> biased(const Raw<T, N>& x, const T* bias, Index i) {
  const Floats<N> value = floats(x);
  if (bias == nullptr) {
    return value;
  }
  return each([](float v, float b) { return v + b; }, value, load(bias + i, Width<N>()));
}

/// y = activation(x + bias), a pack at a time where addresses allow it.
template <class T, Activation kActivation>
__global__ void bias_activation_forward(const __grid_constant__ ActivationRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    const auto x = biased(load_raw(a.x[row] + i, width), a.bias, i);
    store(a.out[row] + i, each([](float v) { return activate(kActivation, v); }, x));
  });
}

/// dx = dy activation'(x + bias); x is read again, so the forward pass keeps nothing but its input.
template <class T, Activation kActivation>
__global__ void bias_activation_backward(const __grid_constant__ ActivationRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    const auto x = load_raw(a.x[row] + i, width);
    const auto dy = load_raw(a.dy[row] + i, width);
    store(a.out[row] + i,
          each([](float v, float d) { return d * activation_slope(kActivation, v); },
               biased(x, a.bias, i), floats(dy)));
  });
}

/// y = activation(gate) linear; the two halves of a row lie f columns apart and are read as two
/// packs.
template <class T, Activation kActivation>
__global__ void gated_activation_forward(const __grid_constant__ ActivationRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    const auto gate = load_raw(a.x[row] + i, width), up = load_raw(a.x[row] + a.f + i, width);
    store(a.out[row] + i, each(
                              [&](float g, float u) {
                                return activate(kActivation, gate_within(a.limits, g)) *
                                       linear_within(a.limits, u);
                              },
                              biased(gate, a.bias, i), biased(up, a.bias, a.f + i)));
  });
}

/// Reads gate and up at once and writes both gradients: x is read once for two outputs.
template <class T, Activation kActivation>
__global__ void gated_activation_backward(const __grid_constant__ ActivationRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    const auto raw_gate = load_raw(a.x[row] + i, width);
    const auto raw_up = load_raw(a.x[row] + a.f + i, width);
    const Floats<width> dy = floats(load_raw(a.dy[row] + i, width));
    const Floats<width> gate = biased(raw_gate, a.bias, i), up = biased(raw_up, a.bias, a.f + i);
    Floats<width> dgate, dup;
    for (int j = 0; j < width; ++j) {
      const float g = gate_within(a.limits, gate[j]);  // for both, which share their exponential
      const float slope = activation_slope(kActivation, g), active = activate(kActivation, g);
      dgate[j] = gate[j] > a.limits.clamp ? 0.f : dy[j] * linear_within(a.limits, up[j]) * slope;
      dup[j] = std::abs(up[j]) > a.limits.clamp ? 0.f : dy[j] * active;
    }
    T* const dx = a.out[row] + i;
    store(dx, dgate);
    store(dx + a.f, dup);
  });
}

/// Calls f<activation>(): each has a kernel of its own, because the registers of the largest one
/// would leave too few threads to hide what memory takes.
template <class F>
void visit_activation(Activation activation, F&& f) {
  switch (activation) {
    case Activation::none:
      return f.template operator()<Activation::none>();
    case Activation::gelu_tanh:
      return f.template operator()<Activation::gelu_tanh>();
    case Activation::gelu_erf:
      return f.template operator()<Activation::gelu_erf>();
    case Activation::silu:
      return f.template operator()<Activation::silu>();
    case Activation::squared_relu:
      return f.template operator()<Activation::squared_relu>();
    case Activation::tanh:
      return f.template operator()<Activation::tanh>();
    case Activation::quick_gelu:
      return f.template operator()<Activation::quick_gelu>();
    case Activation::sigmoid:
      return f.template operator()<Activation::sigmoid>();
  }
}

/// Launches the kernel of an activation. `columns` are those of the narrower of x and out.
template <class T, class K, class KernelOf>
void run_rows(device::CudaStream& stream, const K& k, const device::ConstTensorView& dy,
              const device::TensorView& out, Index columns, KernelOf&& kernel_of) {
  ActivationRows<T> a{
      rows_of<T>(k.x), rows_of<T>(dy), elements<T>(k.bias), rows_of<T>(out), row_count(k.x),
      columns,         false};
  LaunchShape shape = row_shape(a.rows, a.f);
  if constexpr (requires { k.limits; }) {
    a.limits = k.limits;
    // A pack to a thread: blocks come as others go. Where one factor is read, walks are faster.
    shape.grid.y = std::min(blocks_for(a.f, Index{shape.block.x} * kPack), 65535u);
  }
  a.packed = columns % kPack == 0 && all_packed(a.x, a.dy, a.bias, a.out);
  visit_activation(k.activation, [&]<Activation kActivation>() {
    launch(stream, K::name, shape, kernel_of.template operator()<kActivation>(), a);
  });
}

}  // namespace

void run(device::CudaStream& stream, const BiasActivationForward& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    run_rows<T>(stream, k, {}, k.y, k.y.size(-1),
                [&]<Activation kActivation>() { return bias_activation_forward<T, kActivation>; });
  });
}

void run(device::CudaStream& stream, const BiasActivationBackward& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    run_rows<T>(stream, k, k.dy, k.dx, k.dy.size(-1),
                [&]<Activation kActivation>() { return bias_activation_backward<T, kActivation>; });
  });
}

void run(device::CudaStream& stream, const GatedActivationForward& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    run_rows<T>(stream, k, {}, k.y, k.y.size(-1),
                [&]<Activation kActivation>() { return gated_activation_forward<T, kActivation>; });
  });
}

void run(device::CudaStream& stream, const GatedActivationBackward& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    run_rows<T>(stream, k, k.dy, k.dx, k.dy.size(-1), [&]<Activation kActivation>() {
      return gated_activation_backward<T, kActivation>;
    });
  });
}

}  // namespace mpitron::kernels
