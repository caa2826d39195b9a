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

/// Returns x + bias at column i, in fp32.
template <class T, int N>
__device__ Floats<N> biased(const T* x, const T* bias, Index i, Width<N> width) {
  const Floats<N> value = load(x + i, width);
  if (bias == nullptr) {
    return value;
  }
  return each([](float v, float b) { return v + b; }, value, load(bias + i, width));
}

/// y = activation(x + bias), a pack at a time where addresses allow it.
template <class T, Activation kActivation>
__global__ void bias_activation_forward(const __grid_constant__ ActivationRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    store(a.out[row] + i, each([](float x) { return activate(kActivation, x); },
                               biased(a.x[row], a.bias, i, width)));
  });
}

/// dx = dy activation'(x + bias); x is read again, so the forward pass keeps nothing but its input.
template <class T, Activation kActivation>
__global__ void bias_activation_backward(const __grid_constant__ ActivationRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    store(a.out[row] + i,
          each([](float x, float dy) { return dy * activation_slope(kActivation, x); },
               biased(a.x[row], a.bias, i, width), load(a.dy[row] + i, width)));
  });
}

/// y = activation(gate) linear; the two halves of a row lie f columns apart and are read as two
/// packs.
template <class T, Activation kActivation>
__global__ void gated_activation_forward(const __grid_constant__ ActivationRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    store(a.out[row] + i,
          each(
              [&](float gate, float up) {
                return activate(kActivation, gate_within(a.limits, gate)) *
                       linear_within(a.limits, up);
              },
              biased(a.x[row], a.bias, i, width), biased(a.x[row], a.bias, a.f + i, width)));
  });
}

/// Reads gate and up at once and writes both gradients: x is read once for two outputs.
template <class T, Activation kActivation>
__global__ void gated_activation_backward(const __grid_constant__ ActivationRows<T> a) {
  for_rows(a.rows, a.f, a.packed, [&](Index row, Index i, auto width) {
    const auto gate = biased(a.x[row], a.bias, i, width);
    const auto up = biased(a.x[row], a.bias, a.f + i, width);
    const auto dy = load(a.dy[row] + i, width);
    T* const dx = a.out[row] + i;
    store(dx, each(
                  [&](float g, float u, float d) {
                    return g > a.limits.clamp
                               ? 0.f
                               : d * linear_within(a.limits, u) * activation_slope(kActivation, g);
                  },
                  gate, up, dy));
    store(dx + a.f, each(
                        [&](float g, float u, float d) {
                          return std::abs(u) > a.limits.clamp
                                     ? 0.f
                                     : d * activate(kActivation, gate_within(a.limits, g));
                        },
                        gate, up, dy));
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
  if constexpr (requires { k.limits; }) {
    a.limits = k.limits;
  }
  a.packed = columns % kPack == 0 && all_packed(a.x, a.dy, a.bias, a.out);
  visit_activation(k.activation, [&]<Activation kActivation>() {
    launch(stream, K::name, row_shape(a.rows, a.f), kernel_of.template operator()<kActivation>(),
           a);
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
