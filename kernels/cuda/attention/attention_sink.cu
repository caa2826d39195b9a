// Numerical contract: that of attention_sink.h. The outputs are scaled first, then the logarithms,
// which all threads of a row read. A block sums the gradient of one head: its warps take rows in
// turn, a row's product is summed over the warp in fp32, the rows of a warp and the warps in order
// in double.
#include "kernels/attention/attention_sink.h"
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

struct Sinks {
  Numbers logits;    // absent: 0 for every head
  float* lse;        // [b, n, s]
  Index s, b, n, d;  // of o [s, b, n, d]
  Index first_head;  // of logits, for head 0 of o

  /// Where [b, n, s] holds row r of [s, b, n].
  __device__ Index place(Index row) const { return row % (b * n) * s + row / (b * n); }
  __device__ float logit(Index head) const {
    return logits.data == nullptr ? 0.F : logits.load(head, Width<1>())[0];
  }
  /// The logarithm of a row's sum with the sink.
  __device__ float joined(Index row) const {
    const float mine = lse[place(row)], sink = logit(first_head + row % n);
    const float largest = fmaxf(mine, sink);
    return largest + logf(expf(mine - largest) + expf(sink - largest));
  }
};

template <class T>
__global__ void scale_outputs(const __grid_constant__ Sinks a, T* o, bool packed) {
  for_rows(a.s * a.b * a.n, a.d, packed, [&](Index row, Index i, auto width) {
    const float keep = expf(a.lse[a.place(row)] - a.joined(row));
    T* const to = o + row * a.d + i;
    store(to, each([&](float v) { return v * keep; }, load(to, width)));
  });
}

__global__ void join_logarithms(const __grid_constant__ Sinks a) {
  for_packs(a.s * a.b * a.n, false, thread_of_grid(),
            [&](Index row, auto) { a.lse[a.place(row)] = a.joined(row); });
}

/// The gradient of the logit of head blockIdx.x of the layer.
template <class T>
__global__ void sink_gradient(const __grid_constant__ Sinks a, const T* o, const T* d_o,
                              Numbers gradient, bool accumulate) {
  __shared__ double partial[kMostWarps];
  const Index head = blockIdx.x, own = head - a.first_head;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  double sum = 0;
  if (own >= 0 && own < a.n) {
    const float sink = a.logit(head);
    for (Index at = threadIdx.x / kWarp; at < a.b * a.s; at += blockDim.x / kWarp) {
      const Index sample = at / a.s, position = at % a.s;
      const Index row = ((position * a.b + sample) * a.n + own) * a.d;
      float product = 0;
      for (Index c = row + lane; c < row + a.d; c += kWarp) {
        product += load(o + c, Width<1>())[0] * load(d_o + c, Width<1>())[0];
      }
      product = warp_reduce(product, Sum{});
      sum -= expf(sink - a.lse[(sample * a.n + own) * a.s + position]) * product;
    }
  }
  sum = block_sum(lane == 0 ? sum : 0.0, partial);
  if (threadIdx.x == 0) {
    const float before = accumulate ? gradient.load(head, Width<1>())[0] : 0.F;
    gradient.store(head, Floats<1>{static_cast<float>(before + sum)});
  }
}

template <class Kernel>
Sinks sinks_of(const Kernel& k) {
  MPITRON_CHECK(k.o.contiguous() && k.lse.contiguous() && k.lse.dtype == DType::f32,
                to_string(k.o.shape), to_string(k.lse.shape));
  MPITRON_CHECK((k.lse.shape == Shape{k.o.size(1), k.o.size(2), k.o.size(0)}),
                to_string(k.lse.shape));
  return {k.sink,      static_cast<float*>(const_cast<void*>(static_cast<const void*>(k.lse.data))),
          k.o.size(0), k.o.size(1),
          k.o.size(2), k.o.size(3),
          k.first_head};
}

}  // namespace

void run(device::CudaStream& stream, const AttentionSinkForward& k) {
  const Sinks a = sinks_of(k);
  const Index rows = a.s * a.b * a.n;
  visit_element(k.o.dtype, [&]<class T>() {
    T* const o = elements<T>(k.o);
    launch(stream, k.name, row_shape(rows, a.d), scale_outputs<T>, a, o,
           a.d % kPack == 0 && all_packed(o));
  });
  launch(stream, k.name, flat_shape(rows), join_logarithms, a);
}

void run(device::CudaStream& stream, const AttentionSinkBackward& k) {
  MPITRON_CHECK(k.d_o.contiguous() && k.d_o.dtype == k.o.dtype, to_string(k.d_o.shape));
  const LaunchShape shape{static_cast<unsigned>(k.dsink.size(0)), kThreads};
  visit_element(k.o.dtype, [&]<class T>() {
    launch(stream, k.name, shape, sink_gradient<T>, sinks_of(k), elements<T>(k.o),
           elements<T>(k.d_o), Numbers(k.dsink), k.accumulate);
  });
}

}  // namespace mpitron::kernels
